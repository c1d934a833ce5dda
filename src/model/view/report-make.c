/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "report-make.h"
#include "report-money.h"
#include "report-time.h"
#include "report-verdict.h"
#include "schema.h"
#include "task.h"
#include "view-doc.h"
#include "view-needs.h"
#include "view-row.h"

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

static struct json_object *
member(struct json_object *object, const char *key)
{
	return json_object_get(json_object_object_get(object, key));
}

/* --- tasks ----------------------------------------------------------- */

static struct json_object *
task_row(const struct making *m, const char *id, struct json_object *from)
{
	static const char *const members[] = { "id", "title", "outcome", "step",
		"commit", "worker", "run_id", "attempts", "turns",
		"finished_unix", "wall_ms", "cost_micros", "cost_source",
		"lines_added", "lines_removed", "reason", "last_words" };
	struct json_object *row = json_object_new_object();

	for (size_t i = 0; i < nitems(members); i++)
		json_set(row, members[i], member(from, members[i]));
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

static void
add_ended(struct making *m)
{
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
}

/* An attempt that was taken back (a parked task has none) has cost something,
 * too. */
static bool
was_begun(struct json_object *task)
{
	return json_int_or(task, "attempts", 0) > 0 ||
	    json_int_or(task, "turns", 0) > 0 ||
	    json_int_or(task, "cost_micros", 0) > 0;
}

/* Begun in the period, or still in somebody's hands. */
static void
add_open(struct making *m)
{
	json_object_object_foreach(view_of(m->in->view, "tasks"), id, from)
	{
		int64_t begun = json_int_or(from, "assigned_unix", 0) * 1000;

		if (!was_begun(from) || !is_open(m, id) ||
		    begun > m->in->to_ms ||
		    (begun < m->in->from_ms - 999 &&
			(!m->in->goes_on ||
			    strcmp(json_string_or(from, "step", ""),
				"parked") == 0)))
			continue;
		json_object_array_add(m->open, task_row(m, id, from));
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
const struct schema report_counts_schema =
    SCHEMA_OF(struct making, count_fields);

static void
set_tasks(struct making *m)
{
	struct json_object *counts;

	add_ended(m);
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

/* --- tasks over time ------------------------------------------------- */

#define STEPS_MAX 48

/* The bars of a chart: at most STEPS_MAX of a usual length. */
static int64_t
step_of(int64_t wall_ms)
{
	static const int64_t minutes[] = { 1, 5, 15, 30, 60, 180, 360, 720,
		1440 };
	size_t i = 0;

	while (i + 1 < nitems(minutes) &&
	    wall_ms / (minutes[i] * 60000) >= STEPS_MAX)
		i++;
	return minutes[i] * 60000;
}

static struct json_object *
bars(const struct making *m, struct json_object *tasks, int64_t step)
{
	int64_t wall = m->in->to_ms - m->in->from_ms;
	size_t count = (size_t)((wall > 0 ? wall : 0) / step) + 1;
	cleanup_free int64_t *sums = xcalloc(count, sizeof *sums);
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		int64_t at = json_int_or(
		    json_object_array_get_idx(tasks, i), "finished_ms", 0);

		sums[(at - m->in->from_ms) / step]++;
	}
	for (size_t i = 0; i < count; i++)
		json_object_array_add(list, json_object_new_int64(sums[i]));
	return list;
}

static void
set_series(struct making *m)
{
	struct json_object *json = json_object_new_object();
	int64_t step = step_of(m->in->to_ms - m->in->from_ms);

	json_set_int(json, "step_ms", step);
	json_set(json, "landed", bars(m, m->landed, step));
	json_set(json, "not_landed", bars(m, m->not_landed, step));
	json_set(m->report, "series", json);
}

/* --- landing, repairs, oversight ------------------------------------- */

static struct json_object *
check_row(struct json_object *from)
{
	static const char *const members[] = { "command", "trees",
		"flaky_trees", "flaky_alarm" };
	struct json_object *row;

	if (from == NULL)
		return NULL;
	row = json_object_new_object();
	for (size_t i = 0; i < nitems(members); i++)
		json_set(row, members[i], member(from, members[i]));
	return row;
}

static void
set_landing(struct making *m)
{
	struct json_object *json = json_object_new_object();
	struct json_object *checks = json_object_new_object();

	for (size_t i = 0; i < json_object_array_length(m->in->events); i++) {
		struct json_object *row =
		    json_object_array_get_idx(m->in->events, i);
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
	json_set(json, "check",
	    check_row(json_object_object_get(head_of(m), "check")));
	json_set(m->report, "landing", json);
}

/* Those of a list that are in the period (and of that type). */
static struct json_object *
chosen(const struct making *m, struct json_object *from, const char *type)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(from); i++) {
		struct json_object *row = json_object_array_get_idx(from, i);

		if (in_period(m, json_int_or(row, "at_ms", -1)) &&
		    (type == NULL ||
			strcmp(json_string_or(row, "type", ""), type) == 0))
			json_object_array_add(list, json_object_get(row));
	}
	return list;
}

/* What oversight found, and where it did something about it. */
static void
set_oversight(struct making *m)
{
	struct json_object *list =
	    chosen(m, m->in->events, REPORT_EVENT_OVERSIGHT);
	struct json_object *counts = json_object_new_object();
	size_t count = json_object_array_length(list);
	int64_t acted = 0;

	for (size_t i = 0; i < count; i++) {
		const char *action = json_string_or(
		    json_object_array_get_idx(list, i), "action", NULL);

		acted += action != NULL && strcmp(action, "log") != 0;
	}
	json_set(m->report, "oversight", list);
	json_set_int(counts, "detections", (int64_t)count);
	json_set_int(counts, "interventions", acted);
	json_set(m->report, "oversight_counts", counts);
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
		    "without a price, or an agent that recorded no tokens.");
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

/* --- its length ------------------------------------------------------ */

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

/* --- all of it ------------------------------------------------------- */

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
const struct schema report_period_schema =
    SCHEMA_OF(struct report_inputs, period_fields);

static void
set_head(struct making *m)
{
	const struct report_inputs *in = m->in;
	struct json_object *period = schema_json(&report_period_schema, in);
	static const char *const members[] = { "project", "root", "branch" };

	for (size_t i = 0; i < nitems(members); i++)
		json_set(m->report, members[i], member(head_of(m), members[i]));
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
	struct report_time_in time_in = {
		.spans = in->spans,
		.count = in->span_count,
		.from_ms = in->from_ms,
		.to_ms = in->to_ms,
		.ended = in->ended,
		.open = view_of(in->view, "tasks"),
		.workers = view_of(in->view, "workers"),
	};
	struct json_object *time = report_time(&time_in, &m.worked);

	set_head(&m);
	json_set(m.report, "verdict", NULL); /* stands on top, known last */
	json_set(m.report, "needs", view_needs_list(in->view));
	set_tasks(&m);
	json_set(m.report, "money",
	    report_money(m.landed, m.not_landed, m.open,
		view_of(in->view, "budget"), in->from_ms, in->to_ms));
	json_set(m.report, "time", time);
	set_series(&m);
	set_landing(&m);
	json_set(m.report, "repairs", chosen(&m, in->repairs, NULL));
	set_oversight(&m);
	set_notes(&m);
	report_verdict(m.report, failure_of(&m));
	cut_lists(m.report);
	json_object_put(m.worked);
	return m.report;
}
