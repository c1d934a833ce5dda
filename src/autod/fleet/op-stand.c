/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "agent-launch.h"
#include "box.h"
#include "errtext.h"
#include "git-stand.h"
#include "mem.h"
#include "op-stand.h"
#include "persist.h"
#include "worker-op.h"

struct op_stand {
	struct worker_op op; /* first */
	bool detached; /* from now on */
};

/* A branch that does not follow would lose commits, so it is written down
 * before HEAD is detached, and forgotten after it is attached. */
static void
write_down(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (s->detached)
		s->op.agent->worker->detached = true;
	worker_op_write(op);
}

static void
set(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;
	const struct worker *w = s->op.agent->worker;

	git_stand_set(s->op.agent->core->git, w->worktree, w->branch,
	    s->detached, operation_on_done, operation_await(op));
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_stand *s = (struct op_stand *)op;
	struct agent *agent = s->op.agent;

	if (err == NULL && !s->detached) {
		agent->worker->detached = false;
		persist_changed(agent->core);
	}
	worker_op_release(&s->op);
	if (err != NULL && err->code != -ECANCELED)
		agent_launch_failed(agent, err);
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "write", .run = write_down },
	{ .name = "set", .run = set },
};

static const struct operation_kind kind = {
	.name = "stand",
	.steps = steps,
	.count = nitems(steps),
	.end = end,
};

bool
op_stand(struct agent *agent)
{
	const struct worker *w = agent->worker;
	bool detached = box_mode_of(agent->core->settings, w->name) != BOX_OFF;
	struct op_stand *s;

	if (w->detached == detached &&
	    (!detached || git_stand_is_detached(agent->core->git, w->worktree)))
		return false;
	s = xcalloc(1, sizeof *s);
	s->detached = detached;
	worker_op_begin(&s->op, &kind, agent, NULL);
	return true;
}
