/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto.h"
#include "emit.h"
#include "git-facts.h"
#include "git-freeze.h"
#include "git-worktree.h"
#include "git.h"
#include "loop.h"
#include "park.h"
#include "persist.h"
#include "turn.h"
#include "worker-op.h"
#include "workspace.h"

/* --- refs of tasks ------------------------------------------------------ */

/* Git keeps commits without a ref for two weeks too. */
static void
on_kept(const struct git_answer *answer, void *arg)
{
	(void)answer;
	(void)arg;
}

static void
on_dropped(const struct err *err, void *arg)
{
	(void)err; /* it only keeps a commit longer than needed */
	(void)arg;
}

static void
keep(struct auto_mode *mode, const char *ref, const char *commit)
{
	const struct core *core = mode->core;
	const char *const args[] = { "update-ref", "--no-deref", ref, commit,
		NULL };
	struct git_command update = { .args = args };

	git_run(git_queue(core->git, core->workspace->root), &update, on_kept,
	    NULL);
}

void
task_ref_keep(struct auto_mode *mode, struct task *task)
{
	cleanup_free char *ref = xasprintf("refs/llmc/task/%s", task->id);

	task->kept = true;
	persist_changed(mode->core);
	keep(mode, ref, task->from);
}

void
task_ref_drop(struct auto_mode *mode, struct task *task)
{
	cleanup_free char *ref = xasprintf("refs/llmc/task/%s", task->id);

	if (!task->kept)
		return;
	task->kept = false;
	git_freeze_drop(mode->core->git, ref, on_dropped, NULL);
}

void
task_ref_salvage(
    struct auto_mode *mode, const struct task *task, const char *commit)
{
	cleanup_free char *ref = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_compact(clock_wall_ms(), stamp);
	ref = xasprintf(
	    "refs/llmc/salvage/%s/%s-%s", task->worker, stamp, task->id);
	keep(mode, ref, commit);
	EMIT(mode->core, EVENT_WORK_SALVAGED, .worker = task->worker,
	    .task = task->id, .ref = ref);
}

/* --- a task waits for a person ------------------------------------------- */

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
		if (parked && (p->ask == ASK_QUESTION || p->ask == ASK_BLOCKED))
			task_keep_conversation(t, &agent->worker->session);
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
		auto_clear_worker(agent);
		loop_call_request(p->mode->look);
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
