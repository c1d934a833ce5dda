/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "landing-private.h"
#include "persist.h"
#include "prompt.h"
#include "worker-op.h"
#include "workspace.h"

/* As often the worker is asked to resolve those of one task; then a person
 * is. */
#define CONFLICTS_MAX 3

enum {
	STEP_FACTS,
	STEP_LEFTOVERS,
	STEP_REBASE,
	STEP_HEAD,
	/* Used instead of the step after the rebase. */
	STEP_CONFLICT,
	STEP_GIVE_UP,
	STEP_COUNT
};

struct op_rebase {
	struct worker_op op; /* first */
	bool again;
	op_rebase_fn *fn;
	void *arg;
	char onto[GIT_ID_SIZE], head[GIT_ID_SIZE];
	char *conflict; /* the prompt for the worker about it, NULL = none */
	bool stuck;
	enum worker_status back; /* its status if nothing is to be resolved */
};

static void
ask_facts(struct operation *op, git_facts_fn *fn)
{
	struct op_rebase *r = (struct op_rebase *)op;
	struct core *core = r->op.agent->core;

	git_facts_read(core->git, r->op.agent->worker->worktree,
	    core_branch(core), fn, operation_await(op));
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_rebase *r = arg;

	if (!operation_arrived(&r->op.op, err))
		return;
	memcpy(r->onto, facts->onto, sizeof r->onto);
	if (facts->rebasing && r->again)
		operation_go(&r->op.op, STEP_REBASE); /* ours; start it over */
	else
		operation_next(&r->op.op);
}

static void
step_facts(struct operation *op)
{
	ask_facts(op, on_facts);
}

static void
step_leftovers(struct operation *op)
{
	struct op_rebase *r = (struct op_rebase *)op;

	git_salvage_commit(r->op.agent->core->git,
	    r->op.agent->worker->worktree, r->onto, turn_end_leftover_message,
	    operation_on_done, operation_await(op));
}

static void
on_rebased(bool conflict, const struct err *err, void *arg)
{
	struct op_rebase *r = arg;
	const struct agent *agent = r->op.agent;

	if (!operation_arrived(&r->op.op, err))
		return;
	if (!conflict)
		operation_next(&r->op.op);
	else if (agent->worker->conflicts < CONFLICTS_MAX)
		operation_go(&r->op.op, STEP_CONFLICT);
	else
		operation_go(&r->op.op, STEP_GIVE_UP);
}

static void
step_rebase(struct operation *op)
{
	struct op_rebase *r = (struct op_rebase *)op;
	const struct agent *agent = r->op.agent;
	struct git_salvage keep;
	char stamp[SALVAGE_STAMP_SIZE];

	salvage_place(agent, false, stamp, &keep);
	git_rebase(agent->core->git, agent->worker->worktree, r->onto, &keep,
	    on_rebased, operation_await(op));
}

static void
on_head(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_rebase *r = arg;

	if (!operation_arrived(&r->op.op, err))
		return;
	memcpy(r->head, facts->head, sizeof r->head);
	operation_done(&r->op.op);
}

static void
step_head(struct operation *op)
{
	ask_facts(op, on_head);
}

/* --- conflicts ------------------------------------------------------- */

static void
on_conflicts(
    const char *const *files, size_t count, const struct err *err, void *arg)
{
	struct op_rebase *r = arg;
	const struct core *core = r->op.agent->core;
	const struct worker *w = r->op.agent->worker;
	cleanup_buf struct buf text = BUF_INIT;
	struct prompt_facts facts = {
		.worktree = w->worktree,
		.branch = w->branch,
		.default_branch = core_branch(core),
		.task = w->prompt != NULL ? w->prompt : "",
	};

	(void)count;
	if (!operation_arrived(&r->op.op, err))
		return;
	prompt_conflict(&facts, files, &text);
	r->conflict = buf_take(&text);
	operation_done(&r->op.op);
}

static void
step_conflict(struct operation *op)
{
	struct op_rebase *r = (struct op_rebase *)op;

	git_facts_conflicts(r->op.agent->core->git,
	    r->op.agent->worker->worktree, on_conflicts, operation_await(op));
}

