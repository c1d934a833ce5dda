/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "charts.h"
#include "metrics.h"
#include "report.h"
#include "schema.h"
#include "task.h"
#include "view-private.h"
#include "view.h"

const char *const report_use_words[REPORT_USE_COUNT + 1] = { "working_landed",
	"working_failed", "working_open", "waiting", "landing", "conflict",
	"limited", "outage", "paused", "person", "error", "offline",
	"idle_queue", "idle", "daemon_down", NULL };

const char *const report_use_titles[REPORT_USE_COUNT] = {
	[REPORT_LANDED] = "working: with a result",
	[REPORT_FAILED] = "working: failed attempts",
	[REPORT_OPEN] = "working: not ended, or by hand",
	[REPORT_WAITING] = "waiting for agents they spawned",
	[REPORT_LANDING] = "landing",
	[REPORT_CONFLICT] = "resolving conflicts",
	[REPORT_LIMITED] = "usage limit",
	[REPORT_OUTAGE] = "service unavailable",
	[REPORT_PAUSED] = "paused",
	[REPORT_PERSON] = "waiting for a person",
	[REPORT_ERROR] = "in error",
	[REPORT_OFFLINE] = "offline",
	[REPORT_IDLE_QUEUE] = "idle, with tasks waiting",
	[REPORT_IDLE] = "idle, without tasks",
	[REPORT_DOWN] = "daemon down",
};

static const enum report_use uses[WORK_USE_COUNT] = {
	[WORK_WORKING] = REPORT_OPEN, /* or better: use_of() */
	[WORK_LANDING] = REPORT_LANDING,
	[WORK_CONFLICT] = REPORT_CONFLICT,
	[WORK_WAITING] = REPORT_WAITING,
	[WORK_LIMITED] = REPORT_LIMITED,
	[WORK_OUTAGE] = REPORT_OUTAGE,
	[WORK_PAUSED] = REPORT_PAUSED,
	[WORK_PERSON] = REPORT_PERSON,
	[WORK_ERROR] = REPORT_ERROR,
	[WORK_OFFLINE] = REPORT_OFFLINE,
	[WORK_IDLE_QUEUE] = REPORT_IDLE_QUEUE,
	[WORK_IDLE] = REPORT_IDLE,
};

struct stretch {
	int64_t from_ms, to_ms;
};

struct summing {
	const struct report_time_in *in;
	const struct work_span **spans; /* by worker, then by their ends */
	struct stretch *up; /* when the daemon ran, in order */
	size_t up_count;
	struct json_object *worked;
	const char *worker; /* that is summed up */
	int64_t all[REPORT_USE_COUNT];
	int64_t rows[REPORT_USE_COUNT]; /* of one worker */
	struct stretch *gaps; /* of one worker, in order */
	size_t gap_count;
};

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* --- when the daemon ran --------------------------------------------- */

static int
by_begin(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return (x->from_ms > y->from_ms) - (x->from_ms < y->from_ms);
}

static void
find_up(struct summing *s)
{
	const struct report_time_in *in = s->in;
	size_t count = 0;

	for (size_t i = 0; i < in->count; i++)
		s->up[i] = (struct stretch){ in->spans[i].from_ms,
			in->spans[i].to_ms };
	qsort(s->up, in->count, sizeof *s->up, by_begin);
	for (size_t i = 0; i < in->count; i++)
		if (count > 0 && s->up[i].from_ms <= s->up[count - 1].to_ms)
			s->up[count - 1].to_ms =
			    larger(s->up[count - 1].to_ms, s->up[i].to_ms);
		else
			s->up[count++] = s->up[i];
	s->up_count = count;
}

/* So much of the worker's time was used for that. span: NULL = of none. */
static void
count(struct summing *s, enum report_use use, const struct work_span *span,
    struct stretch part)
{
	struct report_parts *parts = s->in->parts;

	s->rows[use] += part.to_ms - part.from_ms;
	if (parts == NULL)
		return;
	if (parts->count == parts->room) {
		parts->room = parts->room == 0 ? 256 : parts->room * 2;
		parts->list = xreallocarray(
		    parts->list, parts->room, sizeof *parts->list);
	}
	parts->list[parts->count++] = (struct report_part){
		.worker = s->worker,
		.task = span != NULL ? span->task : NULL,
		.use = use,
		.works = span != NULL &&
		    (span->use == WORK_WORKING || span->use == WORK_CONFLICT),
		.from_ms = part.from_ms,
		.to_ms = part.to_ms,
	};
}

/* Where the daemon did not run in the gap. */
static void
count_down(struct summing *s, struct stretch gap)
{
	for (size_t i = 0; i < s->up_count && gap.from_ms < gap.to_ms; i++) {
		if (s->up[i].to_ms <= gap.from_ms)
			continue;
		if (s->up[i].from_ms > gap.from_ms)
			count(s, REPORT_DOWN, NULL,
			    (struct stretch){ gap.from_ms,
				smaller(s->up[i].from_ms, gap.to_ms) });
		gap.from_ms = s->up[i].to_ms;
	}
	if (gap.from_ms < gap.to_ms)
		count(s, REPORT_DOWN, NULL, gap);
}

