/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent.h"
#include "auto.h"
#include "emit.h"
#include "fleet.h"
#include "loop.h"
#include "worker-op.h"
#include "persist.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan.h"

#define REPLANS_MAX 3 /* times that the planner is asked about a node */

struct plan_dispatcher {
	struct plan_floor *floor;
	bool begun;
	bool waiting; /* a message waits for its worker */
	struct loop_call *again;
};

/* What a worker is marked with that was given the dispatch, and the receipt of
 * a person's; another one if it was sent again. */
static char *
mark_of(const struct plan_dispatch *d)
{
	return xasprintf("%s%s", d->id, d->notes != NULL ? "+" : "");
}

/* --- a person --------------------------------------------------------- */

/* The event is the message: its row has a notice, which is sent once for each
 * receipt. */
static void
escalate(struct plan_floor *floor, struct plan_node *node,
    struct plan_dispatch *d, const char *reason)
{
	cleanup_free char *receipt = mark_of(d);

	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_ESCALATED,
		.goal = node->goal_id,
		.node = node->id,
		.assignment = node->work.id,
		.dispatch = d->id,
		.receipt = receipt,
		.worker = node->work.worker,
		.task = node->work.task,
		.action = d->action,
		.reason = reason });
	plan_dispatch_ended(floor, node, d, DISPATCH_ACCEPTED, NULL);
}

/* --- a worker --------------------------------------------------------- */

/* Not now, but soon: its session is starting, or something is done to it. */
static bool
is_taken(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return agent_is_taken(agent) || w->status == WORKER_OFFLINE ||
	    w->status == WORKER_STARTING || w->status == WORKER_LIMITED;
}

static bool
is_given(const struct worker *w, const struct plan_dispatch *d)
{
	cleanup_free char *mark = mark_of(d);

	return text_is(w->dispatch, mark);
}

/* NULL = it may get a message. */
static const char *
why_not(const struct agent *agent)
{
	const struct worker *w;

	if (agent == NULL)
		return "its worker is gone";
	w = agent->worker;
	if (w->session.busy || w->session.step != PROMPT_NONE)
		return "a turn is running";
	if (worker_holds(w) != 0)
		return "its worker is paused";
	if (w->status == WORKER_NEEDS_REVIEW)
		return "its work waits to be accepted";
	if (w->status == WORKER_IDLE ? worker_is_auto(w->name) :
				       !agent_message_fits(agent))
		return "its worker cannot take a message";
	return NULL;
}

/* A worker without a task begins with a fresh worktree. */
static void
give(struct agent *agent, const char *text)
{
	struct worker *w = agent->worker;

	if (w->status != WORKER_IDLE) {
		agent_message(agent, text);
		return;
	}
	xstrset(&w->prompt, text);
	xstrset(&w->prompt_command, AUTO_PLAN_SOURCE);
	w->self_review = agent_flag(agent, "self_review");
	w->self_reviewed = false;
	if (agent_move(agent, WORKER_STARTING, NULL) == 0)
		op_start(agent, NULL);
}

/* What has ended gets no message, and what is held back gets it later. */
static bool
is_wanted(struct plan_dispatcher *dispatcher, struct plan_node *node,
    struct plan_dispatch *d)
{
	const struct plan_set *set = plan_floor_set(dispatcher->floor);
	const struct plan *plan = plan_set_plan(set, node->goal_id);
	const char *why = plan_why_unwanted(plan, node, true);

	if (why != NULL) {
		plan_dispatch_ended(
		    dispatcher->floor, node, d, DISPATCH_ERROR, why);
		return false;
	}
	if (!plan_node_held_back(plan, node))
		return true;
	dispatcher->waiting = true;
	return false;
}

/* The id of the dispatch is saved with the prompt: the next daemon knows by it
 * that the worker has it. */
static void
send(struct plan_dispatcher *dispatcher, struct plan_node *node,
    struct plan_dispatch *d, const char *text)
{
	struct plan_floor *floor = dispatcher->floor;
	const char *worker = node->work.worker;
	struct agent *agent =
	    worker != NULL ? fleet_find(floor->fleet, worker) : NULL;
	cleanup_buf struct buf words = BUF_INIT;
	const char *why;

