/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "book-history.h"
#include "book.h"
#include "charts.h"
#include "history.h"
#include "jsonl.h"
#include "autod-private.h"
#include "metrics.h"
#include "plan-floor.h"
#include "plan.h"
#include "report.h"
#include "state.h"
#include "view-state.h"
#include "view.h"
#include "workspace.h"

/* Spans before the period tell which workers existed when it began. */
#define DAY_MS    (24 * 3600 * (int64_t)1000)
#define BEFORE_MS DAY_MS

/* What a report is made of. */
struct materials {
	struct json_object *ended, *repairs, *events;
	struct work_span *spans;
	size_t span_count, span_room;
};

/* --- spans ----------------------------------------------------------- */

static void
on_span(const struct work_span *span, void *arg)
{
	struct materials *files = arg;

	if (files->span_count == files->span_room) {
		files->span_room =
		    files->span_room == 0 ? 64 : files->span_room * 2;
		files->spans = xreallocarray(
		    files->spans, files->span_room, sizeof *files->spans);
	}
	files->spans[files->span_count++] = (struct work_span){
		.worker = xstrdup(span->worker),
		.use = span->use,
		.task = span->task != NULL ? xstrdup(span->task) : NULL,
		.attempt = span->attempt,
		.from_ms = span->from_ms,
		.to_ms = span->to_ms,
	};
}

/* What goes on, as the daemon that made the view says: its state need not be
 * read for that. False: it does not say so. */
static bool
take_open(struct json_object *view, int64_t now_ms, struct materials *files)
{
	struct json_object *workers = view_of(view, "workers");
	struct json_object *tasks = view_of(view, "tasks");
	struct json_object_iter it;
	bool said = json_object_object_length(workers) == 0;

	json_object_object_foreachC(workers, it)
	{
		const char *use = json_string_or(it.val, "time_use", "");
		const char *task = json_string_or(it.val, "task", NULL);
		struct work_span span = {
			.worker = it.key,
			.task = (char *)(uintptr_t)task,
			.attempt = (int)json_int_or(task != NULL ?
				json_object_object_get(tasks, task) :
				NULL,
			    "attempts", 0),
			.from_ms = json_int_or(it.val, "time_from_ms", now_ms),
			.to_ms = now_ms,
		};

		said |= json_object_object_get_ex(it.val, "time_use", NULL);
		while (span.use < WORK_USE_COUNT &&
		    strcmp(work_use_words[span.use], use) != 0)
			span.use++;
		if (span.use < WORK_USE_COUNT && span.from_ms < now_ms)
			on_span(&span, files);
	}
	return said;
}

/* --- events ---------------------------------------------------------- */

static bool
on_event(struct json_object *record, void *arg)
{
	struct materials *files = arg;
	struct json_object *event = NULL, *row;

	json_get_object(record, "", "event", &event, NULL);
	if (!view_is(event, "type", REPORT_EVENT_OVERSIGHT) &&
	    !view_is(event, "type", REPORT_EVENT_CHECK) &&
	    !view_is(event, "type", CHARTS_EVENT_RETRY) &&
	    !view_is(event, "type", CHARTS_EVENT_FAILURE))
		return true;
	row = view_row_event(record, 0);
	if (row == NULL)
		return true;
	json_object_object_del(row, "n");
	json_object_object_del(row, "level");
	view_pick(row, event,
	    (const char *const[]){ "result", "class", "action", NULL });
	json_object_array_add(files->events, row);
	return true;
}

/* --- repairs --------------------------------------------------------- */

static void
read_repairs(const struct workspace *workspace, struct materials *files)
{
	struct history history = { 0 };

	if (history_load(workspace, &history, NULL) < 0)
		return;
	for (size_t i = 0; i < history.count; i++) {
		const struct spiral_event *event = &history.events[i];
		struct json_object *row = view_repair_row(event);

		json_object_object_del(row, "at_unix");
		json_set_int(row, "at_ms", event->at_ms);
		json_set(row, "cost_micros",
		    event->cost > 0 ? json_object_new_int64(event->cost) :
				      NULL);
		json_object_array_add(files->repairs, row);
	}
	history_release(&history);
}

/* live: the view of a daemon that runs, or NULL. state: is filled in where the
 * view does not say enough. */
static int
load(struct book *book, const struct workspace *workspace,
    struct json_object *live, int64_t from_ms, int64_t now_ms,
    struct state *state, struct materials *files, struct err *err)
{
	cleanup_free char *log = workspace_path(workspace, "logs/auto.log");
	int r;

