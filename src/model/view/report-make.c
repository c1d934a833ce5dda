/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "charts.h"
#include "metrics.h"
#include "report.h"
#include "schema.h"
#include "task.h"
#include "view-private.h"
#include "view.h"

#define FAILURE_LATE_MS 60000

struct making {
	const struct report_inputs *in;
	struct json_object *report, *worked;
	struct json_object *landed, *not_landed, *open;
	int64_t outcomes[OUTCOME_COUNT];
};

static bool
in_period(const struct making *m, int64_t at_ms)
{
	return at_ms >= m->in->from_ms && at_ms <= m->in->to_ms;
}

static struct json_object *
head_of(const struct making *m)
{
	return view_of(m->in->view, "head");
}

/* --- tasks ----------------------------------------------------------- */

static struct json_object *
task_row(const struct making *m, const char *id, struct json_object *from)
{
	static const char *const members[] = { "id", "title", "outcome", "step",
		"commit", "worker", "run_id", "attempts", "turns",
		"finished_unix", "wall_ms", "cost_micros", "cost_source",
		"lines_added", "lines_removed", "weakens", "overtaken",
		"reason", "last_words", NULL };
	struct json_object *row = json_object_new_object();

	view_pick(row, from, members);
	json_set_int(row, "worked_ms", json_int_or(m->worked, id, 0));
	return row;
}

/* In progress, again perhaps, or about to be filed. */
static bool
is_open(const struct making *m, const char *id)
{
	struct json_object *row = view_row(m->in->view, "tasks", id);

	return row != NULL &&
	    (json_string_or(row, "outcome", NULL) == NULL ||
		!json_object_object_get_ex(m->in->ended, id, NULL));
}

/* Begun in the period, or still in work. An attempt that was taken back (a
 * parked task has none) has cost something, too. */
static void
add_open(struct making *m)
{
	JSON_MEMBERS (it, view_of(m->in->view, "tasks")) {
		int64_t begun = json_int_or(it.val, "assigned_unix", 0) * 1000;

		if ((json_int_or(it.val, "attempts", 0) <= 0 &&
			json_int_or(it.val, "turns", 0) <= 0 &&
			json_int_or(it.val, "cost_micros", 0) <= 0) ||
		    !is_open(m, it.key) || begun > m->in->to_ms ||
		    (begun < m->in->from_ms - 999 &&
			(!m->in->goes_on ||
			    strcmp(json_string_or(it.val, "step", ""),
				"parked") == 0)))
			continue;
		json_object_array_add(m->open, task_row(m, it.key, it.val));
	}
}

static int
by_end(const void *a, const void *b)
{
	struct json_object *x = *(struct json_object *const *)a;
	struct json_object *y = *(struct json_object *const *)b;
	int64_t at = json_int_or(x, "finished_ms", 0);
	int64_t other = json_int_or(y, "finished_ms", 0);

	return (at > other) - (at < other);
}

#define COUNT(key, outcome) SCHEMA_FIELD(struct making, key, outcomes[outcome])

static const struct schema_field count_fields[] = {
	COUNT("landed", OUTCOME_LANDED),
	COUNT("no_changes", OUTCOME_NO_CHANGES),
	COUNT("failed", OUTCOME_FAILED),
	COUNT("aborted", OUTCOME_ABORTED),
	COUNT("dead_letter", OUTCOME_DEAD_LETTER),
	SCHEMA_IS("open", INT, "begun and not ended"),
};

static const struct schema report_counts_schema =
    SCHEMA_OF(struct making, count_fields);

