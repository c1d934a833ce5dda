/* SPDX-License-Identifier: ISC */

/* The queue of landings, and their events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent.h"
#include "emit.h"
#include "errtext.h"
#include "json.h"
#include "landing-commands.h"
#include "landing.h"
#include "life.h"
#include "mem.h"
#include "op-land.h"
#include "persist.h"
#include "pick.h"
#include "serve.h"

/* While it waits in the queue, it does not hold its worker yet. */
struct landing {
	struct op_land land; /* first */
	TAILQ_ENTRY(landing) entry;
	struct landings *landings;
	bool begun; /* the operation is running */
};

TAILQ_HEAD(landing_queue, landing);

struct landings {
	struct core *core;
	struct fleet *fleet;
	const struct landing_policy *policy; /* NULL = none */
	void *policy_arg;
	struct landing_queue queue; /* only the first one may have begun */
	struct core_floor floor;
};

/* --- the end of a landing -------------------------------------------- */

static enum landing_result
landing_result(const struct op_land *land, const struct err *err)
{
	if (err != NULL)
		return err->code == -ECANCELED ? LANDING_CANCELLED :
						 land->failure;
	return land->conflict != NULL ? LANDING_CONFLICT : LANDING_LANDED;
}

static void
emit_end(struct core *core, const struct op_land *land, const struct err *err)
{
	struct landing_end end = {
		.agent = land->op.agent,
		.task = land->task,
		.result = landing_result(land, err),
		.err = err,
	};

	emit(core,
	    &(struct event){ .kind = EVENT_LANDING_ENDED,
		.worker = end.agent->worker->name,
		.task = end.task,
		.landing = &end });
}

static void
emit_failure(
    struct core *core, const struct op_land *land, const struct err *err)
{
	enum landing_result result = landing_result(land, err);

	if (result == LANDING_LANDED || result == LANDING_CANCELLED)
		return;
	emit(core,
	    &(struct event){ .kind = EVENT_NOT_LANDED,
		.worker = land->op.agent->worker->name,
		.task = land->task,
		.error = err != NULL ? err->msg :
				       "conflict with the default branch; the "
				       "worker resolves it" });
}

/* It has ended, or was cancelled before it began. */
static void
landing_ended(
    struct op_land *land, const struct err *err, struct json_object *answer)
{
	struct landing *l = (struct landing *)land;
	struct landings *landings = l->landings;
	struct core *core = landings->core;

	TAILQ_REMOVE(&landings->queue, l, entry);
	if (!land->rebase_only)
		emit_failure(core, land, err);
	if (err != NULL)
		serve_fail(core, land->op.call, API_FAILED, err->msg);
	else
		serve_reply(core, land->op.call, answer);
	if (!land->rebase_only)
		emit_end(core, land, err);
	op_land_release(land);
	free(l);
	landings_kick(landings);
}

static void
landing_cancel(struct landing *l, const char *reason)
{
	struct err err = { 0 };

	if (l->begun) {
		operation_cancel(&l->land.op.op, reason);
		return;
	}
	err_set(&err, -ECANCELED, "%s", reason);
	landing_ended(&l->land, &err, NULL);
}

/* --- the queue ------------------------------------------------------- */

static void
begin_next(void *arg)
{
	struct landings *landings = arg;
	struct landing *l = TAILQ_FIRST(&landings->queue);
	const struct landing_policy *policy = landings->policy;

	if (l == NULL || l->begun || landings->core->stopping ||
	    agent_is_taken(l->land.op.agent))
		return;
	if (policy != NULL && policy->may_begin != NULL &&
	    !policy->may_begin(landings->policy_arg))
		return;
	l->begun = true;
	op_land(&l->land);
}

void
landings_kick(struct landings *landings)
{
	persist_then(landings->core, landings, begin_next, landings);
}

static struct landing *
landing_new(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	struct landing *l = xcalloc(1, sizeof *l);

	l->landings = landings;
	l->land.op.agent = agent;
	l->land.op.call = call;
	l->land.failure = LANDING_FAILED;
	l->land.ended = landing_ended;
	xstrset(&l->land.task, agent->worker->task);
	return l;
}

static void
landing_queue(struct landings *landings, struct landing *l)
{
	agent_move(l->land.op.agent, WORKER_ACCEPTING, NULL);
	persist_changed(landings->core);
	TAILQ_INSERT_TAIL(&landings->queue, l, entry);
	landings_kick(landings);
}