	*files = (struct materials){
		.ended = json_object_new_object(),
		.repairs = json_object_new_array(),
		.events = json_object_new_array(),
	};
	r = book_read_spans(book, from_ms - BEFORE_MS, on_span, files, err);
	if (r == 0 && (live == NULL || !take_open(live, now_ms, files))) {
		r = look_read_state(workspace, state, err);
		r = r == -ENOENT ? 0 : r;
		if (r == 0 && (live != NULL || state->daemon_running))
			book_open_spans(book, workspace, state, live != NULL,
			    now_ms, on_span, files);
	}
	if (r == 0)
		r = book_report_tasks(
		    book, from_ms, REPORT_ROWS_MAX, files->ended, err);
	jsonl_since(log, from_ms, on_event, files, NULL);
	read_repairs(workspace, files);
	return r;
}

/* --- goals ----------------------------------------------------------- */

struct goals {
	struct book *book;
	struct json_object *list;
	struct err *err;
	int r;
	bool open; /* as charts_goal() shows them; else those that ended */
};

static bool
on_node(const struct book_record *record, void *arg)
{
	struct json_object *node = NULL;

	if (json_parse(record->body, strlen(record->body), BOOK_BODY_MAX, &node,
		NULL) == 0)
		json_object_array_add(arg, node);
	return true;
}

/* NULL: it has ended, or cannot be read. */
static struct json_object *
open_goal(struct json_object *record, struct json_object *nodes)
{
	struct json_object *goal = NULL;
	struct plan *plan = NULL;

	json_set(record, "nodes", json_object_get(nodes));
	if (plan_from_json(record, "", &plan, NULL) == 0 &&
	    goal_status_open(plan->goal->status))
		goal = charts_goal(plan);
	plan_free(plan);
	return goal;
}

/* One goal after the other: their nodes are not all in memory. */
static bool
on_goal(const struct book_record *record, void *arg)
{
	struct goals *goals = arg;
	cleanup_json struct json_object *goal = NULL;
	cleanup_json struct json_object *nodes = json_object_new_array();
	struct json_object *entry;

	if (json_parse(record->body, strlen(record->body), BOOK_GOAL_MAX, &goal,
		NULL) < 0 ||
	    (goals->open &&
		!view_is(goal, "status", goal_status_words[GOAL_ACTIVE]) &&
		!view_is(goal, "status", goal_status_words[GOAL_PAUSED])))
		return true;
	goals->r = book_read_bodies(goals->book, BOOK_NODE, record->goal_id,
	    NULL, on_node, nodes, goals->err);
	entry = goals->r < 0 ? NULL :
	    goals->open      ? open_goal(goal, nodes) :
			       plan_view_ended(goal, nodes);
	if (entry != NULL)
		json_object_array_add(goals->list, entry);
	return goals->r == 0 &&
	    (!goals->open ||
		json_object_array_length(goals->list) < CHARTS_GOALS_MAX);
}

int
look_read_goals(
    struct book *book, bool open, struct json_object *list, struct err *err)
{
	struct goals goals = { book, list, err, 0, open };
	int r =
	    book_read_bodies(book, BOOK_GOAL, NULL, NULL, on_goal, &goals, err);

	return r < 0 ? r : goals.r;
}

/* --- the report ------------------------------------------------------ */

/* The row of a day, made if there is none. */
static struct json_object *
day_of(struct json_object *days, int64_t day)
{
	struct json_object *row;

	for (size_t i = 0; i < json_object_array_length(days); i++) {
		row = json_object_array_get_idx(days, i);
		if (json_int_or(row, "day", -1) == day)
			return row;
	}
	row = json_object_new_object();
	json_set_int(row, "day", day);
	json_set_string(row, "cost_source", cost_source_words[COST_REPORTED]);
	json_set_int(row, "tasks_micros", 0);
	json_set_int(row, "hand_micros", 0);
	json_set_int(row, "planner_micros", 0);
	json_object_array_add(days, row);
	return row;
}

/* The overseer writes down what a repair cost, and the next daemon books it:
 * add what none has booked yet to the days of the view's budget. */
static void
book_repairs(const struct materials *files, const struct state *state,
    struct json_object *budget)
{
	struct json_object *days = NULL;