static void
set_tasks(struct making *m)
{
	struct json_object *counts;
	json_object_object_foreach(m->in->ended, id, from)

	{
		enum task_outcome outcome = OUTCOME_NONE;
		struct json_object *row;

		if (is_open(m, id) ||
		    !in_period(m, json_int_or(from, "finished_ms", -1)) ||
		    !task_outcome_parse(
			json_string_or(from, "outcome", ""), &outcome) ||
		    outcome == OUTCOME_NONE)
			continue;
		m->outcomes[outcome]++;
		row = task_row(m, id, from);
		json_set_int(
		    row, "finished_ms", json_int_or(from, "finished_ms", 0));
		json_object_array_add(
		    outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES ?
			m->landed :
			m->not_landed,
		    row);
	}
	add_open(m);
	json_object_array_sort(m->landed, by_end);
	json_object_array_sort(m->not_landed, by_end);
	counts = schema_json(&report_counts_schema, m);
	json_set_int(
	    counts, "open", (int64_t)json_object_array_length(m->open));
	json_set(m->report, "counts", counts);
	json_set(m->report, "landed", m->landed);
	json_set(m->report, "not_landed", m->not_landed);
	json_set(m->report, "open", m->open);
}

static void
set_landing(struct making *m)
{
	struct json_object *json = json_object_new_object();
	struct json_object *checks = json_object_new_object();
	struct json_object *from = json_object_object_get(head_of(m), "check");
	struct json_object *check = NULL;

	JSON_EACH (row, m->in->events) {
		const char *result = json_string_or(row, "result", NULL);

		if (result != NULL &&
		    in_period(m, json_int_or(row, "at_ms", -1)) &&
		    strcmp(json_string_or(row, "type", ""),
			REPORT_EVENT_CHECK) == 0)
			json_set_int(
			    checks, result, json_int_or(checks, result, 0) + 1);
	}
	json_set_int(json, "queue",
	    json_object_object_length(view_of(m->in->view, "landing")));
	json_set_bool(json, "red", json_bool_or(head_of(m), "red", false));
	json_set(json, "checks", checks);
	if (from != NULL) {
		check = json_object_new_object();
		view_pick(check, from,
		    (const char *const[]){ "command", "trees", "flaky_trees",
			"flaky_alarm", NULL });
	}
	json_set(json, "check", check);
	json_set(m->report, "landing", json);
}

/* Those of a list that were in the period, or until then (and of that type). */
static struct json_object *
chosen(const struct making *m, struct json_object *from, const char *type,
    int64_t until_ms)
{
	struct json_object *list = json_object_new_array();

	JSON_EACH (row, from) {
		int64_t at = json_int_or(row, "at_ms", -1);

		if ((in_period(m, at) ||
			(at > m->in->to_ms && at < until_ms)) &&
		    (type == NULL ||
			strcmp(json_string_or(row, "type", ""), type) == 0))
			json_object_array_add(list, json_object_get(row));
	}
	return list;
}

/* --- what is not exact ----------------------------------------------- */

static void
add_note(struct json_object *notes, const char *words)
{
	json_object_array_add(notes, json_object_new_string(words));
}

static void
set_notes(struct making *m)
{
	struct json_object *notes = json_object_new_array();
	struct json_object *money = json_object_object_get(m->report, "money");
	struct json_object *time = json_object_object_get(m->report, "time");

	if (json_int_or(money, "estimated_micros", 0) > 0)
		add_note(notes,
		    "Costs marked est. are tokens times the prices of the "
		    "settings; Claude Code reports its own figure when a "
		    "session ends.");
	if (json_int_or(money, "unknown", 0) > 0)
		add_note(notes,
		    "A cost of ? is not known and not in the sums: a model "
		    "without a price, an agent that recorded no tokens, or "
		    "another host of a fleet: its own report has it.");
	if (json_object_array_length(m->landed) +
		json_object_array_length(m->not_landed) >
	    0)
		add_note(notes,
		    "A task counts with all that it cost, in the report of the "
		    "period in which it ended.");
	if (json_int_or(
		json_object_object_get(time, "rows"), "daemon_down", 0) > 0)
		add_note(notes,
		    "After a crash, the time since the daemon last wrote a "
		    "sign of life counts as down.");
	json_set(m->report, "notes", notes);
}

