/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "book-history.h"
#include "emit.h"
#include "persist.h"
#include "plan-goal.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan.h"
#include "rpc.h"
#include "serve.h"
#include "workspace.h"

/* --- records ---------------------------------------------------------- */

void
plan_apply_work(struct plan_floor *floor, const struct plan_node *node)
{
	plan_book_record(floor, BOOK_ASSIGNMENT, node->goal_id, node->id);
}

void
plan_dispatch_ended(struct plan_floor *floor, struct plan_node *node,
    struct plan_dispatch *dispatch, enum dispatch_result result,
    const char *reason)
{
	dispatch->result = result;
	node->work.updated_ms = clock_wall_ms();
	plan_apply_work(floor, node);
	/* That it was given to a person is no sign that one has seen it. */
	if (dispatch->mode == DISPATCH_ESCALATE)
		return;
	emit(floor->core,
	    &(struct event){ .kind = EVENT_DISPATCH_ENDED,
		.goal = node->goal_id,
		.node = node->id,
		.assignment = node->work.id,
		.dispatch = dispatch->id,
		.action = dispatch->action,
		.result = dispatch_result_words[result],
		.reason = reason });
}

/* --- events ----------------------------------------------------------- */

static void
tell(struct plan_floor *floor, const struct reconcile_event *e)
{
	const struct event_row *row = event_row_named(e->type);
	cleanup_buf struct buf data = BUF_INIT;
	struct event event;

	if (row == NULL)
		return;
	json_print(e->data, false, &data);
	event = (struct event){
		.kind = (enum event_kind)(row - event_row((enum event_kind)0)),
		.goal = e->goal_id,
		.node = e->node_id,
		.assignment = e->assignment_id,
		.worker = e->worker,
		.task = e->task,
		.from = json_string_or(e->data, "from", NULL),
		.to = json_string_or(e->data, "to", NULL),
		.reason = json_string_or(e->data, "reason", NULL),
		.action = json_string_or(e->data, "action", NULL),
		.status = json_string_or(e->data, "status", NULL),
		.text = json_string_or(e->data, "summary", NULL),
		.dispatch = json_string_or(e->data, "dispatchId", NULL),
		.data = data.data,
	};
	emit(floor->core, &event);
}

/* --- orders ----------------------------------------------------------- */

void
plan_order(struct plan_floor *floor, const struct reconcile_decision *decision)
{
	struct plan_order *order = xcalloc(1, sizeof *order);

	order->floor = floor;
	order->kind = decision->kind;
	xstrset(&order->goal, decision->goal_id);
	xstrset(&order->node, decision->node_id);
	xstrset(&order->assignment, decision->assignment_id);
	xstrset(&order->dispatch, decision->dispatch_id);
	xstrset(&order->reason, decision->reason);
	xstrset(&order->text, decision->text);
	TAILQ_INSERT_TAIL(&floor->orders, order, entry);
	persist_request(floor->core);
}

void
plan_order_free(struct plan_order *order)
{
	TAILQ_REMOVE(&order->floor->orders, order, entry);
	free(order->goal);
	free(order->node);
	free(order->assignment);
	free(order->dispatch);
	free(order->reason);
	free(order->text);
	free(order);
}

void
plan_apply(struct plan_floor *floor, const struct reconcile_result *result)
{
	for (size_t i = 0; i < result->plan_count; i++)
		plan_book_changes(
		    floor, result->plans[i]->plan, &result->plans[i]->changes);
	for (size_t i = 0; i < result->worked_count; i++)
		plan_apply_work(floor, result->worked[i]);
	for (size_t i = 0; i < result->crystal_count; i++)
		plan_book_record(floor, BOOK_CRYSTAL,
		    result->crystals[i]->goal_id, result->crystals[i]->id);
	/* Telling a person is the dispatch itself: not before it is stored. */
	for (size_t i = 0; i < result->event_count; i++)
		if (strcmp(result->events[i].type,
			event_row(EVENT_ASSIGNMENT_ESCALATED)->name) != 0)
			tell(floor, &result->events[i]);
	for (size_t i = 0; i < result->decision_count; i++)
		plan_order(floor, &result->decisions[i]);
}

/* --- edits ------------------------------------------------------------ */

static void
plan_apply_revision(struct plan_floor *floor, const struct plan_goal *goal,
    const struct plan_revision *r)
{
	cleanup_json struct json_object *json = plan_revision_to_json(r);
	cleanup_buf struct buf data = BUF_INIT;

	json_set(json, "meta",
	    plan_meta_json(goal,
		&(struct plan_meta){ .version = r->version,
		    .actor = r->actor,
		    .root = floor->core->workspace->root }));
	json_print(json, false, &data);
	emit(floor->core,
	    &(struct event){ .kind = r->version == 1 ? EVENT_PLAN_CREATED :
						       EVENT_PLAN_UPDATED,
		.goal = goal->id,
		.count = r->version,
		.text = r->what,
		.actor = r->actor,
		.reason = r->why,
		.data = data.data });
}

