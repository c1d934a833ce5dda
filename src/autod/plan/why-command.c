/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-work.h"
#include "event.h"
#include "plan-private.h"
#include "plan.h"
#include "serve.h"
#include "state.h"
#include "task.h"
#include "why.h"
#include "worker.h"

/* --- what is in the book --------------------------------------------- */

#define BYTES_MAX (1024 * 1024) /* of the answer to overseer.events, about */
#define READ_MAX  1000 /* events that it looks at */

static void
set_string(struct json_object *json, const char *key, const char *value)
{
	if (value != NULL)
		json_set_string(json, key, value);
}

static bool
on_event(const struct book_event *event, void *arg)
{
	struct json_object *row = json_object_new_object(), *data = NULL;

	json_set_int(row, "seq", event->seq);
	json_set_int(row, "ts", event->ts_ms);
	json_set_string(row, "type", event->type);
	set_string(row, "goal", event->goal_id);
	set_string(row, "assignment", event->assignment_id);
	set_string(row, "node", event->node_id);
	set_string(row, "worker", event->worker);
	set_string(row, "task", event->task);
	if (event->data != NULL &&
	    json_parse(event->data, strlen(event->data), BOOK_DATA_MAX * 2,
		&data, NULL) == 0)
		json_set(row, "data", data);
	json_object_array_add(arg, row);
	return true;
}

static bool
on_record(const struct book_record *record, void *arg)
{
	struct json_object *body;

	if (json_parse(record->body, strlen(record->body), BOOK_GOAL_MAX, &body,
		NULL) == 0)
		json_object_array_add(arg, body);
	return true;
}

static struct json_object *
rows_or_refuse(struct server_call *call, struct json_object *rows, int r,
    const struct err *err)
{
	if (r == 0)
		return rows;
	json_object_put(rows);
	plan_call_refuse(call, err);
	return NULL;
}

/* {seq, ts, type, goal, assignment, node, worker, task, data}. */
static struct json_object *
plan_query_events(struct plan_floor *floor, struct server_call *call,
    const struct book_filter *filter)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r =
	    book_query_events(floor->core->book, filter, on_event, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

struct json_object *
plan_query_records(struct plan_floor *floor, struct server_call *call,
    enum book_kind kind, const char *id)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r = book_read_bodies(
	    floor->core->book, kind, NULL, id, on_record, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

struct json_object *
plan_query_mail(struct plan_floor *floor, struct server_call *call,
    const char *actor, size_t limit)
{
	struct json_object *rows = json_object_new_array();
	struct err err = { 0 };
	int r = book_read_newest(
	    floor->core->book, BOOK_MAIL, actor, limit, on_record, rows, &err);

	return rows_or_refuse(call, rows, r, &err);
}

/* --- events for people ----------------------------------------------- */

/* A row of an event as a record of logs/auto.log, owned by the caller. */
static struct json_object *
plan_query_log_record(struct json_object *row)
{
	static const char *const names[][2] = { { "worker", "worker_name" },
		{ "task", "task" }, { "goal", "goal" }, { "node", "node" },
		{ "assignment", "assignment" } };
	const char *type = json_string_or(row, "type", "");
	const struct event_row *known = event_row_named(type);
	struct json_object *record = json_object_new_object();
	struct json_object *event = json_object_new_object(), *data = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(json_int_or(row, "ts", 0), stamp);
	json_set_string(record, "timestamp", stamp);
	json_set_string(record, "level",
	    log_level_name(known != NULL ? known->level : LOG_LEVEL_INFO));
	json_set_string(event, "type", type);
	for (size_t i = 0; i < nitems(names); i++)
		set_string(
		    event, names[i][1], json_string_or(row, names[i][0], NULL));
	if (json_object_object_get_ex(row, "data", &data)) {
		json_object_object_foreach(data, key, value)
		{
			if (!json_object_object_get_ex(event, key, NULL))
				json_set(event, key, json_object_get(value));
		}
	}
	json_set(record, "event", event);
	return record;
}

/* --- the method overseer.events --------------------------------------- */

/* The only one of a list, which the book can look for; NULL = none, or
 * several. */
static const char *
only(struct json_object *params, const char *key)
{
	struct json_object *list = NULL;

	if (!json_object_object_get_ex(params, key, &list) ||
	    json_object_array_length(list) != 1)
		return NULL;
	return json_object_get_string(json_object_array_get_idx(list, 0));
}

static bool
has(struct json_object *params, const char *key, const char *word)
{
	struct json_object *list = NULL;
	size_t count;

	if (!json_object_object_get_ex(params, key, &list))
		return true;
	count = json_object_array_length(list);
	for (size_t i = 0; i < count; i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(list, i)),
			word) == 0)
			return true;
	return count == 0;
}

