/* SPDX-License-Identifier: ISC */

/* What a report is put together from: how the time was spent, which run it was,
 * the money, the verdict. */
#include "base.h"
#include "account.h"
#include "metrics.h"
#include "report.h"
#include "schema.h"
#include "task.h"
#include "view-private.h"
#include "view.h"

/* --- the time -------------------------------------------------------- */

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

/* --- the run --------------------------------------------------------- */

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

/* --- money ----------------------------------------------------------- */

#define DAY_MS (24 * 3600 * (int64_t)1000)

struct sums {
	int64_t cost, estimated, unknown, landed;
};

/* A task that was not begun has cost nothing. */
static struct sums
sum(struct json_object *list)
{
	struct sums sums = { 0 };

	JSON_EACH (row, list) {
		int64_t cost = json_int_or(row, "cost_micros", -1);

		sums.landed += view_is(row, "outcome", "landed");
		if (cost < 0) {
			sums.unknown += json_int_or(row, "attempts", 0) > 0;
			continue;
		}
		sums.cost += cost;
		if (view_is(
			row, "cost_source", cost_source_words[COST_ESTIMATE]))
			sums.estimated += cost;
	}
	return sums;
}

/* What was spent on the days of the period; parts: all of it, and what was not
 * spent on tasks. */
struct parts {
	int64_t all, hand, planner, repairs;
};

static struct json_object *
days_of(struct json_object *budget, int64_t from_ms, int64_t to_ms,
    struct parts *parts)
{
	static const char *const members[] = { "day", "cost_micros",
		"cost_source", "tasks_micros", "hand_micros", "planner_micros",
		"repairs_micros", NULL };
	struct json_object *days = NULL, *list = json_object_new_array();

	json_get_array(budget, "", "days", &days, NULL);
	JSON_EACH (row, days) {
		struct json_object *picked;
		int64_t day = json_int_or(row, "day", -1);

		if (day < from_ms / DAY_MS || day > to_ms / DAY_MS)
			continue;
		parts->hand += json_int_or(row, "hand_micros", 0);
		parts->planner += json_int_or(row, "planner_micros", 0);
		parts->repairs += json_int_or(row, "repairs_micros", 0);
		parts->all += json_int_or(row, "hand_micros", 0) +
		    json_int_or(row, "planner_micros", 0) +
		    json_int_or(row, "repairs_micros", 0) +
		    json_int_or(row, "tasks_micros", 0);
		picked = json_object_new_object();
		view_pick(picked, row, members);
		json_object_array_add(list, picked);
	}
	return list;
}

struct money {
	int64_t total, landed, not_landed, open, hand, planner, repairs;
	int64_t elsewhere, estimated, per_landed, unknown;
	struct json_object *days;
};

