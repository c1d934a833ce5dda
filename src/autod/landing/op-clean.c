/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "emit.h"
#include "errtext.h"
#include "git-reset.h"
#include "mem.h"
#include "op-clean.h"
#include "persist.h"
#include "salvage.h"
#include "worker-op.h"

struct op_clean {
	struct worker_op op; /* first */
	char *head, *same;
	op_clean_fn *fn;
	void *arg;
};

static void
report(struct op_clean *c, const struct err *err)
{
	emit(c->op.agent->core,
	    &(struct event){ .kind = EVENT_CLEANUP_FAILED,
		.worker = c->op.agent->worker->name,
		.reason = err->msg });
}

/* Somebody worked there after the landing began: save that first. */
static void
on_reset_clean(const struct err *err, void *arg)
{
	struct op_clean *c = arg;
	bool stale = err != NULL && err->code == -ESTALE;

	if (err != NULL && !stale)
		report(c, err);
	if (!operation_arrived(&c->op.op, NULL))
		return;
	if (stale)
		operation_next(&c->op.op);
	else
		operation_done(&c->op.op);
}

static void
step_reset_clean(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;
	struct core *core = c->op.agent->core;
	const struct worker *w = c->op.agent->worker;

	git_reset_clean(core->git, w->worktree,
	    &(struct git_reset_clean){ .branch = w->branch,
		.head = c->head,
		.onto = core_branch(core),
		.same = c->same },
	    on_reset_clean, operation_await(op));
}

static void
on_salvaged(const struct git_salvaged *saved, const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	if (!operation_arrived(&c->op.op, NULL))
		return;
	if (saved != NULL)
		operation_next(&c->op.op);
	else
		operation_done(&c->op.op);
}

static void
step_salvage(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;

	salvage_begin(c->op.agent, on_salvaged, operation_await(op));
}

static void
on_reset(const struct err *err, void *arg)
{
	struct op_clean *c = arg;

	if (err != NULL)
		report(c, err);
	operation_on_done(NULL, arg);
}

static void
step_reset(struct operation *op)
{
	struct op_clean *c = (struct op_clean *)op;
	struct core *core = c->op.agent->core;
	const struct worker *w = c->op.agent->worker;

	git_reset(core->git, w->worktree, w->branch, core_branch(core),
	    on_reset, operation_await(op));
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
	{ .name = "reset", .run = step_reset_clean, .firm = true },
	{ .name = "salvage", .run = step_salvage, .firm = true },
	{ .name = "reset-again", .run = step_reset, .firm = true },
};

static const struct operation_kind kind = {
	.name = "clean",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

void
op_clean(struct agent *agent, const char *head, const char *same,
    op_clean_fn *fn, void *arg)
{
	struct op_clean *c = xcalloc(1, sizeof *c);

	c->head = xstrdup(head);
	xstrset(&c->same, same);
	c->fn = fn;
	c->arg = arg;
	worker_op_begin(&c->op, &kind, agent, NULL);
}