static bool
wants(struct json_object *params, const char *goal, struct json_object *row)
{
	return (goal == NULL ||
		   strcmp(json_string_or(row, "goal", ""), goal) == 0) &&
	    has(params, "workers", json_string_or(row, "worker", "")) &&
	    has(params, "tasks", json_string_or(row, "task", "")) &&
	    has(params, "kinds", json_string_or(row, "type", ""));
}

static struct json_object *
turned(struct json_object *events)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = json_object_array_length(events); i > 0; i--)
		json_object_array_add(list,
		    json_object_get(json_object_array_get_idx(events, i - 1)));
	return list;
}

/* What is likely to find the fewest. The book looks for one thing only: with
 * another it would have to read on until it has found enough. */
static struct book_filter
filter_of(struct json_object *params, const char *goal)
{
	struct book_filter filter = {
		.before_seq = json_int_or(params, "before", 0),
		.limit = READ_MAX,
		.newest_first = true,
	};

	filter.task = only(params, "tasks");
	if (filter.task == NULL)
		filter.worker = only(params, "workers");
	if (filter.task == NULL && filter.worker == NULL)
		filter.goal_id = goal;
	if (filter.task == NULL && filter.worker == NULL && goal == NULL)
		filter.type = only(params, "kinds");
	return filter;
}

static void
on_events(void *arg, struct server_call *call, struct json_object *params)
{
	const struct plan *plan;

	if (plan_call_begin_maybe(arg, call, params, &plan)) {
		const char *goal = plan != NULL ? plan->goal->id : NULL;
		struct book_filter filter = filter_of(params, goal);
		size_t lines =
		    (size_t)json_int_or(params, "lines", API_EVENTS_MAX);
		cleanup_json struct json_object *rows =
		    plan_query_events(arg, call, &filter);
		cleanup_json struct json_object *events =
		    json_object_new_array();
		struct json_object *result;
		size_t i, count, bytes = 0;

		/* The newest first, until the answer is full. Who gets fewer
		 * than wanted, and "before", asks again: no call looks at
		 * more than READ_MAX events. */
		if (rows == NULL)
			return;
		count = json_object_array_length(rows);
		for (i = 0; i < count && bytes < BYTES_MAX &&
		     json_object_array_length(events) < lines;
		     i++) {
			struct json_object *row =
			    json_object_array_get_idx(rows, i);
			struct json_object *record;

			filter.before_seq = json_int_or(row, "seq", 0);
			if (!wants(params, goal, row))
				continue;
			record = plan_query_log_record(row);
			bytes += strlen(json_object_to_json_string(record));
			json_object_array_add(events, record);
		}
		result = json_object_new_object();
		json_set(result, "events", turned(events));
		if (i < count || count == READ_MAX)
			json_set_int(result, "before", filter.before_seq);
		serve_show(call, result);
	}
}

void
plan_query_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.events", on_events, floor);
}

/* --- why ------------------------------------------------------------ */

#define EVENTS_SHOWN 100
#define GOALS_SHOWN  4

/* The answer is built as an object; until it is sent, its member "record" is
 * the assignment, as it is stored. */

/* --- the answer ------------------------------------------------------ */

/* Rows are newest first. */
static void
fill_events(
    struct json_object *rows, struct why_event *events, struct json_object *out)
{
	size_t count = json_object_array_length(rows);

