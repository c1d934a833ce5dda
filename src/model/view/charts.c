/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "charts.h"
#include "json-short.h"
#include "notice.h"
#include "plan-insights.h"
#include "plan-progress.h"
#include "plan.h"
#include "report.h"
#include "view.h"

#define MINUTE_MS 60000
#define DAY_MS    (24 * 60 * (int64_t)MINUTE_MS)
#define STEPS_MAX 48
#define ROW_MAX   480 /* spans of one worker */
#define ROW_MIN   80
#define TEXT_MAX  200

const char *const chart_class_words[CHART_CLASS_COUNT + 1] = { "working",
	"landing", "waiting", "limited", "idle", "error", "down", NULL };

static const char *const class_titles[CHART_CLASS_COUNT] = {
	[CHART_WORKING] = "working",
	[CHART_LANDING] = "landing",
	[CHART_WAITING] = "waiting for agents or you, or paused",
	[CHART_LIMITED] = "usage limit, or service unavailable",
	[CHART_IDLE] = "idle or offline",
	[CHART_ERROR] = "in error",
	[CHART_DOWN] = "daemon down",
};

static const enum chart_class classes[REPORT_USE_COUNT] = {
	[REPORT_LANDED] = CHART_WORKING,
	[REPORT_FAILED] = CHART_WORKING,
	[REPORT_OPEN] = CHART_WORKING,
	[REPORT_CONFLICT] = CHART_WORKING,
	[REPORT_LANDING] = CHART_LANDING,
	[REPORT_WAITING] = CHART_WAITING,
	[REPORT_PERSON] = CHART_WAITING,
	[REPORT_PAUSED] = CHART_WAITING,
	[REPORT_LIMITED] = CHART_LIMITED,
	[REPORT_OUTAGE] = CHART_LIMITED,
	[REPORT_OFFLINE] = CHART_IDLE,
	[REPORT_IDLE_QUEUE] = CHART_IDLE,
	[REPORT_IDLE] = CHART_IDLE,
	[REPORT_ERROR] = CHART_ERROR,
	[REPORT_DOWN] = CHART_DOWN,
};

const char *const chart_mark_words[CHART_MARK_COUNT + 1] = { "ask", "retry",
	"failed", "failure", NULL };

const char *const chart_mark_titles[CHART_MARK_COUNT] = {
	[CHART_ASK] = "a person was asked",
	[CHART_RETRY] = "an attempt failed, and the task is tried again",
	[CHART_FAILED] = "a task ended without a result",
	[CHART_FAILURE] = "llmc itself failed, or was repaired",
};

struct making {
	const struct report_inputs *in;
	struct json_object *report, *charts;
	struct report_part *parts; /* by worker, then by time */
	size_t count;
	int64_t wall_ms, step_ms;
	size_t steps;
};

static struct json_object *
numbers(const int64_t *list, size_t count)
{
	struct json_object *json = json_object_new_array_ext((int)count);

	for (size_t i = 0; i < count; i++)
		json_object_array_add(json, json_object_new_int64(list[i]));
	return json;
}

/* --- the time of the workers ----------------------------------------- */

static int
by_time(const void *a, const void *b)
{
	const struct report_part *x = a, *y = b;
	int names =
	    x->worker == y->worker ? 0 : natural_compare(x->worker, y->worker);

	if (names == 0 && x->worker != y->worker)
		names = strcmp(x->worker, y->worker);
	return names != 0 ?
	    names :
	    (x->from_ms > y->from_ms) - (x->from_ms < y->from_ms);
}

struct span {
	int64_t from_ms, to_ms;
	enum chart_class class;
};

/* Behind the last one, or a part of it. */
static void
add_span(struct span *spans, size_t *count, struct span next)
{
	struct span *last = *count > 0 ? &spans[*count - 1] : NULL;

	if (last != NULL && last->class == next.class &&
	    last->to_ms >= next.from_ms)
		last->to_ms = next.to_ms;
	else
		spans[(*count)++] = next;
}

/* Too many: as many stretches of the same length, each of them what most of it
 * is. Returns how many are left. */