static void
on_aborted(
    const struct git_salvaged *saved, const struct err *ignored, void *arg)
{
	struct op_rebase *r = arg;
	struct worker *w = r->op.agent->worker;
	struct err err = { 0 };

	(void)ignored;
	if (saved != NULL)
		salvage_tell(r->op.agent, saved->ref);
	if (!operation_arrived(&r->op.op, NULL))
		return;
	err_set(&err, -EBUSY,
	    "%s could not resolve its conflicts with %s in %d tries; resolve "
	    "them by hand in %s",
	    w->name, core_branch(r->op.agent->core), w->conflicts, w->worktree);
	w->conflicts = 0;
	r->stuck = true;
	operation_fail(&r->op.op, &err);
}

static void
step_give_up(struct operation *op)
{
	struct op_rebase *r = (struct op_rebase *)op;
	const struct agent *agent = r->op.agent;
	struct git_salvage keep;
	char stamp[SALVAGE_STAMP_SIZE];

	salvage_place(agent, false, stamp, &keep);
	git_rebase_abort(agent->core->git, agent->worker->worktree, &keep,
	    on_aborted, operation_await(op));
}

/* --- the end --------------------------------------------------------- */

static enum op_rebase_end
end_of(const struct op_rebase *r, const struct err *err)
{
	if (err == NULL)
		return r->conflict != NULL ? OP_REBASE_CONFLICT :
					     OP_REBASE_DONE;
	if (err->code == -ECANCELED)
		return OP_REBASE_CANCELLED;
	return r->stuck ? OP_REBASE_STUCK : OP_REBASE_FAILED;
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_rebase *r = (struct op_rebase *)op;
	struct agent *agent = r->op.agent;
	struct worker *w = agent->worker;
	struct task *task = state_task(&agent->core->state, w->task);

	worker_op_release(&r->op);
	if (r->conflict != NULL) {
		w->conflicts++;
		agent_move(agent, WORKER_REBASING, NULL);
		agent_prompt(agent, r->conflict, false, WORKER_REBASING);
	} else {
		if (err == NULL) {
			xstrset(&w->base, r->onto);
			if (task != NULL)
				xstrset(&task->base, r->onto);
		}
		agent_move(agent, r->back, NULL);
		if (err != NULL)
			xstrset(&w->reason, err->msg);
		else if (r->back == WORKER_NEEDS_REVIEW)
			xstrset(&w->commit, r->head);
	}
	persist_changed(agent->core);
	/* Not a worktree of ours any more: auto mode makes another one. */
	if (err != NULL && err->code == -EUCLEAN && !fleet_drives(agent))
		agent_park(agent, err->msg);
	r->fn(agent, end_of(r, err), r->head, err, r->op.call, r->arg);
	free(r->conflict);
	free(r);
}

static const struct operation_step steps[STEP_COUNT] = {
	[STEP_FACTS] = { .name = "facts", .run = step_facts },
	[STEP_LEFTOVERS] = { .name = "leftovers", .run = step_leftovers },
	/* Firm, so that a conflict is always handed to the worker. */
	[STEP_REBASE] = { .name = "rebase", .run = step_rebase, .firm = true },
	[STEP_HEAD] = { .name = "new-head", .run = step_head, .firm = true },
	[STEP_CONFLICT] = { .name = "conflict",
	    .run = step_conflict,
	    .firm = true },
	[STEP_GIVE_UP] = { .name = "give-up",
	    .run = step_give_up,
	    .firm = true },
};

OPERATION_KIND(kind, "rebase", steps, end);

void
op_rebase(struct agent *agent, bool again, struct server_call *call,
    op_rebase_fn *fn, void *arg)
{
	struct op_rebase *r = xcalloc(1, sizeof *r);

	r->again = again;
	r->back = agent->worker->status == WORKER_WAITING ? WORKER_WAITING :
							    WORKER_NEEDS_REVIEW;
	r->fn = fn;
	r->arg = arg;
	worker_op_begin(&r->op, &kind, agent, call);
}