	for (size_t i = 0; i < count; i++) {
		struct json_object *row =
		    json_object_array_get_idx(rows, count - 1 - i);
		struct json_object *data = json_member(row, "data");

		events[i] = (struct why_event){
			.ts_ms = json_int_or(row, "ts", 0),
			.type = json_string_or(row, "type", ""),
			.goal_id = json_string_or(row, "goal", NULL),
			.assignment_id =
			    json_string_or(row, "assignment", NULL),
			.node_id = json_string_or(row, "node", NULL),
			.worker = json_string_or(row, "worker", NULL),
			.task = json_string_or(row, "task", NULL),
			.data = data,
		};
		json_object_array_add(out, plan_query_log_record(row));
	}
}

static struct json_object *
chain_of(const struct why_event *events, size_t count)
{
	struct json_object *lines = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;
	char *rest, *line;

	why_chain(events, count, clock_wall_ms(), &text);
	rest = text.data;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			json_object_array_add(
			    lines, json_object_new_string(line));
	return lines;
}

static void
add_answers(struct plan_floor *floor, struct json_object *asked,
    const struct why_event *events, size_t count)
{
	struct json_object *record = NULL;
	const char *goal_id, *node_id;
	struct why_answers answers;
	const struct plan *plan;
	const struct plan_node *node;
	struct plan_node *shown;

	if (!json_object_object_get_ex(asked, "record", &record))
		return;
	goal_id = json_string_or(record, "goalId", "");
	node_id = json_string_or(record, "workNodeId", "");
	shown = plan_node_new(goal_id, NODE_TASK, node_id, "", 0);
	if (plan_work_read(record, "", shown, NULL) < 0) {
		plan_node_free(shown);
		return;
	}
	plan = plan_set_plan(plan_floor_set(floor), goal_id);
	node = plan != NULL ? plan_find(plan, node_id) : NULL;
	json_set_string(asked, "assignment", shown->work.id);
	json_set_string(asked, "goal", goal_id);
	if (plan != NULL)
		json_set_string(asked, "goal_title", plan->goal->title);
	json_set_string(asked, "node", node_id);
	if (shown->work.worker != NULL)
		json_set_string(asked, "worker", shown->work.worker);
	if (shown->work.task != NULL)
		json_set_string(asked, "task", shown->work.task);
	json_set_string(
	    asked, "status", assignment_status_name(shown->work.status));
	why_answer(shown, node != NULL ? node->crystal : NULL, events, count,
	    clock_wall_ms(), &answers);
	json_set_string(asked, "stalled", answers.stalled);
	json_set_string(asked, "dispatch", answers.dispatch);
	json_set_string(asked, "backoff", answers.backoff);
	json_set_string(asked, "progress", answers.progress);
	why_answers_release(&answers);
	plan_node_free(shown);
}

static void
add_parked(struct json_object *asked, const struct task *t)
{
	cleanup_free char *now =
	    xasprintf("parked: %s; answer with: llmc answer %s TEXT",
		t->reason != NULL ? t->reason : "it waits for a person", t->id);

	json_set_string(asked, "now", now);
}

/* Its agent waits for an answer. What it asks is not for the other agents. */
static bool
add_question(
    const struct state *state, struct json_object *asked, const struct task *t)
{
	const struct worker *w =
	    t->worker != NULL ? state_find(state, t->worker) : NULL;

	if (w == NULL || w->asks_id == NULL)
		return false;
	json_set_string(asked, "now",
	    w->asks_person ? TASK_ASKS :
			     "it waits for an answer of another agent");
	return true;
}

/* Paused, limited, in error: why its worker does not go on with it. */
static void
add_assigned(
    const struct state *state, struct json_object *asked, const struct task *t)
{
	const struct worker *w =
	    t->worker != NULL ? state_find(state, t->worker) : NULL;
	cleanup_buf struct buf now = BUF_INIT;

	buf_adds(&now, task_step_name(t->step));
	if (w != NULL && w->reason != NULL)
		buf_addf(&now, "; %s is %s: %s", w->name,
		    worker_status_name(w->status), w->reason);
	json_set_string(asked, "now", now.data);
}