static size_t
bin(const struct making *m, struct span *spans, size_t count, size_t bins)
{
	cleanup_free int64_t *sums =
	    xcalloc(bins * CHART_CLASS_COUNT, sizeof *sums);
	int64_t width;
	size_t left = 0;

	if (bins == 0)
		return 0;
	width = (m->wall_ms + (int64_t)bins - 1) / (int64_t)bins;
	for (size_t i = 0; i < count; i++) {
		int64_t at = spans[i].from_ms - m->in->from_ms;
		int64_t end = spans[i].to_ms - m->in->from_ms;

		while (at < end) {
			int64_t next = (at / width + 1) * width;

			next = next < end ? next : end;
			sums[(size_t)(at / width) * CHART_CLASS_COUNT +
			    spans[i].class] += next - at;
			at = next;
		}
	}
	for (size_t i = 0; i < bins; i++) {
		const int64_t *sum = &sums[i * CHART_CLASS_COUNT];
		int64_t from = m->in->from_ms + (int64_t)i * width;
		int64_t nothing = width;
		int best = 0;

		for (int c = 0; c < CHART_CLASS_COUNT; c++) {
			best = sum[c] > sum[best] ? c : best;
			nothing -= sum[c];
		}
		if (sum[best] > 0 && sum[best] >= nothing)
			add_span(spans, &left,
			    (struct span){ from,
				from + width < m->in->to_ms ? from + width :
							      m->in->to_ms,
				(enum chart_class)best });
	}
	return left;
}

/* All parts of one worker. */
static struct json_object *
worker_row(struct making *m, const struct report_part *parts, size_t count,
    size_t room, bool *ret_binned)
{
	struct json_object *row = json_object_new_object();
	struct json_object *list = json_object_new_array();
	struct span *spans = xcalloc(count + room, sizeof *spans);
	int64_t from = m->in->from_ms, sums[CHART_CLASS_COUNT] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		sums[classes[parts[i].use]] +=
		    parts[i].to_ms - parts[i].from_ms;
		add_span(spans, &n,
		    (struct span){ parts[i].from_ms, parts[i].to_ms,
			classes[parts[i].use] });
	}
	if (n > room) {
		n = bin(m, spans, n, room);
		*ret_binned = true;
	}
	for (size_t i = 0; i < n; i++)
		json_object_array_add(list,
		    numbers(
			(const int64_t[]){ spans[i].from_ms - from,
			    spans[i].to_ms - from, (int64_t)spans[i].class },
			3));
	free(spans);
	json_set_string(row, "worker", parts[0].worker);
	json_set(row, "class_ms", numbers(sums, CHART_CLASS_COUNT));
	json_set(row, "spans", list);
	return row;
}

static void
set_workers(struct making *m)
{
	struct json_object *rows = view_of(view_of(m->report, "time"), "rows");
	struct json_object *legend = json_object_new_array();
	struct json_object *list = json_object_new_array();
	const char *wanted = m->in->worker;
	int64_t sums[CHART_CLASS_COUNT] = { 0 }, more = 0;
	size_t workers = 0, room;
	bool binned = false;

	for (int i = 0; i < REPORT_USE_COUNT; i++)
		sums[classes[i]] += json_int_or(rows, report_use_words[i], 0);
	for (int i = 0; i < CHART_CLASS_COUNT; i++) {
		struct json_object *row = json_object_new_object();

		json_set_string(row, "class", chart_class_words[i]);
		json_set_string(row, "title", class_titles[i]);
		json_set_int(row, "ms", sums[i]);
		json_object_array_add(legend, row);
	}
	for (size_t i = 0; i < m->count; i++)
		workers +=
		    i == 0 || m->parts[i].worker != m->parts[i - 1].worker;
	room = CHARTS_SPANS_MAX / (workers > 0 ? workers : 1);
	room = room > ROW_MAX ? ROW_MAX : room < ROW_MIN ? ROW_MIN : room;
	for (size_t i = 0, next; i < m->count; i = next) {
		const char *worker = m->parts[i].worker;

		for (next = i + 1;
		     next < m->count && m->parts[next].worker == worker;)
			next++;
		if (wanted != NULL && strcmp(worker, wanted) != 0)
			continue;
		if (json_object_array_length(list) < CHARTS_WORKERS_MAX)
			json_object_array_add(list,
			    worker_row(
				m, m->parts + i, next - i, room, &binned));
		else
			more++;
	}
	json_set(m->charts, "classes", legend);
	json_set(m->charts, "workers", list);
	json_set_int(m->charts, "workers_more", more);
	json_set_int(m->charts, "binned_ms",
	    binned ? (m->wall_ms + (int64_t)room - 1) / (int64_t)room : 0);
}

