/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "auto-private.h"
#include "auto.h"
#include "emit.h"
#include "git-facts.h"
#include "git-worktree.h"
#include "git.h"
#include "op-park-task.h"
#include "outcome.h"
#include "persist.h"
#include "worker-op.h"

struct park_task {
	struct worker_op op; /* first */
	struct auto_mode *mode;
	enum ask_kind ask;
	char *reason;
	char head[GIT_ID_SIZE]; /* its work, "" = none that is known of */
};

/* What cannot be committed (a rebase, say) is salvaged by the reset. */
static void
on_committed(const struct err *err, void *arg)
{
	(void)err;
	operation_on_done(NULL, arg);
}

static void
commit(struct operation *op)
{
	struct park_task *p = (struct park_task *)op;
	struct core *core = p->mode->core;

	git_salvage_commit(core->git, p->op.agent->worker->worktree,
	    core_branch(core), turn_end_leftover_message, on_committed,
	    operation_await(op));
}

static void
on_branch(const struct git_answer *answer, void *arg)
{
	struct park_task *p = arg;

	if (answer->status == 0 && answer->out_len < sizeof p->head)
		strlcpy(p->head, answer->out, sizeof p->head);
	operation_on_done(NULL, arg);
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct park_task *p = arg;

	if (err == NULL && facts->rebasing) {
		const struct core *core = p->mode->core;
		cleanup_free char *ref =
		    xasprintf("refs/heads/%s", p->op.agent->worker->branch);
		const char *const args[] = { "rev-parse", "--verify", "--quiet",
			ref, NULL };
		struct git_command ask = { .args = args };

		/* A rebase moves the branch when it ends: until then it has
		 * the work as it was before. */
		git_run(git_queue(core->git, git_root(core->git)), &ask,
		    on_branch, p);
		return;
	}
	if (err == NULL && facts->ahead > 0)
		memcpy(p->head, facts->head, sizeof p->head);
	operation_on_done(NULL, arg);
}

static void
facts(struct operation *op)
{
	struct park_task *p = (struct park_task *)op;
	struct core *core = p->mode->core;

	git_facts_read(core->git, p->op.agent->worker->worktree,
	    core_branch(core), on_facts, operation_await(op));
}

static void
end(struct operation *op, const struct err *err)
{
	struct park_task *p = (struct park_task *)op;
	struct agent *agent = p->op.agent;
	struct task *t = auto_task(agent);

	worker_op_release(&p->op);
	if (err == NULL) {
		bool parked = t != NULL &&
		    task_park(t, p->ask, p->head[0] != '\0' ? p->head : NULL,
			p->reason, clock_wall_ms()) == 0;

		if (parked && t->from != NULL)
			task_ref_keep(p->mode, t);
		if (parked &&
		    (p->ask == ASK_QUESTION || p->ask == ASK_BLOCKED)) {
			const struct session_record *s =
			    &agent->worker->session;

			xstrset(&t->conversation, s->id);
			xstrset(&t->transcript, s->transcript);
			t->history_ms = s->history_ms;
		}
		/* What it asks is for the person alone: agents read events, and
		 * what it said last. */
		if (parked && p->ask == ASK_QUESTION)
			xstrset(&t->last_words, NULL);
		if (parked)
			EMIT(p->mode->core, EVENT_TASK_PARKED, .task = t->id,
			    .worker = t->worker,
			    .reason =
				p->ask == ASK_QUESTION ? NULL : p->reason);
		/* Meanwhile, the person has answered. */
		if (parked && t->answered &&
		    task_unpark(t, NULL, clock_wall_ms()) == 0)
			EMIT(p->mode->core, EVENT_TASK_RESUMED, .task = t->id);
		persist_changed(p->mode->core);
		outcome_clear_worker(agent);
		scheduler_look(p->mode);
	}
	free(p->reason);
	free(p);
}

static const struct operation_step steps[] = {
	{ .name = "write", .run = worker_op_write },
	{ .name = "end-session", .run = worker_op_end_session },
	{ .name = "commit", .run = commit },
	{ .name = "facts", .run = facts },
};

OPERATION_KIND(kind, "park task", steps, end);

void
op_park_task_again(struct auto_mode *mode, struct agent *agent)
{
	struct park_task *p = xcalloc(1, sizeof *p);
	const struct task *t = auto_task(agent);

	p->mode = mode;
	p->ask = t->ask;
	p->reason = t->reason != NULL ? xstrdup(t->reason) : NULL;
	worker_op_begin(&p->op, &kind, agent, NULL);
}

void
op_park_task(struct auto_mode *mode, struct agent *agent, enum ask_kind ask,
    const char *reason)
{
	struct task *t = auto_task(agent);

	/* An answer is for what was asked; but a budget is not granted before
	 * the task was parked. */
	if (t->ask != ask || ask != ASK_BUDGET)
		t->answered = false;
	t->ask = ask;
	xstrset(&t->reason, reason);
	op_park_task_again(mode, agent);
}