/* Without an assignment: what the state says of a task, or of a worker's. */
static void
add_task(const struct plan_floor *floor, struct json_object *asked)
{
	const struct state *state = &floor->core->state;
	const char *subject = json_string_or(asked, "subject", "");
	bool is_task = strcmp(json_string_or(asked, "kind", ""), "task") == 0;

	if (!is_task &&
	    strcmp(json_string_or(asked, "kind", ""), "worker") != 0)
		return;
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];
		const char *name = is_task ? t->id : t->worker;

		if (!text_is(name, subject))
			continue;
		if (!is_task)
			json_set_string(asked, "task", t->id);
		else if (t->worker != NULL)
			json_set_string(asked, "worker", t->worker);
		if (t->step == TASK_PARKED)
			add_parked(asked, t);
		else if (!add_question(state, asked, t) &&
		    !json_object_object_get_ex(asked, "now", NULL))
			add_assigned(state, asked, t);
	}
}

static void
answer(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked, struct json_object *rows)
{
	size_t count = json_object_array_length(rows);
	cleanup_free struct why_event *events =
	    xcalloc(count + 1, sizeof *events);
	struct json_object *records = json_object_new_array();
	const struct task *t;
	bool is_task;
	cleanup_free char *now = NULL;

	fill_events(rows, events, records);
	add_answers(floor, asked, events, count);
	is_task = strcmp(json_string_or(asked, "kind", ""), "task") == 0;
	now =
	    why_now(json_string_or(asked, "task",
			is_task ? json_string_or(asked, "subject", "") : NULL),
		json_string_or(asked, "status", NULL), events, count);
	if (now != NULL && !json_object_object_get_ex(asked, "now", NULL))
		json_set_string(asked, "now", now);
	t = state_task(&floor->core->state, json_string_or(asked, "task", ""));
	if (!json_object_object_get_ex(asked, "record", NULL))
		add_task(floor, asked);
	else if (t != NULL && t->step == TASK_PARKED)
		add_parked(asked, t);
	else if (t != NULL)
		add_question(&floor->core->state, asked, t);
	json_object_object_del(asked, "record");
	json_set(asked, "chain", chain_of(events, count));
	json_set(asked, "events", records);
	serve_show(call, json_object_get(asked));
}

/* --- what is meant --------------------------------------------------- */

/* Of several nodes of a worker or a task: the one that it has, else the one
 * that it had last. */
static const struct plan_node *
find_worked(const struct plan_set *set, bool is_worker, const char *subject)
{
	const struct plan_node *found = NULL, *node;
	struct plan_cursor cursor = { 0 };

	while ((node = plan_set_next(set, &cursor)) != NULL) {
		bool open = plan_node_is_assigned(node);

		if (!text_is(is_worker ? node->work.worker : node->work.task,
			subject))
			continue;
		if (found == NULL ||
		    (plan_node_is_assigned(found) == open ?
			    node->work.created_ms >= found->work.created_ms :
			    open))
			found = node;
	}
	return found;
}

static struct json_object *
asked_new(const char *subject, const char *kind, const struct plan_node *worked)
{
	struct json_object *asked = json_object_new_object();

	json_set_string(asked, "subject", subject);
	json_set_string(asked, "kind", kind);
	if (worked != NULL && worked->work.id != NULL)
		json_set(asked, "record", plan_work_json(worked));
	return asked;
}

/* The newest events; NULL: the call was refused. */
static struct json_object *
events_of(struct plan_floor *floor, struct server_call *call,
    struct book_filter filter)
{
	filter.newest_first = true;
	filter.limit = EVENTS_SHOWN;
	return plan_query_events(floor, call, &filter);
}

static void
answer_with(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked, struct book_filter filter)
{
	cleanup_json struct json_object *rows = events_of(floor, call, filter);

	if (rows != NULL)
		answer(floor, call, asked, rows);
}