/* What ended the daemon, if that was in the period; it is written a moment
 * after the run has ended. */
static const char *
failure_of(const struct making *m)
{
	struct json_object *failure =
	    json_object_object_get(head_of(m), "failure");
	int64_t at = json_int_or(failure, "at_unix", 0) * 1000;

	if (at > 0 &&
	    (at < m->in->from_ms - 999 ||
		(!m->in->goes_on && at > m->in->to_ms + FAILURE_LATE_MS)))
		return NULL;
	return json_string_or(failure, "words", NULL);
}

/* The last ones of each list stay. */
static void
cut_lists(struct json_object *report)
{
	static const char *const lists[] = { "landed", "not_landed", "open",
		"repairs", "oversight" };
	struct json_object *left_off = json_object_new_object();

	for (size_t i = 0; i < nitems(lists); i++) {
		struct json_object *list =
		    json_object_object_get(report, lists[i]);
		size_t count = json_object_array_length(list);
		size_t excess =
		    count > REPORT_ROWS_MAX ? count - REPORT_ROWS_MAX : 0;

		if (excess > 0)
			json_object_array_del_idx(list, 0, excess);
		json_set_int(left_off, lists[i], (int64_t)excess);
	}
	json_set(report, "left_off", left_off);
}

#define PERIOD(key, member, words) \
	SCHEMA_FIELD(struct report_inputs, key, member, .help = (words))

static const struct schema_field period_fields[] = {
	PERIOD("run", run, "null: of no run (--since)"),
	PERIOD("first_run", first_run,
	    "the first of the runs that it went on from"),
	PERIOD("from_ms", from_ms, NULL),
	PERIOD("to_ms", to_ms, NULL),
	PERIOD("goes_on", goes_on, "the period ends now, and is not over"),
};

static const struct schema report_period_schema =
    SCHEMA_OF(struct report_inputs, period_fields);

static void
set_head(struct making *m)
{
	const struct report_inputs *in = m->in;
	struct json_object *period = schema_json(&report_period_schema, in);

	view_pick(m->report, head_of(m),
	    (const char *const[]){ "project", "root", "branch", NULL });
	view_row_moment(m->report, "made_unix", in->now_ms);
	if (in->first_run == NULL)
		json_set_string(period, "first_run", in->run);
	json_set(m->report, "period", period);
}

struct json_object *
report_make(const struct report_inputs *in)
{
	struct making m = {
		.in = in,
		.report = json_object_new_object(),
		.landed = json_object_new_array(),
		.not_landed = json_object_new_array(),
		.open = json_object_new_array(),
	};
	struct report_parts parts = { 0 };
	struct report_time_in time_in = {
		.spans = in->spans,
		.count = in->span_count,
		.from_ms = in->from_ms,
		.to_ms = in->to_ms,
		.ended = in->ended,
		.open = view_of(in->view, "tasks"),
		.workers = view_of(in->view, "workers"),
		.parts = in->charts ? &parts : NULL,
	};
	struct json_object *time = report_time(&time_in, &m.worked);
	struct json_object *list;
	struct json_object *counts;
	size_t count;
	int64_t acted = 0;

	set_head(&m);
	json_set(m.report, "verdict", NULL); /* stands on top, known last */
	json_set(m.report, "needs", view_needs_list(in->view));
	/* Of a fleet; what is below was done by this host. */
	if (view_of(in->view, VIEW_HOSTS) != NULL &&
	    json_object_object_length(view_of(in->view, VIEW_HOSTS)) > 0)
		json_set(m.report, "hosts", view_hosts_list(in->view));
	set_tasks(&m);
	json_set(m.report, "money",
	    report_money(m.landed, m.not_landed, m.open,
		view_of(in->view, "budget"), in->from_ms, in->to_ms));
	json_set(m.report, "time", time);
	set_landing(&m);
	/* What killed the daemon is noticed after its last sign of life. */
	json_set(
	    m.report, "repairs", chosen(&m, in->repairs, NULL, in->until_ms));
	/* What oversight found, and where it did something about it. */
	list = chosen(&m, m.in->events, REPORT_EVENT_OVERSIGHT, 0);
	counts = json_object_new_object();
	count = json_object_array_length(list);
	JSON_EACH (row, list) {
		const char *action = json_string_or(row, "action", NULL);

		acted += action != NULL && strcmp(action, "log") != 0;
	}
	json_set(m.report, "oversight", list);
	json_set_int(counts, "detections", (int64_t)count);
	json_set_int(counts, "interventions", acted);
	json_set(m.report, "oversight_counts", counts);
	set_notes(&m);
	report_verdict(m.report, failure_of(&m));
	if (in->charts)
		json_set(m.report, "charts", charts_make(in, m.report, &parts));
	free(parts.list);
	cut_lists(m.report);
	json_object_put(m.worked);
	return m.report;
}