/* --- marks ----------------------------------------------------------- */

static void
add_mark(const struct making *m, struct json_object *list, enum chart_mark kind,
    int64_t at_ms, struct json_object *row, const char *task, const char *text)
{
	struct json_object *mark;
	const char *worker = json_string_or(row, "worker", NULL);

	if (at_ms < m->in->from_ms || at_ms > m->in->to_ms ||
	    (m->in->worker != NULL &&
		(worker == NULL || strcmp(worker, m->in->worker) != 0)))
		return;
	mark = json_object_new_object();
	json_set_int(mark, "at", at_ms - m->in->from_ms);
	json_set_string(mark, "kind", chart_mark_words[kind]);
	json_set_string(mark, "worker", worker);
	json_set_string(mark, "task", task);
	view_row_line(mark, "text", text, TEXT_MAX);
	json_object_array_add(list, mark);
}

static int
by_moment(const void *a, const void *b)
{
	int64_t x = json_int_or(*(struct json_object *const *)a, "at", 0);
	int64_t y = json_int_or(*(struct json_object *const *)b, "at", 0);

	return (x > y) - (x < y);
}

static void
set_marks(struct making *m)
{
	struct json_object *list = json_object_new_array();
	struct json_object *failed = view_of(m->report, "not_landed");
	struct json_object *repairs = view_of(m->report, "repairs");
	size_t excess;

	JSON_EACH (row, m->in->asks) {
		cleanup_free char *text = NULL;

		if (view_is(row, "kind", ask_kind_words[ASK_TOLD]))
			continue; /* nothing was asked */
		text = xasprintf("%s: %s", json_string_or(row, "kind", "?"),
		    json_string_or(row, "title", ""));

		add_mark(m, list, CHART_ASK, json_int_or(row, "created_ms", -1),
		    row, json_string_or(row, "task", NULL), text);
	}
	JSON_EACH (row, m->in->events) {
		bool retry = view_is(row, "type", CHARTS_EVENT_RETRY);

		if (retry || view_is(row, "type", CHARTS_EVENT_FAILURE))
			add_mark(m, list, retry ? CHART_RETRY : CHART_FAILURE,
			    json_int_or(row, "at_ms", -1), row,
			    json_string_or(row, "task", NULL),
			    json_string_or(row, "words", ""));
	}
	JSON_EACH (row, failed) {
		const char *reason = json_string_or(row, "reason", NULL);
		const char *id = json_string_or(row, "id", "?");
		cleanup_free char *text = xasprintf("%s: %s%s%s", id,
		    json_string_or(row, "outcome", "?"),
		    reason != NULL ? ": " : "", reason != NULL ? reason : "");

		add_mark(m, list, CHART_FAILED,
		    json_int_or(row, "finished_ms", -1), row, id, text);
	}
	JSON_EACH (row, repairs) {
		cleanup_free char *text =
		    xasprintf("%s: %s", json_string_or(row, "kind", "?"),
			json_string_or(row, "words", ""));

		add_mark(m, list, CHART_FAILURE, json_int_or(row, "at_ms", -1),
		    row, NULL, text);
	}
	json_object_array_sort(list, by_moment);
	excess = json_object_array_length(list);
	excess = excess > CHARTS_MARKS_MAX ? excess - CHARTS_MARKS_MAX : 0;
	if (excess > 0)
		json_object_array_del_idx(list, 0, excess);
	json_set(m->charts, "marks", list);
	json_set_int(m->charts, "marks_more", (int64_t)excess);
}

/* --- tasks and money over time --------------------------------------- */

/* Hours, unless the period is short or long. */
static int64_t
step_of(int64_t wall_ms)
{
	static const int64_t minutes[] = { 1, 5, 60, 180, 360, 720, 1440 };
	int64_t step;

	for (size_t i = 0; i < nitems(minutes); i++)
		if (wall_ms < minutes[i] * MINUTE_MS * STEPS_MAX)
			return minutes[i] * MINUTE_MS;
	step = wall_ms / STEPS_MAX + 1;
	return (step + DAY_MS - 1) / DAY_MS * DAY_MS;
}