/* --- by what it was called ------------------------------------------- */

static void
refuse_unknown(struct server_call *call, const char *subject)
{
	serve_refuse(call, API_E_UNKNOWN,
	    "nothing is known about %s; type the name of a worker, the id of a "
	    "task, or an assignment or a node that llmc goal show lists",
	    subject);
}

/* The record of this assignment, from the book. False: the call was refused. */
static bool
add_record(struct plan_floor *floor, struct server_call *call,
    struct json_object *asked, const char *id)
{
	cleanup_json struct json_object *rows =
	    plan_query_records(floor, call, BOOK_ASSIGNMENT, id);

	if (rows != NULL && json_object_array_length(rows) > 0)
		json_set(asked, "record",
		    json_object_get(json_object_array_get_idx(rows, 0)));
	return rows != NULL;
}

/* The assignment of a task whose goal has ended is in the book only; its
 * events name it. NULL = none of them does. */
static const char *
assignment_in(struct json_object *rows)
{
	size_t count = json_object_array_length(rows);
	const char *id = NULL;

	for (size_t i = 0; i < count && id == NULL; i++)
		id = json_string_or(
		    json_object_array_get_idx(rows, i), "assignment", NULL);
	return id;
}

static void
why_node(struct plan_floor *floor, struct server_call *call,
    const char *subject, const struct plan *plan, const struct plan_node *node)
{
	cleanup_json struct json_object *asked =
	    asked_new(subject, "node", node);
	cleanup_free char *now =
	    why_node_now(plan, node, floor->core->options->auto_mode);

	json_set_string(asked, "now", now);
	json_set_string(asked, "goal", plan->goal->id);
	json_set_string(asked, "goal_title", plan->goal->title);
	json_set_string(asked, "node", node->id);
	answer_with(floor, call, asked,
	    (struct book_filter){
		.goal_id = plan->goal->id, .node_id = node->id });
}

/* Several goals have the node: what to type, for the newest of them. */
static void
refuse_several(struct server_call *call, const char *node, char *const *goals)
{
	size_t count = strv_count(goals);
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; goals != NULL && i < count && i < GOALS_SHOWN; i++)
		buf_addf(&text, "%sllmc why %s/%s", i > 0 ? ", or " : "",
		    goals[count - 1 - i], node);
	serve_refuse(call, API_E_UNKNOWN,
	    "%zu goals have a node %s; type: %s%s", count, node, text.data,
	    count > GOALS_SHOWN ? ", ..." : "");
}

/* Is it the name of a node of an open goal? Several have it: the call is
 * refused. */
static bool
try_node(
    struct plan_floor *floor, struct server_call *call, const char *subject)
{
	const struct plan_set *set = plan_floor_set(floor);
	cleanup_strv char **goals = NULL;
	struct plan_node *node;
	struct plan *plan;

	if (plan_bind_find(set, subject, &plan, &node, NULL) == 0 ||
	    (plan_set_find(set, NULL, subject, &plan, &node, NULL) == 0 &&
		goal_status_open(plan->goal->status))) {
		why_node(floor, call, subject, plan, node);
		return true;
	}
	for (size_t i = 0; i < set->plan_count; i++)
		if (goal_status_open(set->plans[i]->goal->status) &&
		    plan_named(set->plans[i], subject) != NULL)
			strv_add(&goals, set->plans[i]->goal->id);
	if (goals != NULL)
		refuse_several(call, subject, goals);
	return goals != NULL;
}

/* "GOAL/NODE" of a goal that has ended, and is only in the book. */
static void
why_ended(
    struct plan_floor *floor, struct server_call *call, const char *subject)
{
	cleanup_free char *goal = xstrndup(subject, strcspn(subject, "/"));
	cleanup_json struct json_object *params = json_object_new_object();
	const struct plan_node *node;
	const struct plan *plan;

	json_set_string(params, "goal", goal);
	plan = plan_call_goal(floor, call, params);
	if (plan == NULL)
		return;
	node = plan_named(plan, subject + strcspn(subject, "/") + 1);
	if (node == NULL)
		refuse_unknown(call, subject);
	else
		why_node(floor, call, subject, plan, node);
}

