/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "emit.h"
#include "errtext.h"
#include "git-facts.h"
#include "git-since.h"
#include "guard.h"
#include "hold.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "settings.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-review.h"
#include "team-scope.h"
#include "team-verify.h"
#include "turn-policy.h"
#include "worker-op.h"

struct op_scope {
	struct worker_op op; /* first */
	struct team_floor *floor;
	char head[GIT_ID_SIZE]; /* "" = to be asked */
	struct buf words; /* what is wrong; empty = nothing */
};

/* Its task, if it still has one with a scope. */
static struct task *
scoped_task(const struct agent *agent)
{
	struct task *t = auto_task(agent);

	return t != NULL && t->step == TASK_ASSIGNED && t->run != NULL &&
		t->run->scope_paths != NULL ?
	    t :
	    NULL;
}

/* --- steps ------------------------------------------------------------- */

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_scope *s = arg;
	struct worker *w = s->op.agent->worker;

	if (!operation_arrived(&s->op.op, err))
		return;
	memcpy(s->head, facts->head, sizeof s->head);
	if (w->status == WORKER_NEEDS_REVIEW)
		xstrset(&w->commit, s->head);
	operation_next(&s->op.op);
}

static void
step_head(struct operation *op)
{
	struct op_scope *s = (struct op_scope *)op;
	struct core *core = s->op.agent->core;

	if (s->head[0] != '\0')
		operation_next(op);
	else
		git_facts_read(core->git, s->op.agent->worker->worktree,
		    core_branch(core), on_facts, operation_await(op));
}

static void
on_files(
    const char *const *files, size_t count, const struct err *err, void *arg)
{
	struct op_scope *s = arg;
	const struct task *t = scoped_task(s->op.agent);

	if (!operation_arrived(&s->op.op, err))
		return;
	if (t != NULL)
		guard_commits(t->run->scope_paths, files, count, &s->words);
	operation_next(&s->op.op);
}

static void
step_files(struct operation *op)
{
	struct op_scope *s = (struct op_scope *)op;
	struct core *core = s->op.agent->core;

	git_since_own(core->git, s->op.agent->worker->worktree, s->head,
	    core_branch(core), on_files, operation_await(op));
}

/* --- the end ----------------------------------------------------------- */

static void
send_back(struct op_scope *s, const struct task *t)
{
	struct auto_mode *mode = s->floor->mode;
	struct agent *agent = s->op.agent;
	const char *words = s->words.data;
	bool in_turn = worker_in_turn(agent->worker->status);

	team_review_violation(
	    s->floor, agent, guard_kind_words[GUARD_SCOPE], words);
	if (task_run_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
		return;
	}
	if (in_turn &&
	    (turn_policy_held(mode, agent, words) ||
		hold_turn_ended(agent, words)))
		return;
	emit(mode->core,
	    &(struct event){ .kind = EVENT_SENT_BACK,
		.worker = agent->worker->name,
		.task = t->id,
		.reason = words });
	if (!in_turn)
		agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, words, false, agent->worker->status);
}

static void
act(struct op_scope *s)
{
	struct agent *agent = s->op.agent;
	struct task *t = scoped_task(agent);

	/* The task was taken away, or the next daemon will look at it. */
	if (t == NULL || s->floor->core->stopping)
		return;
	if (s->words.len > 0) {
		/* In another status it has a turn to come, which is judged. */
		if (worker_in_turn(agent->worker->status) ||
		    agent->worker->status == WORKER_NEEDS_REVIEW)
			send_back(s, t);
		return;
	}
	xstrset(&t->run->scope_checked, s->head);
	persist_changed(s->floor->core);
	if (!team_verify(s->floor, agent, s->head))
		auto_verified(s->floor->mode, agent, s->head);
}

static void
end(struct operation *op, const struct err *err)
{
	struct op_scope *s = (struct op_scope *)op;

	worker_op_release(&s->op);
	if (err == NULL)
		act(s);
	else if (err->code != -ECANCELED)
		agent_move(s->op.agent, WORKER_ERROR, err->msg);
	buf_release(&s->words);
	free(s);
}

static const struct operation_step steps[] = {
	{ .name = "head", .run = step_head },
	{ .name = "files", .run = step_files },
};

static const struct operation_kind kind = {
	.name = "scope",
	.steps = steps,
	.count = nitems(steps),
	.yields = true,
	.end = end,
};

/* Work without a commit changes nothing. */
static bool
is_due(const struct agent *agent, const struct task *t, const char *head)
{
	if (head == NULL)
		return agent->worker->status != WORKER_NO_CHANGES;
	return t->run->scope_checked == NULL ||
	    strcmp(t->run->scope_checked, head) != 0;
}

bool
team_scope(struct team_floor *floor, struct agent *agent, const char *head)
{
	const struct task *t = scoped_task(agent);
	struct op_scope *s;

	if (t == NULL || !is_due(agent, t, head))
		return false;
	if (agent->op != NULL)
		return true; /* asked again when it is free */
	s = xcalloc(1, sizeof *s);
	buf_init(&s->words);
	s->floor = floor;
	if (head != NULL)
		strlcpy(s->head, head, sizeof s->head);
	worker_op_begin(&s->op, &kind, agent, NULL);
	return true;
}