static size_t
step_at(const struct making *m, int64_t at_ms)
{
	int64_t at = (at_ms - m->in->from_ms) / m->step_ms;

	return at < 0 ? 0 : at >= (int64_t)m->steps ? m->steps - 1 : (size_t)at;
}

/* How many of the list ended in each step. */
static struct json_object *
bars(const struct making *m, struct json_object *list)
{
	int64_t *sums = xcalloc(m->steps, sizeof *sums);
	struct json_object *json;

	JSON_EACH (item, list)
		sums[step_at(m, json_int_or(item, "finished_ms", 0))]++;
	json = numbers(sums, m->steps);
	free(sums);
	return json;
}

/* What is known about the cost of a task. */
struct cost {
	struct json_object *row;
	int64_t micros;
	int64_t worked_ms; /* all that was worked on it */
	int64_t placed; /* micros that have a step */
};

static int
by_cost(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return (x->micros < y->micros) - (x->micros > y->micros);
}

/* The most expensive ones, and what the others cost. */
static void
set_tasks(struct json_object *money, struct cost *costs, size_t count)
{
	struct json_object *list = json_object_new_array();
	int64_t more = 0;

	qsort(costs, count, sizeof *costs, by_cost);
	for (size_t i = 0; i < count; i++) {
		struct json_object *row;

		if (i >= CHARTS_TASKS_MAX) {
			more += costs[i].micros;
			continue;
		}
		row = json_object_new_object();
		view_pick(row, costs[i].row,
		    (const char *const[]){ "id", "title", "outcome",
			"cost_micros", "cost_source", NULL });
		json_object_array_add(list, row);
	}
	json_set(money, "tasks", list);
	json_set_int(money, "more",
	    count > CHARTS_TASKS_MAX ? (int64_t)(count - CHARTS_TASKS_MAX) : 0);
	json_set_int(money, "more_micros", more);
}

/* The cost of a task is spread over the time that was worked on it: nothing
 * tells when exactly it was spent. */
static void
set_money(struct making *m)
{
	static const char *const lists[] = { "landed", "not_landed", "open" };
	struct json_object *sums = view_of(m->report, "money");
	struct json_object *money = json_object_new_object();
	struct json_object *budget = view_of(m->in->view, "budget");
	int64_t *steps = xcalloc(m->steps, sizeof *steps);
	int64_t all = 0, placed = 0;
	struct strmap map = { 0 };
	struct cost *costs;
	size_t count = 0;

	for (size_t i = 0; i < nitems(lists); i++)
		count += json_object_array_length(view_of(m->report, lists[i]));
	costs = xcalloc(count + 1, sizeof *costs);
	count = 0;
	for (size_t i = 0; i < nitems(lists); i++) {
		struct json_object *list = view_of(m->report, lists[i]);

		JSON_EACH (row, list) {
			int64_t micros = json_int_or(row, "cost_micros", -1);

			if (micros <= 0)
				continue;
			costs[count] = (struct cost){ row, micros, 0, 0 };
			strmap_add(&map, json_string_or(row, "id", ""),
			    &costs[count++]);
			all += micros;
		}
	}
	for (size_t i = 0; i < m->in->span_count; i++) {
		const struct work_span *span = &m->in->spans[i];
		struct cost *cost =
		    span->task != NULL ? strmap_get(&map, span->task) : NULL;

		if (cost != NULL &&
		    (span->use == WORK_WORKING || span->use == WORK_CONFLICT))
			cost->worked_ms += span->to_ms - span->from_ms;
	}
	for (size_t i = 0; i < m->count; i++) {
		const struct report_part *part = &m->parts[i];
		struct cost *cost = part->works && part->task != NULL ?
		    strmap_get(&map, part->task) :
		    NULL;

		for (int64_t at = part->from_ms;
		     cost != NULL && cost->worked_ms > 0 && at < part->to_ms;) {
			size_t step = step_at(m, at);
			int64_t end =
			    m->in->from_ms + ((int64_t)step + 1) * m->step_ms;
			int64_t share;

			end = end < part->to_ms && step + 1 < m->steps ?
			    end :
			    part->to_ms;
			share = (int64_t)((double)cost->micros *
			    (double)(end - at) / (double)cost->worked_ms);
			share = share < cost->micros - cost->placed ?
			    share :
			    cost->micros - cost->placed;
			cost->placed += share;
			placed += share;
			steps[step] += share;
			at = end;
		}
	}
	json_set(money, "steps", numbers(steps, m->steps));
	json_set_int(money, "earlier_micros", all - placed);
	json_set_int(money, "tasks_micros", all);
	view_pick(money, sums,
	    (const char *const[]){
		"total_micros", "estimated_micros", "unknown", NULL });
	set_tasks(money, costs, count);
	view_pick(
	    money, budget, (const char *const[]){ "day_cost_micros", NULL });
	json_set(money, "today_micros",
	    json_object_get(view_of(budget, "cost_micros")));
	json_set(m->charts, "money", money);
	strmap_release(&map);
	free(costs);
	free(steps);
}