/* If it is not the one before. */
static void
plan_apply_status(struct plan_floor *floor, const struct plan *plan,
    enum goal_status before, const char *actor, const char *reason)
{
	const struct plan_goal *goal = plan->goal;
	cleanup_buf struct buf undone = BUF_INIT;

	if (goal->status == before)
		return;
	plan_summary_undone(plan, &undone);
	emit(floor->core,
	    &(struct event){
		.kind = (enum event_kind)(EVENT_GOAL_ACTIVE + goal->status),
		.goal = goal->id,
		.from = goal_status_name(before),
		.to = goal_status_name(goal->status),
		.actor = actor,
		.reason = undone.len > 0 ? undone.data : reason });
}

/* --- changes --------------------------------------------------------- */

struct node_before {
	char *id; /* an edit may free the node */
	enum node_status status;
};

void
plan_change_begin(struct plan_change *c, struct plan_floor *floor,
    struct plan *plan, const char *why)
{
	*c = (struct plan_change){ .floor = floor,
		.plan = plan,
		.status = plan->goal->status,
		.version = plan->goal->version };
	c->edit = (struct plan_edit){ .plan = plan,
		.actor = PLAN_CHANGE_PERSON,
		.why = why,
		.now_ms = clock_wall_ms(),
		.changes = &c->changes };
	c->nodes = xcalloc(plan->count + 1, sizeof *c->nodes);
	for (size_t i = 0; i < plan->count; i++) {
		c->nodes[i].id = xstrdup(plan->nodes[i]->id);
		c->nodes[i].status = plan->nodes[i]->status;
		strmap_add(&c->by_id, c->nodes[i].id, &c->nodes[i]);
	}
}

void
plan_change_drop(struct plan_change *c)
{
	strmap_release(&c->by_id);
	for (size_t i = 0; c->nodes != NULL && c->nodes[i].id != NULL; i++)
		free(c->nodes[i].id);
	free(take_ptr(&c->nodes));
	plan_changes_release(&c->changes);
}

static void
tell_node(const struct plan_change *c, const struct plan_node *node)
{
	const struct node_before *before = strmap_get(&c->by_id, node->id);
	enum node_status from = before != NULL ? before->status : NODE_TODO;
	char *const *commits = node->evidence.commits;

	if (node->status == from)
		return;
	emit(c->floor->core,
	    &(struct event){
		.kind = (enum event_kind)(EVENT_NODE_TODO + node->status),
		.goal = node->goal_id,
		.node = node->id,
		.from = node_status_name(from),
		.to = node_status_name(node->status),
		.commit = node->status == NODE_DONE && commits != NULL ?
		    commits[0] :
		    NULL,
		.actor = c->edit.actor,
		.reason = node->status == NODE_BLOCKED ? node->blocked_reason :
							 c->edit.why });
}

void
plan_change_end(struct plan_change *c)
{
	const struct plan_goal *goal = c->plan->goal;

	plan_ready_queue(c->plan, c->edit.now_ms, &c->changes);
	c->changes.goal = true;
	plan_book_changes(c->floor, c->plan, &c->changes);
	for (size_t i = 0; i < goal->revision_count; i++)
		if (goal->revisions[i].version > c->version)
			plan_apply_revision(
			    c->floor, goal, &goal->revisions[i]);
	for (size_t i = 0; i < c->changes.count; i++)
		tell_node(c, c->changes.nodes[i]);
	plan_apply_status(
	    c->floor, c->plan, c->status, c->edit.actor, c->edit.why);
	plan_change_drop(c);
}

int
plan_change_node(struct plan_floor *floor, const struct plan_node *node,
    plan_edit_fn *edit, const char *actor, const char *why, struct err *err)
{
	struct plan *plan = plan_set_plan(plan_floor_set(floor), node->goal_id);
	struct plan_change c;
	int r;

	plan_change_begin(&c, floor, plan, why);
	c.edit.actor = actor;
	r = edit(&c.edit, node->id, err);
	if (r < 0)
		plan_change_drop(&c);
	else
		plan_change_end(&c);
	return r;
}

/* --- calls ----------------------------------------------------------- */

#define SHOWN_MAX    5 /* goals that a message lists */
#define PART_MIN     4 /* letters of an id that can stand for it */
#define SEARCHED_MAX 2000 /* goals that have ended, the newest */

/* A call that is answered after the commit. */
struct wait {
	TAILQ_ENTRY(wait) entry;
	struct plan_calls *calls;
	struct server_call *call;
	struct json_object *result;
	char *goal_id; /* NULL = of none */
};