	if (agent != NULL && is_given(agent->worker, d)) {
		if (agent->worker->session.step == PROMPT_NONE &&
		    agent->worker->status != WORKER_STARTING)
			plan_dispatch_ended(
			    floor, node, d, DISPATCH_ACCEPTED, NULL);
		return;
	}
	if (!is_wanted(dispatcher, node, d))
		return;
	if (agent != NULL && is_taken(agent)) {
		dispatcher->waiting = true;
		return;
	}
	why = why_not(agent);
	if (why != NULL || agent == NULL) {
		plan_dispatch_ended(floor, node, d, DISPATCH_ERROR, why);
		return;
	}
	if (text == NULL) /* what the decision said */
		reconcile_dispatch_text(plan_floor_set(floor), node, d, &words);
	free(agent->worker->dispatch);
	agent->worker->dispatch = mark_of(d);
	give(agent, text != NULL ? text : words.data);
	persist_changed(floor->core);
}

/* --- carrying out ----------------------------------------------------- */

/* text: NULL = as it must have been. */
static void
carry_out(struct plan_dispatcher *dispatcher, struct plan_node *node,
    struct plan_dispatch *d, const char *reason, const char *text)
{
	switch (d->mode) {
	case DISPATCH_ESCALATE:
		escalate(dispatcher->floor, node, d, reason);
		break;
	case DISPATCH_SEND:
		send(dispatcher, node, d, text);
		break;
	case DISPATCH_SPAWN: /* plan-tasks offers it */
	case DISPATCH_MODE_COUNT:
		break;
	}
}

/* --- after a change --------------------------------------------------- */

/* A message that waits may be sent now, or is not wanted any more. */
static void
look(struct plan_dispatcher *dispatcher)
{
	if (dispatcher->begun && dispatcher->waiting)
		loop_call_request(dispatcher->again);
}

void
plan_floor_changed(struct plan_floor *floor)
{
	plan_tasks_changed(floor->tasks);
	if (floor->dispatcher != NULL)
		look(floor->dispatcher);
	if (floor->tick != NULL)
		plan_tick_wake(floor->tick, "plan changed");
}

/* --- another plan ----------------------------------------------------- */

/* The node has no worker while it is divided: its worker's work is salvaged.
 * Without an answer the next step of the ladder comes. */
static void
on_replanned(struct plan *next, const struct err *err, void *arg)
{
	struct plan_order *order = arg;
	struct plan_floor *floor = order->floor;
	struct plan_node *node = plan_set_assigned(
	    plan_floor_set(floor), order->goal, order->node, order->assignment);

	if (node != NULL &&
	    (next == NULL || node->work.status != ASSIGNMENT_STALLED)) {
		emit(floor->core,
		    &(struct event){ .kind = EVENT_ACTION,
			.goal = node->goal_id,
			.node = node->id,
			.assignment = node->work.id,
			.worker = node->work.worker,
			.action = "not divided",
			.reason = next == NULL ? err->msg :
						 "it makes progress again" });
	} else if (node != NULL) {
		plan_bind_release(floor, node, "its node is planned anew");
		planner_apply(
		    floor->planner, next, order->node, order->reason, NULL);
	}
	plan_free(next);
	plan_order_free(order);
	plan_floor_changed(floor);
}

/* All attempts at the node have failed, and the planner cannot help. */
static void
block(struct plan_floor *floor, struct plan *plan, struct plan_node *node,
    const char *why, const char *fault)
{
	cleanup_free char *receipt =
	    xasprintf("replan/%s/%s", node->goal_id, node->id);
	cleanup_free char *reason =
	    xasprintf("%s\nThe planner could not plan it anew: %s", why, fault);

	plan_bind_move_node(floor, plan, node, NODE_BLOCKED, reason);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_ESCALATED,
		.goal = node->goal_id,
		.node = node->id,
		.receipt = receipt,
		.reason = reason });
}

/* The node is in progress until then, without a worker. A person may have done
 * something else with it meanwhile. */