struct turn {
	int64_t at_ms;
	int step; /* 1 or -1 */
};

static int
by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return x->at_ms != y->at_ms ?
	    (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms) :
	    x->step - y->step;
}

/* How many workers have finished work that waits to land, or lands: from each
 * moment to the next. Of many points, the highest of each stretch. */
static void
set_queue(struct making *m)
{
	struct turn *turns = xcalloc(2 * m->count + 1, sizeof *turns);
	struct json_object *list = json_object_new_array();
	int64_t length = 0, most = 0, width = 1, last = -1;
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (m->parts[i].use != REPORT_LANDING)
			continue;
		turns[count++] = (struct turn){ m->parts[i].from_ms, 1 };
		turns[count++] = (struct turn){ m->parts[i].to_ms, -1 };
	}
	qsort(turns, count, sizeof *turns, by_turn);
	if (count > CHARTS_POINTS_MAX)
		width = m->wall_ms / CHARTS_POINTS_MAX + 1;
	for (size_t i = 0; i < count;) {
		int64_t from = turns[i].at_ms - m->in->from_ms;
		int64_t stretch = from / width, highest;

		/* In a stretch of one moment, what counts is the last one. */
		highest = width > 1 ? length : -1;
		while (i < count &&
		    (turns[i].at_ms - m->in->from_ms) / width == stretch) {
			length += turns[i++].step;
			if (width > 1 && length > highest)
				highest = length;
		}
		highest = width > 1 ? highest : length;
		most = highest > most ? highest : most;
		from = width > 1 ? stretch * width : from;
		if (highest != last)
			json_object_array_add(list,
			    numbers((const int64_t[]){ from, highest }, 2));
		last = highest;
		/* Nothing happens for a while: what is left from then on. */
		if (width > 1 && length != highest &&
		    (i == count ||
			(turns[i].at_ms - m->in->from_ms) / width >
			    stretch + 1)) {
			json_object_array_add(list,
			    numbers((const int64_t[]){ (stretch + 1) * width,
					length },
				2));
			last = length;
		}
	}
	free(turns);
	json_set(m->charts, "queue", list);
	json_set_int(m->charts, "queue_most", most);
}