TAILQ_HEAD(waits, wait);

struct plan_calls {
	struct plan_floor *floor;
	struct waits waiting;
};

static void
wait_free(struct wait *w)
{
	TAILQ_REMOVE(&w->calls->waiting, w, entry);
	json_object_put(w->result);
	free(w->goal_id);
	free(w);
}

/* --- answers ----------------------------------------------------------- */

static void
on_committed(void *arg)
{
	struct wait *w = arg;

	serve_show(w->call, take_ptr(&w->result));
	wait_free(w);
}

void
plan_call_answer(struct plan_floor *floor, struct server_call *call,
    const char *goal_id, struct json_object *result)
{
	struct wait *w = xcalloc(1, sizeof *w);

	w->calls = floor->calls;
	w->call = call;
	w->result = result;
	xstrset(&w->goal_id, goal_id);
	TAILQ_INSERT_TAIL(&floor->calls->waiting, w, entry);
	persist_then(floor->core, w, on_committed, w);
}

/* goal_id NULL = all. */
static void
refuse(struct plan_calls *calls, const char *goal_id, const char *words)
{
	struct wait *w = NULL, *next;

	TAILQ_FOREACH_SAFE(w, &calls->waiting, entry, next)
	{
		if (goal_id != NULL && !text_is(w->goal_id, goal_id))
			continue;
		persist_forget(calls->floor->core, w);
		serve_refuse(w->call, API_FAILED, "%s", words);
		wait_free(w);
	}
}

/* The book cannot be written: it may take long until it can. A command without
 * a daemon ends, and what it changed with it. */
static void
on_event(const struct event *event, void *arg)
{
	struct plan_calls *calls = arg;
	cleanup_free char *words = NULL;

	if (event->kind == EVENT_STORE_REFUSED) {
		words = xasprintf(
		    "it could not be stored, and nothing was changed: %s",
		    event->reason);
		refuse(calls, event->goal, words);
		return;
	}
	if (event->kind != EVENT_STORE_UNWRITTEN)
		return;
	words = xasprintf("the book cannot be written%s: %s",
	    calls->floor->core->options->oneshot ?
		", and nothing was changed" :
		" now; the change is kept, and stored as soon as it can be",
	    event->reason);
	refuse(calls, NULL, words);
}

/* --- life ------------------------------------------------------------ */

struct plan_calls *
plan_calls_new(struct plan_floor *floor)
{
	struct plan_calls *calls = xcalloc(1, sizeof *calls);

	calls->floor = floor;
	TAILQ_INIT(&calls->waiting);
	emit_subscribe(floor->core, on_event, calls);
	return calls;
}

void
plan_calls_closed(struct plan_calls *calls)
{
	refuse(calls, NULL,
	    "the plans were closed before this was saved; type: llmc goal "
	    "list");
}

void
plan_calls_free(struct plan_calls *calls)
{
	if (calls == NULL)
		return;
	emit_unsubscribe(calls->floor->core, on_event, calls);
	plan_calls_closed(calls);
	free(calls);
}

/* --- may it? --------------------------------------------------------- */

bool
plan_call_begin(struct plan_floor *floor, struct server_call *call)
{
	switch (floor->state) {
	case PLAN_OPEN:
		return true;
	case PLAN_OFF:
		serve_refuse(call, API_FAILED,
		    "goals are off; turn them on with: llmc config set "
		    "plan.enabled true%s",
		    floor->core->options->oneshot ?
			"" :
			", then restart the daemon");
		break;
	case PLAN_SAFE:
		serve_refuse(call, API_FAILED, "goals are off: %s", floor->why);
		break;
	}
	return false;
}

bool
plan_call_begin_change(struct plan_floor *floor, struct server_call *call)
{
	struct err err = { 0 };

	if (!plan_call_begin(floor, call))
		return false;
	if (persist_ready(floor->core, &err) == 0)
		return true;
	serve_refuse(call, API_FAILED,
	    "the book cannot be written, so no plan is changed now: %s",
	    err.msg);
	return false;
}

void
plan_call_refuse(struct server_call *call, const struct err *err)
{
	bool known = err->code == RPC_INVALID_PARAMS ||
	    (err->code <= API_FAILED && err->code >= API_E_RATE);

	serve_refuse(call, known ? err->code : API_FAILED, "%s", err->msg);
}

/* --- goals ----------------------------------------------------------- */

/* Ids of goals that a word may mean. */
struct matches {
	const char *word;
	int missing; /* the code if it means none */
	const char *exact;
	const char *first;
	size_t count;
	struct buf shown;
};

static void
match(struct matches *m, const char *id, const char *title)
{
	if (strcmp(id, m->word) == 0)
		m->exact = id;
	if (strlen(m->word) < PART_MIN || strcasestr(id, m->word) == NULL)
		return;
	if (m->count++ == 0)
		m->first = id;
	if (m->count <= SHOWN_MAX)
		buf_addf(&m->shown, "%s%s (%.40s)", m->count > 1 ? ", " : "",
		    id, title);
}