void
landing_begin(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	if (agent->worker->accept == ACCEPT_NONE)
		agent->worker->accept = ACCEPT_PREPARE;
	landing_queue(landings, landing_new(landings, agent, call));
}

/* Without a journal: work that was not accepted must not land after a
 * restart. */
void
landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call)
{
	struct landing *l = landing_new(landings, agent, call);

	l->land.rebase_only = true;
	landing_queue(landings, l);
}

/* After a restart: finish the landing or rebase that was in progress. */
static void
landing_recover(struct landings *landings, struct agent *agent)
{
	struct landing *l = landing_new(landings, agent, NULL);

	l->land.again = true;
	l->land.rebase_only = agent->worker->accept == ACCEPT_NONE;
	/* It may already have changed files of the checkout, which would block
	 * others. */
	if (agent->worker->accept == ACCEPT_PUBLISH)
		TAILQ_INSERT_HEAD(&landings->queue, l, entry);
	else
		TAILQ_INSERT_TAIL(&landings->queue, l, entry);
	landings_kick(landings);
}

bool
landings_busy(const struct landings *landings)
{
	return !TAILQ_EMPTY(&landings->queue);
}

/* --- the floor ------------------------------------------------------- */

/* A worker loses its task: cancel its landings. */
static void
cancel_of(struct landings *landings, const char *worker, const char *why)
{
	cleanup_free char *reason =
	    xasprintf("the landing is cancelled: %s", why);
	struct landing *l, *next;

	for (l = TAILQ_FIRST(&landings->queue); l != NULL; l = next) {
		next = TAILQ_NEXT(l, entry);
		if (strcmp(l->land.op.agent->worker->name, worker) == 0)
			landing_cancel(l, reason);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	struct landings *landings = arg;
	struct agent *agent;

	if (event->kind == EVENT_WORKER_LOST) {
		cancel_of(landings, event->worker, event->reason);
	} else if (event->kind == EVENT_WORK_FINISHED) {
		agent = fleet_find(landings->fleet, event->worker);
		/* Its conflict is resolved. */
		if (agent != NULL && agent->worker->accept != ACCEPT_NONE)
			landing_begin(landings, agent, NULL);
	}
}

static void
floor_begin(void *self)
{
	struct landings *landings = self;
	struct fleet *fleet = landings->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->worker->status == WORKER_ACCEPTING)
			landing_recover(landings, fleet->agents[i]);
	life_floor_begun(landings->core);
}

/* A worker that was taken before may be free now. */
static void
floor_patrol(void *self, bool all)
{
	(void)all;
	landings_kick(self);
}

/* The workers keep their status and their journal for the next daemon. Picks
 * are cancelled by the fleet. */
static void
floor_stop(void *self)
{
	struct landings *landings = self;
	struct landing *l, *next;

	for (l = TAILQ_FIRST(&landings->queue); l != NULL; l = next) {
		next = TAILQ_NEXT(l, entry);
		l->land.left_over = true;
		landing_cancel(
		    l, "the daemon is stopping; the next one continues it");
	}
}

static bool
floor_is_quiet(const void *self)
{
	const struct landings *landings = self;
	const struct landing *l = TAILQ_FIRST(&landings->queue);

	return l == NULL || !l->begun;
}

struct landings *
landings_new(struct fleet *fleet)
{
	struct landings *landings = xcalloc(1, sizeof *landings);

	landings->core = fleet->core;
	landings->fleet = fleet;
	TAILQ_INIT(&landings->queue);
	landings->floor = (struct core_floor){
		.self = landings,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
	};
	core_add_floor(landings->core, &landings->floor);
	emit_subscribe(landings->core, on_event, landings);
	landing_commands_register(landings, fleet);
	return landings;
}

void
landings_free(struct landings *landings)
{
	const struct fleet *fleet;
	struct landing *l;

	if (landings == NULL)
		return;
	fleet = landings->fleet;
	emit_unsubscribe(landings->core, on_event, landings);
	floor_stop(landings);
	/* Git is freed next and will not answer any more. */
	while ((l = TAILQ_FIRST(&landings->queue)) != NULL)
		operation_drop(&l->land.op.op);
	for (size_t i = 0; i < fleet->count; i++)
		if (pick_of(fleet->agents[i]) != NULL)
			operation_drop(pick_of(fleet->agents[i]));
	persist_forget(landings->core, landings);
	free(landings);
}

void
landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg)
{
	landings->policy = policy;
	landings->policy_arg = arg;
}
