/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <sys/queue.h>

#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "json.h"
#include "mem.h"
#include "plan-dispatch.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-set.h"
#include "plan-tasks.h"
#include "reconcile.h"

/* A decision that waits to be stored. */
struct order {
	TAILQ_ENTRY(order) entry;
	struct plan_dispatcher *dispatcher;
	enum reconcile_kind kind;
	char *assignment, *dispatch, *reason, *text;
};

struct plan_dispatcher {
	struct plan_floor *floor;
	TAILQ_HEAD(, order) orders;
};

static void
order_free(struct order *order)
{
	TAILQ_REMOVE(&order->dispatcher->orders, order, entry);
	free(order->assignment);
	free(order->dispatch);
	free(order->reason);
	free(order->text);
	free(order);
}

/* --- results ---------------------------------------------------------- */

void
plan_dispatch_ended(struct plan_floor *floor,
    struct plan_assignment *assignment, struct plan_dispatch *dispatch,
    enum dispatch_result result, const char *reason)
{
	struct plan_persist *persist = plan_floor_persist(floor);

	dispatch->result = result;
	assignment->updated_ms = clock_wall_ms();
	plan_persist_record(
	    persist, STORE_ASSIGNMENT, assignment->goal_id, assignment->id);
	plan_persist_dispatch(persist, dispatch);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_DISPATCH_ENDED,
		.goal = assignment->goal_id,
		.node = assignment->node_id,
		.assignment = assignment->id,
		.dispatch = dispatch->id,
		.result = dispatch_result_words[result],
		.reason = reason });
}

/* --- a person --------------------------------------------------------- */

/* The event is the message: its row has a notice. */
static void
escalate(struct plan_floor *floor, struct plan_assignment *a,
    struct plan_dispatch *d, const char *reason)
{
	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_ESCALATED,
		.goal = a->goal_id,
		.node = a->node_id,
		.assignment = a->id,
		.dispatch = d->id,
		.worker = a->worker,
		.task = a->task,
		.action = d->action,
		.reason = reason });
	plan_dispatch_ended(floor, a, d, DISPATCH_ACCEPTED, NULL);
}

/* --- carrying out ----------------------------------------------------- */

static void
carry_out(struct plan_floor *floor, struct plan_assignment *a,
    struct plan_dispatch *d, const char *reason)
{
	switch (d->mode) {
	case DISPATCH_ESCALATE:
		escalate(floor, a, d, reason);
		break;
	case DISPATCH_SPAWN: /* plan-tasks offers it */
	case DISPATCH_SEND:
	case DISPATCH_MODE_COUNT:
		break;
	}
}

static void
run_order(void *arg)
{
	struct order *order = arg;
	struct plan_floor *floor = order->dispatcher->floor;
	struct plan_assignment *a =
	    plan_set_assignment(plan_floor_set(floor), order->assignment);
	struct plan_dispatch *d = a != NULL && order->dispatch != NULL ?
	    plan_assignment_find(a, order->dispatch) :
	    NULL;

	if (d != NULL && d->result == DISPATCH_PENDING)
		carry_out(floor, a, d, order->reason);
	order_free(order);
	plan_tasks_changed(floor->tasks);
}

void
plan_dispatch_then(struct plan_dispatcher *dispatcher,
    const struct reconcile_decision *decision)
{
	struct order *order = xcalloc(1, sizeof *order);

	order->dispatcher = dispatcher;
	order->kind = decision->kind;
	xstrset(&order->assignment, decision->assignment_id);
	xstrset(&order->dispatch, decision->dispatch_id);
	xstrset(&order->reason, decision->reason);
	xstrset(&order->text, decision->text);
	TAILQ_INSERT_TAIL(&dispatcher->orders, order, entry);
	plan_persist_then(plan_floor_persist(dispatcher->floor), dispatcher,
	    run_order, order);
}

/* --- life ------------------------------------------------------------- */

void
plan_dispatcher_begin(struct plan_dispatcher *dispatcher)
{
	struct plan_floor *floor = dispatcher->floor;
	const struct plan_set *set = plan_floor_set(floor);

	for (size_t i = 0; i < set->assignment_count; i++) {
		struct plan_assignment *a = set->assignments[i];
		struct plan_dispatch *d = plan_assignment_last(a);
		const struct plan_node *node = plan_set_node_of(set, a);
		const char *reason = a->blocked_reason;

		if (d == NULL || d->result != DISPATCH_PENDING)
			continue;
		if (reason == NULL && node != NULL)
			reason = node->blocked_reason;
		carry_out(floor, a, d, reason);
	}
}

struct plan_dispatcher *
plan_dispatcher_new(struct plan_floor *floor)
{
	struct plan_dispatcher *dispatcher = xcalloc(1, sizeof *dispatcher);

	dispatcher->floor = floor;
	TAILQ_INIT(&dispatcher->orders);
	return dispatcher;
}

void
plan_dispatcher_free(struct plan_dispatcher *dispatcher)
{
	struct order *order;

	if (dispatcher == NULL)
		return;
	plan_persist_forget(plan_floor_persist(dispatcher->floor), dispatcher);
	while ((order = TAILQ_FIRST(&dispatcher->orders)) != NULL)
		order_free(order);
	free(dispatcher);
}
