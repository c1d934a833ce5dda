/* SPDX-License-Identifier: ISC */

#include <stdlib.h>

#include "emit.h"
#include "errtext.h"
#include "git-freeze.h"
#include "mem.h"
#include "op-clean.h"
#include "persist.h"
#include "salvage.h"
#include "worker-op.h"

struct op_clean {
	struct worker_op op; /* first */
	char *head, *same;
	bool queued;
	op_clean_fn *fn;
	void *arg;
};

/* The work is safe, and the next start sets the worktree back as well. */
static void
report(struct op_clean *c, const struct err *err)
{
	emit(c->op.agent->core,
	    &(struct event){ .kind = EVENT_CLEANUP_FAILED,
		.worker = c->op.agent->worker->name,
		.branch = core_branch(c->op.agent->core),
		.commit = c->head,
		.reason = err->msg });
}

static void
on_synced(const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	if (!operation_arrived(&c->op.op, NULL))
		return;
	if (err != NULL)
		operation_done(&c->op.op);
	else
		operation_next(&c->op.op);
}

static void
step_sync(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;

	if (c->queued)
		git_freeze_sync(
		    c->op.agent->core->git, on_synced, operation_await(op));
	else
		operation_next(op);
}

static void
on_reset(const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	else
		xstrset(&c->op.agent->worker->work_of, NULL);
	operation_on_done(NULL, arg);
}

static void
step_reset(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;

	worker_op_salvage(&c->op,
	    &(struct salvage_what){
		.then = SALVAGE_RESET, .head = c->head, .same = c->same },
	    on_reset);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_clean *c = (struct op_clean *)op;
	struct agent *agent = c->op.agent;

	worker_op_release(&c->op);
	if (err == NULL) {
		agent->worker->accepted = false;
		agent_move(agent,
		    agent->worker->session.ready ? WORKER_IDLE : WORKER_OFFLINE,
		    NULL);
		persist_changed(agent->core);
		c->fn(agent, c->arg);
	}
	free(c->head);
	free(c->same);
	free(c);
}

static const struct operation_step steps[] = {
	{ .name = "sync", .run = step_sync, .firm = true },
	{ .name = "reset", .run = step_reset, .firm = true },
};

static const struct operation_kind kind = {
	.name = "clean",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_clean(struct agent *agent, const struct op_clean_what *what, op_clean_fn *fn,
    void *arg)
{
	struct op_clean *c = xcalloc(1, sizeof *c);

	c->head = xstrdup(what->head);
	xstrset(&c->same, what->same);
	c->queued = what->queued;
	c->fn = fn;
	c->arg = arg;
	worker_op_begin(&c->op, &kind, agent, NULL);
}