static void
on_node_replanned(struct plan *next, const struct err *err, void *arg)
{
	struct plan_order *order = arg;
	struct plan_floor *floor = order->floor;
	struct plan *plan = plan_set_plan(plan_floor_set(floor), order->goal);
	struct plan_node *node =
	    plan != NULL ? plan_find(plan, order->node) : NULL;
	cleanup_free char *why =
	    node != NULL ? take_ptr(&node->replan_why) : NULL;
	struct err fault = { 0 };

	if (why != NULL)
		plan_book_record(floor, BOOK_NODE, node->goal_id, node->id);
	if (why != NULL && node->status == NODE_IN_PROGRESS &&
	    !plan_node_is_assigned(node)) {
		if (next != NULL) {
			plan_bind_move_node(floor, plan, node, NODE_QUEUED,
			    "it is planned anew");
			planner_apply(
			    floor->planner, next, node->id, why, &fault);
		} else {
			fault = *err;
		}
		if (fault.code != 0)
			block(floor, plan, node, why, fault.msg);
	}
	plan_free(next);
	plan_order_free(order);
	plan_floor_changed(floor);
}

/* False: the order is not needed any more. */
static bool
replan(struct plan_order *order, bool assigned)
{
	struct plan_dispatcher *dispatcher = order->floor->dispatcher;
	struct plan_floor *floor = dispatcher->floor;
	const struct plan *plan =
	    plan_set_plan(plan_floor_set(floor), order->goal);
	struct plan_node *node =
	    plan != NULL ? plan_find(plan, order->node) : NULL;
	int r;

	if (order->kind != RECONCILE_REPLAN || floor->planner == NULL ||
	    node == NULL)
		return false;
	if (node->replan_why == NULL)
		return assigned &&
		    planner_replan(floor->planner, order->goal, order->node,
			order->reason, on_replanned, order, NULL) == 0;
	r = planner_replan(floor->planner, order->goal, order->node,
	    node->replan_why, on_node_replanned, order, NULL);
	if (r < 0)
		dispatcher->waiting = true;
	if (r == -EAGAIN && node->replans > 0)
		node->replans--; /* it was not asked */
	return r == 0;
}

static void
run_order(void *arg)
{
	struct plan_order *order = arg;
	struct plan_floor *floor = order->floor;
	struct plan_node *node = plan_set_assigned(
	    plan_floor_set(floor), order->goal, order->node, order->assignment);
	struct plan_dispatch *d = node != NULL && order->dispatch != NULL ?
	    plan_node_find_dispatch(node, order->dispatch) :
	    NULL;

	if (d != NULL && d->result == DISPATCH_PENDING)
		carry_out(order->floor->dispatcher, node, d, order->reason,
		    order->text);
	if (!replan(order, node != NULL))
		plan_order_free(order);
	plan_tasks_changed(floor->tasks);
}

void
plan_dispatcher_order(struct plan_dispatcher *dispatcher)
{
	struct plan_order *order = NULL;

	TAILQ_FOREACH (order, &dispatcher->floor->orders, entry) {
		if (order->given)
			continue;
		order->given = true;
		persist_then(
		    dispatcher->floor->core, dispatcher, run_order, order);
	}
}

/* --- what is stored only ---------------------------------------------- */

static bool
is_replanning(
    const struct plan_dispatcher *dispatcher, const struct plan_node *node)
{
	const struct plan_order *order;

	TAILQ_FOREACH (order, &dispatcher->floor->orders, entry)
		if (order->kind == RECONCILE_REPLAN &&
		    strcmp(order->goal, node->goal_id) == 0 &&
		    strcmp(order->node, node->id) == 0)
			return true;
	return false;
}

/* The planner is to be asked, and is not: the daemon that asked it is gone, or
 * it had too much to do. */