/* --- one worker ------------------------------------------------------ */

static enum report_use
use_of(const struct report_time_in *in, const struct work_span *span)
{
	struct json_object *row = NULL;
	const char *outcome;

	if (span->use != WORK_WORKING || span->task == NULL)
		return uses[span->use];
	if (!json_object_object_get_ex(in->ended, span->task, &row))
		json_object_object_get_ex(in->open, span->task, &row);
	if (row == NULL)
		return REPORT_OPEN;
	if (span->attempt > 0 &&
	    span->attempt < json_int_or(row, "attempts", 0))
		return REPORT_FAILED;
	outcome = json_string_or(row, "outcome", NULL);
	if (outcome == NULL)
		return REPORT_OPEN;
	return strcmp(outcome, "landed") == 0 ||
		strcmp(outcome, "no_changes") == 0 ?
	    REPORT_LANDED :
	    REPORT_FAILED;
}

static void
give(struct summing *s, const struct work_span *span, struct stretch part)
{
	int64_t ms = part.to_ms - part.from_ms;

	if (ms <= 0)
		return;
	count(s, use_of(s->in, span), span, part);
	if (span->task != NULL &&
	    (span->use == WORK_WORKING || span->use == WORK_CONFLICT))
		json_set_int(s->worked, span->task,
		    json_int_or(s->worked, span->task, 0) + ms);
}

/* The gaps that it covers are its own: nothing that ends before it has them. */
static void
fill_gaps(
    struct summing *s, const struct work_span *span, int64_t from, int64_t to)
{
	while (s->gap_count > 0) {
		struct stretch *last = &s->gaps[s->gap_count - 1];

		if (last->to_ms <= from)
			return;
		give(s, span,
		    (struct stretch){ larger(last->from_ms, from),
			smaller(last->to_ms, to) });
		if (last->from_ms < from) {
			last->to_ms = from;
			return;
		}
		s->gap_count--;
	}
}

static void
add_gap(struct summing *s, int64_t from, int64_t to)
{
	if (to > from)
		s->gaps[s->gap_count++] = (struct stretch){ from, to };
}

/* Spans of one worker, by their ends. */
static void
sum_worker(struct summing *s, const struct work_span **spans, size_t count)
{
	const struct report_time_in *in = s->in;
	int64_t first = INT64_MAX, cursor;

	memset(s->rows, 0, sizeof s->rows);
	s->gap_count = 0;
	s->worker = spans[0]->worker;
	for (size_t i = 0; i < count; i++)
		first = smaller(first, spans[i]->from_ms);
	cursor = larger(first, in->from_ms);
	for (size_t i = 0; i < count; i++) {
		int64_t from = larger(spans[i]->from_ms, in->from_ms);
		int64_t to = smaller(spans[i]->to_ms, in->to_ms);

		if (to <= from)
			continue;
		fill_gaps(s, spans[i], from, to);
		add_gap(s, cursor, from);
		give(s, spans[i], (struct stretch){ larger(cursor, from), to });
		cursor = larger(cursor, to);
	}
	if (spans[count - 1]->to_ms >= in->to_ms ||
	    json_object_object_get_ex(in->workers, spans[0]->worker, NULL))
		add_gap(s, cursor, in->to_ms);
	for (size_t i = 0; i < s->gap_count; i++)
		count_down(s, s->gaps[i]);
}

/* --- all of them ----------------------------------------------------- */

static int
by_worker(const void *a, const void *b)
{
	const struct work_span *x = *(const struct work_span *const *)a;
	const struct work_span *y = *(const struct work_span *const *)b;
	int names = strcmp(x->worker, y->worker);

	return names != 0 ? names :
			    (x->to_ms > y->to_ms) - (x->to_ms < y->to_ms);
}

static struct json_object *
rows_json(const int64_t *rows, int64_t *ret_sum)
{
	struct json_object *json = json_object_new_object();

	*ret_sum = 0;
	for (int i = 0; i < REPORT_USE_COUNT; i++) {
		json_set_int(json, report_use_words[i], rows[i]);
		*ret_sum += rows[i];
	}
	return json;
}

static void
add_worker(struct summing *s, const char *name, struct json_object *list)
{
	struct json_object *row, *rows;
	int64_t sum;

	rows = rows_json(s->rows, &sum);
	if (sum == 0) {
		json_object_put(rows);
		return;
	}
	row = json_object_new_object();
	json_set_string(row, "worker", name);
	json_set_int(row, "worker_ms", sum);
	json_set(row, "rows", rows);
	json_object_array_add(list, row);
	for (int i = 0; i < REPORT_USE_COUNT; i++)
		s->all[i] += s->rows[i];
}

