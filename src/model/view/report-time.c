/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "report-time.h"

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

/* How much of it the daemon did not run. */
static int64_t
down_in(const struct summing *s, struct stretch gap)
{
	int64_t down = gap.to_ms - gap.from_ms;

	for (size_t i = 0; i < s->up_count; i++) {
		int64_t from = larger(gap.from_ms, s->up[i].from_ms);
		int64_t to = smaller(gap.to_ms, s->up[i].to_ms);

		if (to > from)
			down -= to - from;
	}
	return down;
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
	s->rows[use_of(s->in, span)] += ms;
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

static bool
is_later(
    const struct summing *s, const char *worker, const struct work_span *last)
{
	return last->to_ms >= s->in->to_ms ||
	    json_object_object_get_ex(s->in->workers, worker, NULL);
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
	if (is_later(s, spans[0]->worker, spans[count - 1]))
		add_gap(s, cursor, in->to_ms);
	for (size_t i = 0; i < s->gap_count; i++)
		s->rows[REPORT_DOWN] += down_in(s, s->gaps[i]);
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

static struct json_object *
titles_json(void)
{
	struct json_object *json = json_object_new_object();

	for (int i = 0; i < REPORT_USE_COUNT; i++)
		json_set_string(
		    json, report_use_words[i], report_use_titles[i]);
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

static void
sum_workers(struct summing *s, struct json_object *list)
{
	size_t count = s->in->count, next;

	for (size_t i = 0; i < count; i++)
		s->spans[i] = &s->in->spans[i];
	qsort(s->spans, count, sizeof(struct work_span *), by_worker);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count &&
		     strcmp(s->spans[next]->worker, s->spans[i]->worker) == 0;)
			next++;
		sum_worker(s, s->spans + i, next - i);
		add_worker(s, s->spans[i]->worker, list);
	}
}

struct json_object *
report_time(const struct report_time_in *in, struct json_object **ret_worked)
{
	struct summing s = { .in = in, .worked = json_object_new_object() };
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array(), *rows;
	int64_t sum;

	/* At most one gap before each span of a worker, and one at the end. */
	s.gaps = xcalloc(in->count + 1, sizeof *s.gaps);
	s.up = xcalloc(in->count + 1, sizeof *s.up);
	s.spans = xcalloc(in->count + 1, sizeof(struct work_span *));
	find_up(&s);
	sum_workers(&s, list);
	rows = rows_json(s.all, &sum);
	json_set_int(json, "workers", (int64_t)json_object_array_length(list));
	json_set_int(json, "worker_ms", sum);
	json_set_int(json, "wall_ms", larger(in->to_ms - in->from_ms, 0));
	json_set(json, "rows", rows);
	json_set(json, "titles", titles_json());
	json_set(json, "by_worker", list);
	free(s.gaps);
	free(s.up);
	free(s.spans);
	*ret_worked = s.worked;
	return json;
}
