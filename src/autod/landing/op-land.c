/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "emit.h"
#include "errtext.h"
#include "git-facts.h"
#include "git-land.h"
#include "git-rebase.h"
#include "git-reset.h"
#include "git-salvage.h"
#include "git-squash.h"
#include "git.h"
#include "json.h"
#include "mem.h"
#include "op-land.h"
#include "persist.h"
#include "prompt-commit.h"
#include "prompt.h"
#include "settings.h"
#include "turn-end.h"
#include "workspace.h"

#define ROUNDS_MAX 20 /* in which the default branch has moved meanwhile */

enum step {
	STEP_RESUME,
	STEP_FACTS,
	STEP_LEFTOVERS,
	STEP_REBASE,
	STEP_MESSAGES,
	STEP_SQUASH,
	STEP_JOURNAL,
	STEP_PUBLISH,
	STEP_CLEANUP,
	STEP_PUSH,
	/* Used instead of the steps after the rebase. */
	STEP_CONFLICT,
	STEP_GIVE_UP,
	STEP_COUNT
};

/* --- prepare --------------------------------------------------------- */

/* Continue where the journal says. */
static void
step_resume(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	switch (l->op.agent->worker->accept) {
	case ACCEPT_PUBLISH:
		operation_go(op, STEP_PUBLISH);
		break;
	case ACCEPT_CLEANUP:
		operation_go(op, STEP_CLEANUP);
		break;
	default:
		operation_next(op);
		break;
	}
}

static void
on_facts(const struct git_facts *facts, const struct err *err, void *arg)
{
	struct op_land *l = arg;

	if (!operation_arrived(&l->op.op, err))
		return;
	memcpy(l->onto, facts->onto, sizeof l->onto);
	if (facts->rebasing && l->again)
		operation_go(&l->op.op, STEP_REBASE); /* ours; start it over */
	else
		operation_next(&l->op.op);
}

static void
step_facts(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;
	struct core *core = l->op.agent->core;

	git_facts_read(core->git, l->op.agent->worker->worktree,
	    core_branch(core), on_facts, operation_await(op));
}

static void
step_leftovers(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	git_salvage_commit(l->op.agent->core->git,
	    l->op.agent->worker->worktree, l->onto, turn_end_leftover_message,
	    operation_on_done, operation_await(op));
}

static void
on_rebased(bool conflict, const struct err *err, void *arg)
{
	struct op_land *l = arg;
	const struct worker *w = l->op.agent->worker;

	if (!operation_arrived(&l->op.op, err))
		return;
	if (!conflict) {
		if (l->rebase_only)
			operation_done(&l->op.op);
		else
			operation_next(&l->op.op);
		return;
	}
	operation_go(&l->op.op,
	    w->conflicts < settings_int(l->op.agent->core->settings,
			       "repo.max_conflicts") ?
		STEP_CONFLICT :
		STEP_GIVE_UP);
}

static void
step_rebase(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	git_rebase(l->op.agent->core->git, l->op.agent->worker->worktree,
	    l->onto, on_rebased, operation_await(op));
}

static void
on_messages(
    const char *const *messages, size_t count, const struct err *err, void *arg)
{
	struct op_land *l = arg;
	cleanup_buf struct buf text = BUF_INIT;

	if (!operation_arrived(&l->op.op, err))
		return;
	prompt_commit_message(messages, count,
	    settings_bool(
		l->op.agent->core->settings, "repo.strip_attribution"),
	    &text);
	xstrset(&l->op.agent->worker->accept_message, text.data);
	operation_next(&l->op.op);
}

static void
step_messages(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	git_facts_messages(l->op.agent->core->git,
	    l->op.agent->worker->worktree, l->onto, on_messages,
	    operation_await(op));
}

static void
on_squashed(const char *id, const struct err *err, void *arg)
{
	struct op_land *l = arg;
	struct worker *w = l->op.agent->worker;

	if (!operation_arrived(&l->op.op, err))
		return;
	l->incorporated = id[0] == '\0';
	xstrset(&w->accept_onto, l->onto);
	xstrset(&w->accept_commit, id);
	operation_next(&l->op.op);
}

static void
step_squash(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;
	const struct worker *w = l->op.agent->worker;

	git_squash(l->op.agent->core->git, w->worktree, w->name, l->onto,
	    w->accept_message, on_squashed, operation_await(op));
}

/* --- publish, clean up ----------------------------------------------- */

static void
on_written(void *arg)
{
	struct op_land *l = arg;

	if (operation_arrived(&l->op.op, NULL))
		operation_go(&l->op.op,
		    l->op.agent->worker->accept == ACCEPT_PUBLISH ?
			STEP_PUBLISH :
			STEP_CLEANUP);
}

/* Save the next step before it is taken. EVENT_LANDED is emitted in the same
 * pass. */