	if (json_get_array(budget, "", "days", &days, NULL) < 0)
		return;
	for (size_t i = 0; i < json_object_array_length(files->repairs); i++) {
		struct json_object *repair =
		    json_object_array_get_idx(files->repairs, i);
		int64_t at = json_int_or(repair, "at_ms", 0);
		int64_t cost = json_int_or(repair, "cost_micros", 0);
		struct json_object *row;

		if (at <= state->repairs_ms || cost <= 0)
			continue;
		row = day_of(days, at / DAY_MS);
		json_set_int(row, "repairs_micros",
		    json_int_or(row, "repairs_micros", 0) + cost);
		json_set_int(row, "cost_micros",
		    json_int_or(row, "cost_micros", 0) + cost);
	}
}

/* The period begins. False: there is no such run. */
static bool
choose(struct book *book, struct json_object *params, struct report_run *run,
    struct report_inputs *in)
{
	const char *wanted = json_string_or(params, "run", NULL);

	if (json_int_or(params, "since_ms", -1) >= 0) {
		in->from_ms = json_int_or(params, "since_ms", 0);
		return true;
	}
	if (wanted != NULL)
		run->wanted = xstrdup(wanted);
	book_find_run(book, run, NULL);
	if (wanted != NULL && !report_run_is_found(run))
		return false;
	in->run = run->id;
	in->first_run = run->first;
	in->from_ms = run->id != NULL ? run->from_ms : in->now_ms - DAY_MS;
	return true;
}

static struct json_object *
make(struct book *book, const struct workspace *workspace,
    struct json_object *params, const struct report_run *run,
    struct report_inputs *in, struct err *err)
{
	struct json_object *report = NULL;
	bool live = json_object_object_get_ex(params, "view", NULL);
	int64_t to_ms = json_int_or(params, "to_ms", 0);
	struct materials files;
	struct state state;
	int r;

	state_init(&state);
	r = load(book, workspace, live ? in->view : NULL, in->from_ms,
	    in->now_ms, &state, &files, err);
	if (r == 0) {
		if (!live)
			book_repairs(
			    &files, &state, view_of(in->view, "budget"));
		in->ended = files.ended;
		in->repairs = files.repairs;
		in->events = files.events;
		in->spans = files.spans;
		in->span_count = files.span_count;
		in->to_ms = in->now_ms;
		in->goes_on = true;
		if (run->id != NULL) {
			in->goes_on = run->next_ms == 0 &&
			    json_bool_or(params, "active", false);
			in->to_ms = report_run_end(run, in->spans,
			    in->span_count, in->goes_on, in->now_ms);
			in->until_ms =
			    run->next_ms != 0 ? run->next_ms : in->now_ms;
		} else if (to_ms > in->from_ms && to_ms < in->now_ms) {
			in->to_ms = to_ms;
			in->goes_on = false;
		}
		if (in->charts) {
			in->asks = book_list_asks(book, LOOK_ASKS_MAX, NULL);
			in->goals = json_object_new_array();
			look_read_goals(book, true, in->goals, NULL);
		}
		report = report_make(in);
		json_object_put(take_ptr(&in->asks));
		json_object_put(take_ptr(&in->goals));
	}
	json_object_put(files.ended);
	json_object_put(files.repairs);
	json_object_put(files.events);
	for (size_t i = 0; i < files.span_count; i++)
		work_span_release(&files.spans[i]);
	free(files.spans);
	state_release(&state);
	return report;
}

struct json_object *
look_report(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	struct report_inputs in = {
		.now_ms = json_int_or(params, "now_ms", 0),
		.charts = json_bool_or(params, "charts", false),
		.worker = json_string_or(params, "worker", NULL),
	};
	struct report_run run = { 0 };
	struct json_object *view = NULL, *report;

	if (json_object_object_get_ex(params, "view", &view))
		in.view = view_complete(json_object_get(view));
	else
		in.view = look_view(NULL, workspace, params, err);
	if (in.view == NULL)
		return NULL;
	if (choose(book, params, &run, &in)) {
		report = make(book, workspace, params, &run, &in, err);
	} else {
		report = json_object_new_object();
		json_set_string(report, "unknown_run", run.last);
	}
	report_run_release(&run);
	json_object_put(in.view);
	return report;
}

struct json_object *
look_charts(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err)
{
	cleanup_json struct json_object *report = NULL;

	json_set_bool(params, "charts", true);
	report = look_report(book, workspace, params, err);
	return json_object_get(json_object_object_get(report, "charts"));
}