struct json_object *
report_time(const struct report_time_in *in, struct json_object **ret_worked)
{
	struct summing s = { .in = in, .worked = json_object_new_object() };
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array(), *rows;
	struct json_object *titles = json_object_new_object();
	int64_t sum;
	size_t count;
	size_t next;

	for (int i = 0; i < REPORT_USE_COUNT; i++)
		json_set_string(
		    titles, report_use_words[i], report_use_titles[i]);
	/* At most one gap before each span of a worker, and one at the end. */
	s.gaps = xcalloc(in->count + 1, sizeof *s.gaps);
	s.up = xcalloc(in->count + 1, sizeof *s.up);
	s.spans = xcalloc(in->count + 1, sizeof(struct work_span *));
	find_up(&s);
	count = s.in->count;
	for (size_t i = 0; i < count; i++)
		s.spans[i] = &s.in->spans[i];
	qsort(s.spans, count, sizeof(struct work_span *), by_worker);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count &&
		     strcmp(s.spans[next]->worker, s.spans[i]->worker) == 0;)
			next++;
		sum_worker(&s, s.spans + i, next - i);
		add_worker(&s, s.spans[i]->worker, list);
	}
	rows = rows_json(s.all, &sum);
	json_set_int(json, "workers", (int64_t)json_object_array_length(list));
	json_set_int(json, "worker_ms", sum);
	json_set_int(json, "wall_ms", larger(in->to_ms - in->from_ms, 0));
	json_set(json, "rows", rows);
	json_set(json, "titles", titles);
	json_set(json, "by_worker", list);
	free(s.gaps);
	free(s.up);
	free(s.spans);
	*ret_worked = s.worked;
	return json;
}

void
report_run_release(struct report_run *run)
{
	free(run->wanted);
	free(run->id);
	free(run->first);
	free(run->last);
	memset(run, 0, sizeof *run);
}

/* How long after its end a run is gone on with; how long one that was killed
 * may have run. */
#define AGAIN_MS  (3600 * (int64_t)1000)
#define KILLED_MS (24 * AGAIN_MS)

static bool
goes_on(const struct report_run *run, int64_t at_ms)
{
	return run->id != NULL && !run->complete &&
	    (run->ended_ms > 0 ? at_ms - run->ended_ms <= AGAIN_MS :
				 at_ms - run->begun_ms <= KILLED_MS);
}

static bool
is_wanted(const struct report_run *run)
{
	return run->wanted != NULL && run->id != NULL &&
	    strcmp(run->id, run->wanted) == 0;
}

bool
report_run_is_found(const struct report_run *run)
{
	return run->id != NULL && (run->wanted == NULL || is_wanted(run));
}

void
report_run_event(struct report_run *run, const char *id,
    enum report_run_what what, int64_t at)
{
	xstrset(&run->last, id);
	if (run->next_ms != 0)
		return;
	if (run->id == NULL || strcmp(run->id, id) != 0) {
		if (is_wanted(run)) {
			run->next_ms = at;
			return;
		}
		if (!goes_on(run, at)) {
			xstrset(&run->first, id);
			run->from_ms = at;
		}
		xstrset(&run->id, id);
	}
	if (what == REPORT_RUN_BEGINS)
		run->begun_ms = at;
	run->ended_ms = what == REPORT_RUN_BEGINS ? 0 : at;
	run->complete = what == REPORT_RUN_COMPLETE;
}

int64_t
report_run_end(const struct report_run *run, const struct work_span *spans,
    size_t count, bool goes_on, int64_t now_ms)
{
	int64_t end = run->from_ms;

	if (goes_on && run->next_ms == 0)
		return now_ms;
	if (run->ended_ms > 0)
		return run->ended_ms;
	for (size_t i = 0; i < count; i++)
		if (spans[i].to_ms > end &&
		    (run->next_ms == 0 || spans[i].to_ms <= run->next_ms))
			end = spans[i].to_ms;
	return end;
}

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
		"lines_added", "lines_removed", "weakens", "reason",
		"last_words", NULL };
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

const struct schema report_counts_schema =
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

/* Those of a list that are in the period (and of that type). */
static struct json_object *
chosen(const struct making *m, struct json_object *from, const char *type)
{
	struct json_object *list = json_object_new_array();

	JSON_EACH (row, from)
		if (in_period(m, json_int_or(row, "at_ms", -1)) &&
		    (type == NULL ||
			strcmp(json_string_or(row, "type", ""), type) == 0))
			json_object_array_add(list, json_object_get(row));
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

const struct schema report_period_schema =
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
	json_set(m.report, "repairs", chosen(&m, in->repairs, NULL));
	/* What oversight found, and where it did something about it. */
	list = chosen(&m, m.in->events, REPORT_EVENT_OVERSIGHT);
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