struct json_object *
charts_goal(const struct plan *plan)
{
	cleanup_plan_insights struct plan_insights all;
	struct plan_summary sum = plan_summary(plan, NULL);
	struct json_object *json = json_object_new_object();
	struct json_object *nodes = json_object_new_array();
	cleanup_free bool *critical =
	    xcalloc(plan->count + 1, sizeof *critical);
	cleanup_free const struct plan_insight **leaves =
	    xcalloc(plan->count + 1, sizeof(struct plan_insight *));
	int64_t more = 0;

	plan_insights(plan, &all);
	for (size_t i = 0; i < all.open; i++)
		leaves[all.leaves[i].node->slot] = &all.leaves[i];
	for (size_t i = 0; i < all.path_count; i++)
		critical[all.leaves[all.path[i]].node->slot] = true;
	for (const struct plan_node *n = plan_next(plan, NULL); n != NULL;
	     n = plan_next(plan, n)) {
		const struct plan_insight *leaf = leaves[n->slot];
		struct json_object *row;
		int depth = 0;

		if (json_object_array_length(nodes) >= CHARTS_NODES_MAX) {
			more++;
			continue;
		}
		for (const struct plan_node *up = n->parent; up != NULL;
		     up = up->parent)
			depth++;
		row = json_object_new_object();
		json_set_string(row, "id", n->id);
		view_row_line(row, "title", n->name, VIEW_TITLE_MAX);
		json_set_string(row, "status", node_status_name(n->status));
		json_set_int(row, "depth", depth);
		json_set(row, "after", strv_to_json(n->depends_on));
		json_set_bool(row, "critical", critical[n->slot]);
		json_set(row, "start",
		    leaf != NULL ? json_object_new_int64(leaf->start) : NULL);
		json_set(row, "effort",
		    leaf != NULL ? json_object_new_int64(leaf->effort) : NULL);
		json_object_array_add(nodes, row);
	}
	json_set_string(json, "id", plan->goal->id);
	view_row_line(json, "title", plan->goal->title, VIEW_TITLE_MAX);
	json_set_string(json, "status", goal_status_name(plan->goal->status));
	json_set_int(json, "done", (int64_t)sum.leaves[NODE_DONE]);
	json_set_int(json, "total", (int64_t)sum.total);
	json_set_int(json, "effort", all.effort);
	json_set_int(json, "critical_effort", all.length);
	json_set(json, "nodes", nodes);
	json_set_int(json, "nodes_more", more);
	return json;
}

struct json_object *
charts_make(const struct report_inputs *in, struct json_object *report,
    struct report_parts *parts)
{
	struct making m = {
		.in = in,
		.report = report,
		.charts = json_object_new_object(),
		.parts = parts->list,
		.count = parts->count,
		.wall_ms =
		    in->to_ms > in->from_ms ? in->to_ms - in->from_ms : 0,
	};

	m.step_ms = step_of(m.wall_ms);
	m.steps = (size_t)(m.wall_ms / m.step_ms) + 1;
	if (m.count > 0)
		qsort(m.parts, m.count, sizeof *m.parts, by_time);
	json_set_int(m.charts, "from_ms", in->from_ms);
	json_set_int(m.charts, "to_ms", in->to_ms);
	json_set_int(m.charts, "now_ms", in->now_ms);
	set_workers(&m);
	set_marks(&m);
	json_set_int(m.charts, "step_ms", m.step_ms);
	json_set(m.charts, "landed", bars(&m, view_of(report, "landed")));
	json_set(
	    m.charts, "not_landed", bars(&m, view_of(report, "not_landed")));
	set_money(&m);
	set_queue(&m);
	json_set(m.charts, "goals",
	    in->goals != NULL ? json_object_get(in->goals) :
				json_object_new_array());
	return m.charts;
}

static const struct schema numbers_of = {
	.fields = &(const struct schema_field){ .type = SCHEMA_INT },
};
static const struct schema points = {
	.fields = &(const struct schema_field){ .type = SCHEMA_ARRAY,
	    .of = &numbers_of },
};
static const struct schema names = {
	.fields = &(const struct schema_field){ .type = SCHEMA_STRING },
};