#define MONEY(key, member, words, ...) \
	SCHEMA_FIELD(struct money, key, member, .help = (words), ##__VA_ARGS__)

static const struct schema day =
    SCHEMA_SHAPE(SCHEMA_IS("day", INT, "since 1970, UTC"),
	SCHEMA_OR_NULL("cost_micros", INT, NULL),
	SCHEMA_IS("cost_source", STRING, NULL),
	SCHEMA_IS("tasks_micros", INT, "what of it tasks cost"),
	SCHEMA_IS("hand_micros", INT, "and workers of a person"),
	SCHEMA_IS("planner_micros", INT, NULL),
	SCHEMA_IS("repairs_micros", INT, NULL));
static const struct schema days_schema = {
	.fields =
	    &(const struct schema_field){ .type = SCHEMA_OBJECT, .of = &day },
};

static const struct schema_field money_fields[] = {
	MONEY("total_micros", total,
	    "of all rows that follow; millionths of a dollar"),
	MONEY("landed_micros", landed, "of those in landed"),
	MONEY("not_landed_micros", not_landed, "of those in not_landed"),
	MONEY("open_micros", open, "of those in open, so far"),
	MONEY("hand_micros", hand,
	    "of workers of a person, on the days of the report"),
	MONEY("planner_micros", planner, "of the planner, on those days"),
	MONEY("repairs_micros", repairs, "of repairs of llmc, on those days"),
	MONEY("elsewhere_micros", elsewhere,
	    "what was spent on those days beside the total: on tasks that are "
	    "not in the report; less than zero: tasks of the report cost "
	    "something on other days",
	    .min = INT64_MIN),
	MONEY(
	    "estimated_micros", estimated, "what of the total is an estimate"),
	MONEY("per_landed_micros", per_landed,
	    "the total for each task that landed", .flags = SCHEMA_UNKNOWN),
	MONEY("unknown", unknown, "tasks whose cost is not known"),
	SCHEMA_AS(struct money, "days", ARRAY, days, .of = &days_schema,
	    .flags = SCHEMA_REQUIRED, .help = "what all workers spent, by day"),
};

const struct schema report_money_schema = SCHEMA_OF(struct money, money_fields);

struct json_object *
report_money(struct json_object *landed, struct json_object *not_landed,
    struct json_object *open, struct json_object *budget, int64_t from_ms,
    int64_t to_ms)
{
	struct sums a = sum(landed), b = sum(not_landed), c = sum(open);
	struct parts parts = { 0 };
	cleanup_json struct json_object *days =
	    days_of(budget, from_ms, to_ms, &parts);
	struct money money = {
		.total = a.cost + b.cost + c.cost + parts.hand + parts.planner +
		    parts.repairs,
		.landed = a.cost,
		.not_landed = b.cost,
		.open = c.cost,
		.hand = parts.hand,
		.planner = parts.planner,
		.repairs = parts.repairs,
		.estimated = a.estimated + b.estimated + c.estimated,
		.per_landed = -1,
		.unknown = a.unknown + b.unknown + c.unknown,
		.days = days,
	};

	if (json_object_array_length(days) > 0)
		money.elsewhere = parts.all - money.total;
	if (a.landed > 0)
		money.per_landed = money.total / a.landed;
	return schema_json(&report_money_schema, &money);
}

/* --- the verdict ------------------------------------------------------ */

enum level {
	GOOD,
	MIXED,
	BAD,
	NOTHING
};

/* "good": all that ended has landed; "mixed"; "bad": nothing landed, or llmc
 * itself has failed; "nothing": nothing ended, and nothing is wrong. */
static const char *const report_levels[] = { "good", "mixed", "bad", "nothing",
	NULL };

struct judging {
	struct json_object *report, *counts, *money, *rows;
	int64_t landed, done, not_landed, open, worker_ms;
	enum level level;
	struct buf words;
};

static const char *
plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* What ended, and how. */
static void
judge_tasks(struct judging *j)
{
	int64_t all = j->done + j->not_landed;
	bool goes_on =
	    json_bool_or(view_of(j->report, "period"), "goes_on", false);

	if (all == 0 && j->open > 0) {
		j->level = NOTHING;
		buf_addf(&j->words,
		    goes_on ? "No task has ended yet; %" PRId64 " in progress" :
			      "No task ended; %" PRId64 " begun and not ended",
		    j->open);
	} else if (all == 0) {
		j->level = NOTHING;
		buf_adds(&j->words, "Nothing was worked on");
	} else if (j->done == 0) {
		j->level = BAD;
		buf_addf(&j->words,
		    all == 1 ?
			"Nothing landed: the one task that ended did not "
			"succeed" :
			"Nothing landed: none of the %" PRId64
			" tasks that ended succeeded",
		    all);
	} else if (j->not_landed > 0) {
		j->level = MIXED;
		buf_addf(&j->words,
		    "%" PRId64 " of %" PRId64 " tasks that ended succeeded",
		    j->done, all);
	} else {
		j->level = GOOD;
		buf_addf(&j->words,
		    all == 1 ? "The one task that ended succeeded" :
			       "All %" PRId64 " tasks that ended succeeded",
		    all);
	}
	if (j->done > j->landed)
		buf_addf(&j->words, " (%" PRId64 " without a change)",
		    j->done - j->landed);
}

/* Time of workers that was lost, if it was a large part of it. */
static void
add_lost(struct judging *j, const char *row, int64_t percent, const char *words)
{
	int64_t ms = json_int_or(j->rows, row, 0);

	if (ms <= 0 || j->worker_ms <= 0 || ms / percent < j->worker_ms / 100)
		return;
	buf_addf(&j->words, "; %s %" PRId64 " %% of the workers' time", words,
	    ms / ((j->worker_ms + 99) / 100));
	if (j->level == GOOD)
		j->level = MIXED;
}

void
report_verdict(struct json_object *report, const char *failure)
{
	struct json_object *json = json_object_new_object();
	struct json_object *time = view_of(report, "time");
	struct judging j = {
		.report = report,
		.counts = view_of(report, "counts"),
		.money = view_of(report, "money"),
		.rows = view_of(time, "rows"),
		.worker_ms = json_int_or(time, "worker_ms", 0),
		.words = BUF_INIT,
	};
	size_t needs = json_object_array_length(view_of(report, "needs"));
	int64_t total;
	int64_t ended;
	int64_t unknown;

	j.landed = json_int_or(j.counts, "landed", 0);
	j.done = j.landed + json_int_or(j.counts, "no_changes", 0);
	j.not_landed = json_int_or(j.counts, "failed", 0) +
	    json_int_or(j.counts, "aborted", 0) +
	    json_int_or(j.counts, "dead_letter", 0);
	j.open = json_int_or(j.counts, "open", 0);
	judge_tasks(&j);
	total = json_int_or(j.money, "total_micros", 0);
	ended = json_int_or(j.money, "landed_micros", 0) +
	    json_int_or(j.money, "not_landed_micros", 0);
	unknown = json_int_or(j.money, "unknown", 0);
	if (ended > 0) {
		buf_adds(&j.words, ", for ");
		budget_add_cost(&j.words, ended);
	}
	if (total > ended) {
		buf_adds(&j.words, "; all that was spent is ");
		budget_add_cost(&j.words, total);
	}
	if (json_int_or(j.money, "estimated_micros", 0) > 0)
		buf_adds(&j.words, " (estimated)");
	if (unknown > 0)
		buf_addf(&j.words,
		    "; the cost of %" PRId64 " task%s is not known", unknown,
		    plural(unknown));
	add_lost(&j, "daemon_down", 10, "the daemon was down for");
	add_lost(&j, "limited", 25, "usage limits took");
	add_lost(&j, "outage", 10, "the service was away for");
	add_lost(&j, "working_failed", 50, "failed attempts took");
	add_lost(&j, "paused", 25, "workers were paused for");
	add_lost(&j, "error", 25, "workers were in error for");
	add_lost(
	    &j, "idle_queue", 25, "tasks waited while workers were idle for");
	if (failure != NULL) {
		j.level = BAD;
		buf_adds(&j.words, "; llmc itself failed: ");
		text_add_visible(&j.words, failure,
		    text_cut(failure, strlen(failure), 200), false);
	}
	if (needs > 0)
		buf_addf(&j.words, "; %zu thing%s need%s you", needs,
		    plural((int64_t)needs), needs == 1 ? "s" : "");
	buf_addc(&j.words, '.');
	json_set_string(json, "level", report_levels[j.level]);
	json_set_string(json, "words", j.words.data);
	buf_release(&j.words);
	json_set(report, "verdict", json);
}

const struct schema report_verdict_schema =
    SCHEMA_SHAPE(SCHEMA_IS("level", STRING, NULL, .choices = report_levels),
	SCHEMA_IS("words", STRING, "how it went, in one sentence"));
