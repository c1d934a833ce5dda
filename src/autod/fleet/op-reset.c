/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "git-worktree.h"
#include "op-reset.h"
#include "salvage.h"
#include "worker-op.h"

enum {
	STEP_END_SESSION,
	STEP_FORGET,
	STEP_RESET,
	STEP_UNLOCK,
	STEP_RESET_AGAIN
};

struct reset {
	struct worker_op op;
	enum worker_status before;
};

static void
forget(struct operation *op)
{
	struct agent *agent = ((struct reset *)op)->op.agent;

	agent_move(agent, WORKER_OFFLINE, NULL);
	agent_forget(agent);
	agent->retry_ms = 0;
	operation_next(op);
}

/* Its session has ended, so nothing will release a lock any more. A git process
 * that survived had the time that git.h allows. */
static void
on_reset(const struct err *err, void *arg)
{
	struct reset *r = arg;
	struct agent *agent = r->op.agent;

	if (err == NULL || err->code != -EBUSY) {
		if (operation_arrived(&r->op.op, err))
			operation_done(&r->op.op);
		return;
	}
	if (!operation_arrived(&r->op.op, NULL))
		return;
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LOCKS_REMOVED,
		.worker = agent->worker->name,
		.reason = err->msg });
	operation_next(&r->op.op);
}

static void
reset_with(struct operation *op, git_work_fn *fn)
{
	struct reset *r = (struct reset *)op;

	worker_op_salvage(
	    &r->op, &(struct salvage_what){ .then = SALVAGE_RESET }, fn);
}

static void
reset(struct operation *op)
{
	reset_with(op, on_reset);
}

static void
unlock(struct operation *op)
{
	struct reset *r = (struct reset *)op;
	const struct worker *w = r->op.agent->worker;

	git_worktree_unlock(r->op.agent->core->git, w->worktree, w->branch,
	    operation_on_done, operation_await(op));
}

static void
reset_again(struct operation *op)
{
	reset_with(op, NULL);
}

static struct json_object *
result_of(const struct reset *r)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", r->op.agent->worker->name);
	json_set_string(
	    result, "previous_status", worker_status_name(r->before));
	json_set_string(result, "new_status", "offline");
	json_set_string(result, "salvage", r->op.salvage);
	return result;
}

static void
end(struct operation *op, const struct err *err)
{
	struct reset *r = (struct reset *)op;

	worker_op_release(&r->op);
	if (err == NULL)
		xstrset(&r->op.agent->worker->work_of, NULL);
	if (err != NULL && err->code != -ECANCELED)
		agent_move(r->op.agent, WORKER_ERROR, err->msg);
	worker_op_answer(&r->op, err, err == NULL ? result_of(r) : NULL);
	free(r);
}

static const struct operation_step steps[] = {
	[STEP_END_SESSION] = { .name = "end-session",
	    .run = worker_op_end_session },
	[STEP_FORGET] = { .name = "forget", .run = forget },
	[STEP_RESET] = { .name = "reset", .run = reset },
	[STEP_UNLOCK] = { .name = "unlock", .run = unlock },
	[STEP_RESET_AGAIN] = { .name = "reset-again", .run = reset_again },
};

static const struct operation_kind kind = {
	.name = "reset",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_reset(struct agent *agent, struct server_call *call)
{
	struct reset *r = xcalloc(1, sizeof *r);

	r->before = agent->worker->status;
	emit(agent->core,
	    &(struct event){ .kind = EVENT_WORKER_LOST,
		.worker = agent->worker->name,
		.reason = "its worker was reset" });
	worker_op_begin(&r->op, &kind, agent, call);
}