/* --- what it looks like ---------------------------------------------- */

static const struct schema task = SCHEMA_SHAPE(SCHEMA_IS("id", STRING, NULL),
    SCHEMA_OR_NULL("title", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "null: it has not ended"),
    SCHEMA_OR_NULL("step", STRING, NULL),
    SCHEMA_OR_NULL("commit", STRING, "that it landed as"),
    SCHEMA_OR_NULL("worker", STRING, "that had it last"),
    SCHEMA_OR_NULL("run_id", STRING, NULL), SCHEMA_IS("attempts", INT, NULL),
    SCHEMA_IS("turns", INT, NULL), SCHEMA_OR_NULL("finished_unix", INT, NULL),
    SCHEMA_OR_NULL("wall_ms", INT, "from its creation to its end"),
    SCHEMA_OR_NULL(
	"cost_micros", INT, "millionths of a dollar; null: not known"),
    SCHEMA_OR_NULL("cost_source", STRING, "unknown, estimate or reported"),
    SCHEMA_OR_NULL("lines_added", INT, "null: not known"),
    SCHEMA_OR_NULL("lines_removed", INT, NULL),
    SCHEMA_OR_NULL("weakens", STRING, "what it does to tests"),
    SCHEMA_OR_NULL("overtaken", BOOL, "it landed on a result that was"),
    SCHEMA_OR_NULL("reason", STRING, "why it failed"),
    SCHEMA_OR_NULL("last_words", STRING, "of its agent"),
    SCHEMA_IS("worked_ms", INT, "what was worked on it in this period"),
    SCHEMA_MAY("finished_ms", INT, NULL));

static const struct schema uses = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT,
	    .help = "milliseconds" },
};

static const struct schema worker =
    SCHEMA_SHAPE(SCHEMA_IS("worker", STRING, NULL),
	SCHEMA_IS("worker_ms", INT, "the sum of its rows"),
	SCHEMA_IS("rows", MAP, NULL, .of = &uses));

static const struct schema time_shape =
    SCHEMA_SHAPE(SCHEMA_IS("workers", INT, "that existed"),
	SCHEMA_IS("worker_ms", INT, "their time: the sum of the rows"),
	SCHEMA_IS("wall_ms", INT, "of the period"),
	SCHEMA_IS("rows", MAP, "what that time was used for", .of = &uses),
	SCHEMA_IS("titles", MAP, "what these are called",
	    .of = SCHEMA_VALUES(STRING)),
	SCHEMA_IS("by_worker", ROWS, NULL, .of = &worker));

static const struct schema check = SCHEMA_SHAPE(
    SCHEMA_IS("command", STRING, NULL),
    SCHEMA_IS("trees", INT, "that it has judged"),
    SCHEMA_IS("flaky_trees", INT, "of them, those that both failed and passed"),
    SCHEMA_IS("flaky_alarm", BOOL, "that is too many"));