static void
resume_replans(struct plan_dispatcher *dispatcher, struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct plan_node *node = plan->nodes[i];

		if (node->replan_why == NULL || is_replanning(dispatcher, node))
			continue;
		if (node->status != NODE_IN_PROGRESS) {
			xstrset(&node->replan_why, NULL);
			plan_book_record(dispatcher->floor, BOOK_NODE,
			    node->goal_id, node->id);
			continue;
		}
		if (node->replans++ >= REPLANS_MAX) {
			cleanup_free char *why = take_ptr(&node->replan_why);

			block(dispatcher->floor, plan, node, why,
			    "the planner, or the daemon with it, was ended "
			    "each time");
			continue;
		}
		plan_book_record(
		    dispatcher->floor, BOOK_NODE, node->goal_id, node->id);
		plan_order(dispatcher->floor,
		    &(struct reconcile_decision){ .kind = RECONCILE_REPLAN,
			.goal_id = node->goal_id,
			.node_id = node->id });
	}
}

/* Is it about to be carried out anyway? */
static bool
is_ordered(const struct plan_dispatcher *dispatcher, const char *dispatch)
{
	const struct plan_order *order;

	TAILQ_FOREACH (order, &dispatcher->floor->orders, entry)
		if (text_is(order->dispatch, dispatch))
			return true;
	return false;
}

static void
resume(struct plan_dispatcher *dispatcher)
{
	const struct plan_set *set = plan_floor_set(dispatcher->floor);
	struct plan_cursor cursor = { 0 };
	struct plan_node *node;

	dispatcher->waiting = false;
	for (size_t i = 0; i < set->plan_count; i++)
		resume_replans(dispatcher, set->plans[i]);
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		struct plan_dispatch *d = plan_node_last_dispatch(node);
		const char *reason = node->work.blocked_reason;

		if (d == NULL || d->result != DISPATCH_PENDING ||
		    is_ordered(dispatcher, d->id))
			continue;
		carry_out(dispatcher, node, d,
		    reason != NULL ? reason : node->blocked_reason, NULL);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	struct plan_dispatcher *dispatcher = arg;

	if (!dispatcher->begun || event->worker == NULL)
		return;
	if (event->kind == EVENT_PROMPT_SUBMITTED) {
		const char *name = event->worker;
		const struct plan_set *set = plan_floor_set(dispatcher->floor);
		const struct worker *w =
		    state_find(&dispatcher->floor->core->state, name);
		struct plan_cursor cursor = { 0 };
		struct plan_node *node;

		if (w == NULL || w->dispatch == NULL)
			return;
		while ((node = plan_set_next(set, &cursor)) != NULL) {
			struct plan_dispatch *d = plan_node_last_dispatch(node);

			if (d != NULL && d->result == DISPATCH_PENDING &&
			    is_given(w, d))
				plan_dispatch_ended(dispatcher->floor, node, d,
				    DISPATCH_ACCEPTED, NULL);
		}
	} else if (event->kind == EVENT_WORKER_MOVED) {
		look(dispatcher);
	}
}

static void
on_pass_end(void *arg)
{
	resume(arg);
}

/* --- life ------------------------------------------------------------- */

void
plan_dispatcher_begin(struct plan_dispatcher *dispatcher)
{
	dispatcher->begun = true;
	resume(dispatcher);
}

struct plan_dispatcher *
plan_dispatcher_new(struct plan_floor *floor)
{
	struct plan_dispatcher *dispatcher = xcalloc(1, sizeof *dispatcher);

	dispatcher->floor = floor;
	dispatcher->again =
	    loop_call_new(floor->core->loop, on_pass_end, dispatcher);
	emit_subscribe(floor->core, on_event, dispatcher);
	return dispatcher;
}

void
plan_dispatcher_free(struct plan_dispatcher *dispatcher)
{
	struct plan_order *order;

	if (dispatcher == NULL)
		return;
	emit_unsubscribe(dispatcher->floor->core, on_event, dispatcher);
	loop_call_free(dispatcher->again);
	persist_forget(dispatcher->floor->core, dispatcher);
	while ((order = TAILQ_FIRST(&dispatcher->floor->orders)) != NULL) {
		if (dispatcher->floor->planner != NULL)
			planner_forget(dispatcher->floor->planner, order);
		plan_order_free(order);
	}
	free(dispatcher);
}
