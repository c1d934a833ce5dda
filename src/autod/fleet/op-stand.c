/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "agent-launch.h"
#include "box.h"
#include "errtext.h"
#include "git-clone.h"
#include "git-stand.h"
#include "git-turn.h"
#include "mem.h"
#include "op-stand.h"
#include "persist.h"
#include "salvage.h"
#include "worker-op.h"
#include "worker-tree.h"
#include "workspace.h"

struct op_stand {
	struct worker_op op; /* first */
	bool detached, clone; /* from now on */
	char stamp[SALVAGE_STAMP_SIZE];
};

/* A branch that does not follow would lose commits, so it is written down
 * before HEAD is detached, and forgotten after it is attached. The same for a
 * clone, which is one when its .git is a folder (worker-tree.h). */
static void
write_down(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (s->detached)
		s->op.agent->worker->detached = true;
	if (s->clone)
		s->op.agent->worker->clone = true;
	worker_op_write(op);
}

static void
turn(struct op_stand *s, bool clone)
{
	const struct worker *w = s->op.agent->worker;
	struct git *git = s->op.agent->core->git;
	cleanup_free char *keep = NULL;
	struct git_salvage place;
	struct git_turn what = { .branch = w->branch,
		.onto = core_branch(s->op.agent->core) };

	salvage_place(s->op.agent, false, s->stamp, &place);
	keep = xasprintf("refs/llmc/salvage/%s/%s-refs", w->name, place.stamp);
	what.keep = keep;
	operation_await(&s->op.op);
	if (clone)
		git_turn_to_clone(
		    git, w->worktree, &what, operation_on_done, &s->op.op);
	else
		git_turn_to_worktree(
		    git, w->worktree, &what, operation_on_done, &s->op.op);
}

/* Back to a worktree, before HEAD can be on a branch of the repository. */
static void
turn_back(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (!s->clone && worker_tree_is_clone(s->op.agent->worker))
		turn(s, false);
	else
		operation_next(op);
}

static void
turn_to_clone(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;

	if (s->clone && !worker_tree_is_clone(s->op.agent->worker))
		turn(s, true);
	else
		operation_next(op);
}

static void
set(struct operation *op)
{
	struct op_stand *s = (struct op_stand *)op;
	const struct worker *w = s->op.agent->worker;

	if (worker_tree_is_clone(w)) {
		operation_next(op);
		return;
	}
	git_stand_set(s->op.agent->core->git, w->worktree, w->branch,
	    s->detached, operation_on_done, operation_await(op));
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_stand *s = (struct op_stand *)op;
	struct agent *agent = s->op.agent;

	/* Its worktree cannot become one: only strict insists. */
	if (err != NULL && err->code == -ENOTSUP && s->clone &&
	    box_mode_of(agent->core->settings, agent->worker->name) !=
		BOX_STRICT) {
		agent->no_clone = true;
		s->clone = false;
		err = NULL;
	}
	if (err == NULL) {
		agent->worker->detached = s->detached;
		agent->worker->clone = s->clone;
		persist_changed(agent->core);
	}
	worker_op_release(&s->op);
	if (err != NULL && err->code != -ECANCELED)
		agent_launch_failed(agent, err);
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "write", .run = write_down },
	{ .name = "turn-back", .run = turn_back },
	{ .name = "set", .run = set },
	{ .name = "turn", .run = turn_to_clone },
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
	enum box_mode mode = box_mode_of(agent->core->settings, w->name);
	/* Objects of the repository are read-only in a clone. */
	bool detached = mode != BOX_OFF,
	     clone = mode == BOX_STRICT ||
	    (mode == BOX_WORKTREE && !agent->no_clone &&
		git_clone_suits(agent->core->workspace->git_dir));
	struct op_stand *s;

	if (w->detached == detached && w->clone == clone &&
	    worker_tree_is_clone(w) == clone &&
	    (!detached || git_stand_is_detached(agent->core->git, w->worktree)))
		return false;
	s = xcalloc(1, sizeof *s);
	s->detached = detached;
	s->clone = clone;
	worker_op_begin(&s->op, &kind, agent, NULL);
	return true;
}