#define ROWS(name, ...)                                                        \
	static const struct schema name##_row = SCHEMA_SHAPE(__VA_ARGS__);     \
	static const struct schema name = {                                    \
		.fields = &(const struct schema_field){ .type = SCHEMA_OBJECT, \
		    .of = &name##_row }                                        \
	}

ROWS(class_rows, SCHEMA_IS("class", STRING, NULL, .choices = chart_class_words),
    SCHEMA_IS("title", STRING, "in words"),
    SCHEMA_IS("ms", INT, "of all workers, as in the report"));
ROWS(worker_rows, SCHEMA_IS("worker", STRING, NULL),
    SCHEMA_IS("class_ms", ARRAY, "its time, by class", .of = &numbers_of),
    SCHEMA_IS("spans", ARRAY,
	"[from, to, class]: milliseconds after from_ms, and the place of the "
	"class in classes",
	.of = &points));
ROWS(mark_rows, SCHEMA_IS("at", INT, "milliseconds after from_ms"),
    SCHEMA_IS("kind", STRING, NULL, .choices = chart_mark_words),
    SCHEMA_OR_NULL("worker", STRING, NULL),
    SCHEMA_OR_NULL("task", STRING, NULL), SCHEMA_IS("text", STRING, NULL));
ROWS(task_rows, SCHEMA_IS("id", STRING, NULL),
    SCHEMA_OR_NULL("title", STRING, NULL),
    SCHEMA_OR_NULL("outcome", STRING, "null: it has not ended"),
    SCHEMA_IS("cost_micros", INT, NULL),
    SCHEMA_OR_NULL("cost_source", STRING, NULL));
ROWS(node_rows, SCHEMA_IS("id", STRING, NULL),
    SCHEMA_OR_NULL("title", STRING, NULL), SCHEMA_IS("status", STRING, NULL),
    SCHEMA_IS("depth", INT, "0: a phase"),
    SCHEMA_IS("after", ARRAY, "ids of those it waits for", .of = &names),
    SCHEMA_IS("critical", BOOL, "it is on the critical path"),
    SCHEMA_OR_NULL("start", INT,
	"turns of others before it can begin; null: it has children, or is "
	"done"),
    SCHEMA_OR_NULL("effort", INT, "turns it is estimated to take"));
ROWS(goal_rows, SCHEMA_IS("id", STRING, NULL),
    SCHEMA_OR_NULL("title", STRING, NULL), SCHEMA_IS("status", STRING, NULL),
    SCHEMA_IS("done", INT, NULL), SCHEMA_IS("total", INT, NULL),
    SCHEMA_IS("effort", INT, "of all open nodes, in turns"),
    SCHEMA_IS("critical_effort", INT, "of the critical path"),
    SCHEMA_IS("nodes", ARRAY, "in the order of the plan", .of = &node_rows),
    SCHEMA_IS("nodes_more", INT, "that are left off"));

static const struct schema money_shape = SCHEMA_SHAPE(
    SCHEMA_IS("steps", ARRAY,
	"what tasks of the report cost in each step, spread over the "
	"time that was worked on them; millionths of a dollar",
	.of = &numbers_of),
    SCHEMA_IS("earlier_micros", INT,
	"what of it was spent before, or at a time that is not known"),
    SCHEMA_IS("tasks_micros", INT, "the sum of both"),
    SCHEMA_IS("total_micros", INT, "total_micros of the report"),
    SCHEMA_IS("estimated_micros", INT, NULL),
    SCHEMA_IS("unknown", INT, "tasks whose cost is not known"),
    SCHEMA_IS("tasks", ARRAY, "the most expensive ones", .of = &task_rows),
    SCHEMA_IS("more", INT, "how many others there are"),
    SCHEMA_IS("more_micros", INT, "what those cost"),
    SCHEMA_OR_NULL("day_cost_micros", INT, "budget.day_cost"),
    SCHEMA_OR_NULL("today_micros", INT, "what auto mode has spent today"));

const struct schema charts_schema =
    SCHEMA_SHAPE(SCHEMA_IS("from_ms", INT, NULL), SCHEMA_IS("to_ms", INT, NULL),
	SCHEMA_IS("now_ms", INT, NULL),
	SCHEMA_IS("classes", ARRAY, "what time is used for", .of = &class_rows),
	SCHEMA_IS("workers", ARRAY, NULL, .of = &worker_rows),
	SCHEMA_IS("workers_more", INT, "that are left off"),
	SCHEMA_IS("binned_ms", INT,
	    "not 0: spans were too many, and each stretch of this length "
	    "is what most of it is"),
	SCHEMA_IS("marks", ARRAY, "the last ones", .of = &mark_rows),
	SCHEMA_IS("marks_more", INT, "that are left off"),
	SCHEMA_IS("step_ms", INT, "length of a step"),
	SCHEMA_IS("landed", ARRAY, "tasks in each step, as in the report",
	    .of = &numbers_of),
	SCHEMA_IS("not_landed", ARRAY, NULL, .of = &numbers_of),
	SCHEMA_IS("money", OBJECT, NULL, .of = &money_shape),
	SCHEMA_IS("queue", ARRAY,
	    "[from, length]: workers whose finished work waits to land, "
	    "or lands",
	    .of = &points),
	SCHEMA_IS("queue_most", INT, "the longest it was"),
	SCHEMA_IS("goals", ARRAY, "open ones", .of = &goal_rows));

const struct schema_field charts_shape = { .type = SCHEMA_OBJECT,
	.of = &charts_schema };