static void
write_journal(struct op_land *l, enum accept_step accept)
{
	struct core *core = l->op.agent->core;
	struct worker *w = l->op.agent->worker;

	w->accept = accept;
	if (accept == ACCEPT_CLEANUP)
		emit(core,
		    &(struct event){ .kind = EVENT_LANDED,
			.worker = w->name,
			.task = l->task,
			.commit = l->incorporated ? NULL : w->accept_commit });
	persist_changed(core);
	persist_then(core, l, on_written, operation_await(&l->op.op));
}

static void
step_journal(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	write_journal(l, l->incorporated ? ACCEPT_CLEANUP : ACCEPT_PUBLISH);
}

static void
publish_again(struct op_land *l)
{
	struct core *core = l->op.agent->core;
	struct worker *w = l->op.agent->worker;
	struct err err = { 0 };

	if (++l->rounds < ROUNDS_MAX) {
		w->accept = ACCEPT_PREPARE;
		persist_changed(core);
		operation_go(&l->op.op, STEP_FACTS);
		return;
	}
	err_set(&err, -EBUSY,
	    "%s kept moving while %s was being landed; try again",
	    core_branch(core), w->name);
	operation_fail(&l->op.op, &err);
}

static void
on_published(enum git_land_result result, const char *detail,
    const struct err *error, void *arg)
{
	struct op_land *l = arg;
	struct err err = { 0 };

	if (!operation_arrived(&l->op.op, error))
		return;
	switch (result) {
	case GIT_LANDED:
		write_journal(l, ACCEPT_CLEANUP);
		return;
	case GIT_LAND_MOVED:
		publish_again(l);
		return;
	case GIT_LAND_DIRTY:
		err_set(&err, -EBUSY,
		    "your checkout is in the way: %s; commit or stash the "
		    "changes and accept again",
		    detail);
		l->failure = LANDING_DIRTY;
		break;
	case GIT_LAND_HELD:
	case GIT_LAND_FAILED: /* comes with an error */
		err_set(&err, -EBUSY, "%s; try again", detail);
		break;
	}
	operation_fail(&l->op.op, &err);
}

static void
step_publish(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;
	struct core *core = l->op.agent->core;
	const struct worker *w = l->op.agent->worker;

	git_land(core->git, core_branch(core), w->accept_onto, w->accept_commit,
	    core_lands_over_dirt(core), on_published, operation_await(op));
}

/* The landing is final, even if the worktree or the push fails. */
static void
on_reset(const struct err *err, void *arg)
{
	struct op_land *l = arg;

	if (!operation_arrived(&l->op.op, NULL))
		return;
	if (err != NULL)
		emit(l->op.agent->core,
		    &(struct event){ .kind = EVENT_CLEANUP_FAILED,
			.worker = l->op.agent->worker->name,
			.reason = err->msg });
	operation_next(&l->op.op);
}

static void
step_cleanup(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;
	struct core *core = l->op.agent->core;
	const struct worker *w = l->op.agent->worker;

	git_reset(core->git, w->worktree, w->branch, core_branch(core),
	    on_reset, operation_await(op));
}

static void
on_pushed(const struct git_answer *answer, void *arg)
{
	struct op_land *l = arg;

	if (!operation_arrived(&l->op.op, NULL))
		return;
	if (answer->status != 0)
		emit(l->op.agent->core,
		    &(struct event){ .kind = EVENT_PUSH_FAILED,
			.reason = answer->complaint });
	operation_done(&l->op.op);
}

static void
step_push(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;
	struct core *core = l->op.agent->core;
	const char *const args[] = { "push", "--quiet", "origin",
		core_branch(core), NULL };
	struct git_command push = { .args = args };

	if (settings_bool(core->settings, "repo.push") && !l->incorporated)
		git_run(git_queue(core->git, core->workspace->root), &push,
		    on_pushed, operation_await(op));
	else
		operation_done(op);
}

/* --- conflicts ------------------------------------------------------- */

/* The worker resolves the conflict itself; it knows its changes best. */
static void
on_conflicts(
    const char *const *files, size_t count, const struct err *err, void *arg)
{
	struct op_land *l = arg;
	const struct core *core = l->op.agent->core;
	const struct worker *w = l->op.agent->worker;
	cleanup_buf struct buf text = BUF_INIT;
	struct prompt_facts facts = {
		.worktree = w->worktree,
		.root = core->workspace->root,
		.branch = w->branch,
		.default_branch = core_branch(core),
		.task = w->prompt != NULL ? w->prompt : "",
	};

	(void)count;
	if (!operation_arrived(&l->op.op, err))
		return;
	prompt_conflict(&facts, files, &text);
	l->conflict = buf_take(&text);
	operation_done(&l->op.op);
}

static void
step_conflict(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	git_facts_conflicts(l->op.agent->core->git,
	    l->op.agent->worker->worktree, on_conflicts, operation_await(op));
}