/* The goals of these rows, each once. */
static char **
goals_of(struct json_object *rows, const char *key)
{
	size_t count = json_object_array_length(rows);
	char **goals = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *goal =
		    json_string_or(json_object_array_get_idx(rows, i), key, "");

		if (!plan_has(goals, goal))
			strv_add(&goals, goal);
	}
	return goals;
}

/* Nothing that is there now: what the log knows about a task, a worker or a
 * node of that name. */
static void
why_logged(struct plan_floor *floor, struct server_call *call,
    const char *subject, struct json_object *asked)
{
	const struct book_filter guesses[] = { { .task = subject },
		{ .worker = subject }, { .node_id = subject } };
	static const char *const kinds[] = { "task", "worker", "node" };

	for (size_t i = 0; i < nitems(guesses); i++) {
		cleanup_json struct json_object *rows =
		    events_of(floor, call, guesses[i]);
		cleanup_strv char **goals = NULL;

		if (rows == NULL)
			return;
		if (json_object_array_length(rows) == 0)
			continue;
		json_set_string(asked, "kind", kinds[i]);
		if (guesses[i].node_id != NULL)
			goals = goals_of(rows, "goal");
		if (strv_count(goals) > 1)
			refuse_several(call, subject, goals);
		else if (guesses[i].task == NULL ||
		    json_object_object_get_ex(asked, "record", NULL) ||
		    assignment_in(rows) == NULL ||
		    add_record(floor, call, asked, assignment_in(rows)))
			answer(floor, call, asked, rows);
		return;
	}
	refuse_unknown(call, subject);
}

/* A task, by its id or by its name at its source. */
static const char *
task_id(const struct plan_floor *floor, const char *subject)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++)
		if (strcmp(state->tasks[i]->key, subject) == 0)
			return state->tasks[i]->id;
	return subject;
}

static void
on_why(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;
	const char *subject = json_string_or(params, "subject", "");
	cleanup_json struct json_object *asked = NULL, *nodes = NULL;
	cleanup_strv char **goals = NULL;
	cleanup_free char *key = NULL;
	bool is_worker;

	if (!plan_call_begin(floor, call))
		return;
	if (text_begins(subject, "A_")) {
		cleanup_json struct json_object *rows = NULL;

		asked = asked_new(subject, "assignment", NULL);
		if (!add_record(floor, call, asked, subject))
			return;
		rows = events_of(floor, call,
		    (struct book_filter){ .assignment_id = subject });
		if (rows == NULL)
			return;
		/* Of one before the last of its node only the events are known.
		 */
		if (!json_object_object_get_ex(asked, "record", NULL) &&
		    json_object_array_length(rows) == 0)
			refuse_unknown(call, subject);
		else
			answer(floor, call, asked, rows);
		return;
	}
	if (try_node(floor, call, subject))
		return;
	is_worker = state_find(&floor->core->state, subject) != NULL;
	if (!is_worker)
		subject = task_id(floor, subject);
	if (strchr(subject, '/') != NULL) {
		why_ended(floor, call, subject);
		return;
	}
	asked = asked_new(subject, is_worker ? "worker" : "task",
	    find_worked(plan_floor_set(floor), is_worker, subject));
	if (is_worker) {
		answer_with(floor, call, asked,
		    (struct book_filter){ .worker = subject });
		return;
	}
	/* The nodes of that name, of goals that have ended. */
	nodes = plan_query_records(floor, call, BOOK_NODE, subject);
	if (nodes == NULL)
		return;
	goals = goals_of(nodes, "goalId");
	if (strv_count(goals) > 1) {
		refuse_several(call, subject, goals);
	} else if (goals != NULL) {
		key = xasprintf("%s/%s", goals[0], subject);
		why_ended(floor, call, key);
	} else {
		why_logged(floor, call, subject, asked);
	}
}

void
why_command_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.why", on_why, floor);
}