static const struct schema landing =
    SCHEMA_SHAPE(SCHEMA_IS("queue", INT, "what waits to land now"),
	SCHEMA_IS("red", BOOL, "the branch itself fails its check"),
	SCHEMA_IS("checks", MAP, "checks of the period by their result",
	    .of = SCHEMA_VALUES(INT)),
	SCHEMA_OR_NULL(
	    "check", OBJECT, "null: no check command is set", .of = &check));

static const struct schema repair = SCHEMA_SHAPE(SCHEMA_IS("at_ms", INT, NULL),
    SCHEMA_IS("kind", STRING, NULL), SCHEMA_OR_NULL("class", STRING, NULL),
    SCHEMA_OR_NULL("words", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "of a repair"),
    SCHEMA_IS("took_ms", INT, NULL),
    SCHEMA_OR_NULL("cost_micros", INT, "of a repair"));

static const struct schema intervention =
    SCHEMA_SHAPE(SCHEMA_IS("at_ms", INT, NULL), SCHEMA_IS("type", STRING, NULL),
	SCHEMA_OR_NULL("worker", STRING, NULL),
	SCHEMA_OR_NULL("task", STRING, NULL),
	SCHEMA_OR_NULL("result", STRING, NULL),
	SCHEMA_OR_NULL("class", STRING, "what was found"),
	SCHEMA_OR_NULL("action", STRING, "what was done; log: nothing"),
	SCHEMA_OR_NULL("words", STRING, NULL));

static const struct schema oversight_counts =
    SCHEMA_SHAPE(SCHEMA_IS("detections", INT, NULL),
	SCHEMA_IS("interventions", INT, "those with an action"));

static const struct schema left_off =
    SCHEMA_SHAPE(SCHEMA_IS("landed", INT, NULL),
	SCHEMA_IS("not_landed", INT, NULL), SCHEMA_IS("open", INT, NULL),
	SCHEMA_IS("repairs", INT, NULL), SCHEMA_IS("oversight", INT, NULL));

static const struct schema shape_report = SCHEMA_SHAPE(
    SCHEMA_OR_NULL("project", STRING, NULL),
    SCHEMA_OR_NULL("root", STRING, NULL),
    SCHEMA_OR_NULL("branch", STRING, NULL),
    SCHEMA_OR_NULL("made_unix", INT, NULL),
    SCHEMA_IS("period", OBJECT, NULL, .of = &report_period_schema),
    SCHEMA_IS("verdict", OBJECT, NULL, .of = &report_verdict_schema),
    SCHEMA_MAY(
	"hosts", ROWS, "of a fleet, lost ones first", .of = &view_host_schema),
    SCHEMA_IS(
	"needs", ROWS, "what needs a person now", .of = &view_need_schema),
    SCHEMA_IS("counts", OBJECT, NULL, .of = &report_counts_schema),
    SCHEMA_IS("landed", ROWS, "with those that needed no change", .of = &task),
    SCHEMA_IS("not_landed", ROWS, NULL, .of = &task),
    SCHEMA_IS("open", ROWS, NULL, .of = &task),
    SCHEMA_IS("money", OBJECT, NULL, .of = &report_money_schema),
    SCHEMA_IS("time", OBJECT, NULL, .of = &time_shape),
    SCHEMA_IS("landing", OBJECT, NULL, .of = &landing),
    SCHEMA_IS("repairs", ROWS, "failures of llmc, and repairs", .of = &repair),
    SCHEMA_IS("oversight", ROWS, NULL, .of = &intervention),
    SCHEMA_IS("oversight_counts", OBJECT, NULL, .of = &oversight_counts),
    SCHEMA_IS("notes", LIST, "what is estimated or not known"),
    SCHEMA_IS("left_off", OBJECT, NULL, .of = &left_off),
    SCHEMA_MAY(
	"charts", OBJECT, "with --charts or --html", .of = &charts_schema));

const struct schema_field report_shape = { .type = SCHEMA_OBJECT,
	.of = &shape_report };