static void
on_aborted(const struct err *ignored, void *arg)
{
	struct op_land *l = arg;
	struct worker *w = l->op.agent->worker;
	struct err err = { 0 };

	(void)ignored;
	if (!operation_arrived(&l->op.op, NULL))
		return;
	err_set(&err, -EBUSY,
	    "%s could not resolve its conflicts with %s in %d tries; resolve "
	    "them by hand in %s",
	    w->name, core_branch(l->op.agent->core), w->conflicts, w->worktree);
	w->conflicts = 0;
	l->failure = LANDING_STUCK;
	operation_fail(&l->op.op, &err);
}

static void
step_give_up(struct operation *op)
{
	struct op_land *l = (struct op_land *)op;

	git_rebase_abort(l->op.agent->core->git, l->op.agent->worker->worktree,
	    on_aborted, operation_await(op));
}

/* --- the end --------------------------------------------------------- */

static struct json_object *
land_answer(const struct op_land *l, const char *status)
{
	const struct worker *w = l->op.agent->worker;
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", w->name);
	json_set_string(
	    result, "commit_sha", l->incorporated ? "" : w->accept_commit);
	json_set_string(result, "commit_message", w->accept_message);
	json_set_string(result, "status", status);
	json_set_bool(result, "needs_conflict_resolution", l->conflict != NULL);
	json_set_bool(result, "already_incorporated", l->incorporated);
	return result;
}

/* Success: make the answer, and move the worker on. */
static struct json_object *
land_succeeded(struct op_land *l)
{
	struct agent *agent = l->op.agent;
	struct worker *w = agent->worker;
	struct json_object *answer;

	answer = land_answer(l,
	    l->conflict != NULL ? "rebasing" :
		l->rebase_only  ? "needs_review" :
				  "idle");
	if (l->conflict == NULL || l->rebase_only)
		w->accept = ACCEPT_NONE;
	if (l->conflict != NULL) {
		w->conflicts++;
		agent_move(agent, WORKER_REBASING, NULL);
		agent_prompt(agent, l->conflict, false, WORKER_REBASING);
	} else if (l->rebase_only) {
		agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	} else {
		agent_move(agent,
		    w->session.ready ? WORKER_IDLE : WORKER_OFFLINE, NULL);
	}
	persist_changed(l->op.agent->core);
	return answer;
}

/* The worker keeps its work and waits for a decision again. */
static void
land_failed(struct op_land *l, const struct err *err)
{
	struct worker *w = l->op.agent->worker;

	w->accept = ACCEPT_NONE;
	agent_move(l->op.agent, WORKER_NEEDS_REVIEW, NULL);
	xstrset(&w->reason, err->msg);
	persist_changed(l->op.agent->core);
}

static void
land_end(struct operation *op, const struct err *err)
{
	struct op_land *l = (struct op_land *)op;
	struct json_object *answer = NULL;

	worker_op_release(&l->op);
	if (err == NULL)
		answer = land_succeeded(l);
	else if (err->code != -ECANCELED || !l->left_over)
		land_failed(l, err);
	l->ended(l, err, answer);
}

static const struct operation_step land_steps[STEP_COUNT] = {
	[STEP_RESUME] = { .name = "resume", .run = step_resume },
	[STEP_FACTS] = { .name = "facts", .run = step_facts },
	[STEP_LEFTOVERS] = { .name = "leftovers", .run = step_leftovers },
	/* Firm, so that a conflict is always handed to the worker. */
	[STEP_REBASE] = { .name = "rebase", .run = step_rebase, .firm = true },
	[STEP_MESSAGES] = { .name = "messages", .run = step_messages },
	[STEP_SQUASH] = { .name = "squash", .run = step_squash },
	[STEP_JOURNAL] = { .name = "journal",
	    .run = step_journal,
	    .firm = true },
	[STEP_PUBLISH] = { .name = "publish",
	    .run = step_publish,
	    .firm = true },
	[STEP_CLEANUP] = { .name = "cleanup",
	    .run = step_cleanup,
	    .firm = true },
	[STEP_PUSH] = { .name = "push", .run = step_push, .firm = true },
	[STEP_CONFLICT] = { .name = "conflict",
	    .run = step_conflict,
	    .firm = true },
	[STEP_GIVE_UP] = { .name = "give-up",
	    .run = step_give_up,
	    .firm = true },
};

static const struct operation_kind land_kind = {
	.name = "landing",
	.steps = land_steps,
	.count = nitems(land_steps),
	.end = land_end,
};

void
op_land(struct op_land *l)
{
	worker_op_begin(&l->op, &land_kind, l->op.agent, l->op.call);
}

void
op_land_release(struct op_land *l)
{
	free(l->conflict);
	free(l->task);
}