static const char *
matched(const struct matches *m)
{
	if (m->exact != NULL)
		return m->exact;
	return m->count == 1 ? m->first : NULL;
}

static bool
on_goal(const struct book_record *record, void *arg)
{
	struct json_object *json = NULL;

	if (json_parse(record->body, strlen(record->body), BOOK_GOAL_MAX, &json,
		NULL) == 0)
		json_object_array_add(arg, json);
	return true;
}

struct search {
	const struct plan_floor *floor;
	const char *part; /* of an id */
	struct json_object *goals;
	struct err *err;
	int r;
};

static bool
on_id(struct book_row *row, void *arg)
{
	const char *id = book_text(row, 0);
	struct search *s = arg;

	if (strcasestr(id, s->part) != NULL &&
	    plan_set_plan(plan_floor_set(s->floor), id) == NULL)
		s->r = book_read_bodies(s->floor->core->book, BOOK_GOAL, NULL,
		    id, on_goal, s->goals, s->err);
	return s->r == 0 && json_object_array_length(s->goals) <= SHOWN_MAX;
}

/* Goals with this part in their ids that have ended and are not in memory, the
 * newest first: an array for the caller to free. NULL: the call was refused.
 * The ids are in an index, and no more goals are read than are shown. */
static struct json_object *
search(
    const struct plan_floor *floor, struct server_call *call, const char *part)
{
	struct json_object *goals = json_object_new_array();
	struct err err = { 0 };
	struct search s = { floor, part, goals, &err, 0 };
	int r = book_query(floor->core->book,
	    "SELECT g.id FROM goals AS g WHERE g.ended_ms > 0"
	    " ORDER BY g.ended_ms DESC LIMIT $1",
	    BOOK_VALUES(BOOK_I(SEARCHED_MAX)), on_id, &s, &err);

	if (r == 0 && s.r == 0)
		return goals;
	json_object_put(goals);
	plan_call_refuse(call, &err);
	return NULL;
}

static struct plan *
find_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, int missing)
{
	const struct plan_set *set = plan_floor_set(floor);
	struct matches m = { .word = json_string_or(params, "goal", ""),
		.missing = missing,
		.shown = BUF_INIT };
	cleanup_json struct json_object *ended = NULL;
	struct plan *plan = NULL;
	struct err err = { 0 };

	plan = plan_book_plan(floor, m.word, &err);
	if (plan != NULL)
		return plan;
	err = (struct err){ 0 };
	for (size_t i = 0; i < set->plan_count; i++)
		match(&m, set->plans[i]->goal->id, set->plans[i]->goal->title);
	if (matched(&m) == NULL && m.count == 0) {
		plan = plan_book_plan(floor, m.word, &err);
		if (plan != NULL)
			return plan;
		err = (struct err){ 0 };
		ended = strlen(m.word) < PART_MIN ? json_object_new_array() :
						    search(floor, call, m.word);
		if (ended == NULL)
			return NULL;
		for (size_t i = 0; i < json_object_array_length(ended); i++) {
			struct json_object *goal =
			    json_object_array_get_idx(ended, i);

			match(&m, json_string_or(goal, "goalId", ""),
			    json_string_or(goal, "title", ""));
		}
	}
	if (matched(&m) == NULL) {
		if (m.count == 0)
			serve_refuse(call, m.missing,
			    "there is no goal %s; see: llmc goal list --all",
			    m.word);
		else
			serve_refuse(call, m.missing,
			    "%s can be several goals; type more of the id: %s%s",
			    m.word, m.shown.data,
			    m.count > SHOWN_MAX ? ", ..." : "");
	} else {
		plan = plan_book_plan(floor, matched(&m), &err);
	}
	if (matched(&m) != NULL && plan == NULL)
		plan_call_refuse(call, &err);
	buf_release(&m.shown);
	return plan;
}

struct plan *
plan_call_goal(struct plan_floor *floor, struct server_call *call,
    struct json_object *params)
{
	return find_goal(floor, call, params, API_E_UNKNOWN);
}

bool
plan_call_begin_maybe(struct plan_floor *floor, struct server_call *call,
    struct json_object *params, const struct plan **ret)
{
	*ret = NULL;
	if (!plan_call_begin(floor, call))
		return false;
	if (json_string_or(params, "goal", NULL) == NULL)
		return true;
	*ret = plan_call_goal(floor, call, params);
	return *ret != NULL;
}

struct plan *
plan_call_plan(struct plan_floor *floor, struct server_call *call,
    struct json_object *params)
{
	return find_goal(floor, call, params, API_E_NOT_FOUND);
}
