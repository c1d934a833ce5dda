/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "file.h"
#include "git-lock.h"
#include "git-op.h"
#include "git-rebase.h"
#include "git-save.h"
#include "mem.h"

#define REBASE_DEADLINE_MS (INT64_C(10) * 60 * 1000)

struct rebase_op {
	struct git_save save; /* first */
	char *head_name; /* branch that a broken rebase had detached */
	char last_head[GIT_ID_SIZE]; /* at the last stop without conflict */
	struct err stopped; /* what git said when it stopped */
	bool conflict;
	int tries; /* that found a lock */
	bool freed; /* nobody held it, and it was removed */
	git_rebase_fn *rebase_fn; /* one of the two */
	git_salvage_fn *fn;
	void *arg;
};

enum rebase_step {
	REBASE_GITDIR,
	REBASE_IDENTITY,
	REBASE_ONTO,
	REBASE_SAVE,
	REBASE_ABORT,
	REBASE_ATTACH,
	REBASE_RESTORE,
	REBASE_RUN,
	REBASE_PUT_BACK,
	REBASE_UNMERGED,
	REBASE_HEAD,
	REBASE_CONTINUE,
	REBASE_GIVE_UP,
};

/* A conflict that is half resolved would be lost. */
static enum git_op_next
abort_save(struct git_op *op)
{
	return git_op_rebasing(op) ? git_save_ask(op) : GIT_OP_NEXT;
}

static enum git_op_next
abort_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	if (!git_op_rebasing(op))
		return GIT_OP_NEXT;
	free(rebase->head_name);
	rebase->head_name = git_op_rebased_branch(op->gitdir);
	if (git_op_has(op, "rebase-apply/applying"))
		return git_op_args(op, "am", "--abort", NULL);
	return git_op_args(op, "rebase", "--abort", NULL);
}

static enum git_op_next
abort_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status == 0)
		free(take_ptr(&rebase->head_name));
	else if (answer->locked)
		return git_op_complain(op, answer);
	git_op_forget_rebase(op);
	return GIT_OP_NEXT;
}

static enum git_op_next
attach_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	if (rebase->head_name == NULL)
		return GIT_OP_NEXT;
	return git_op_args(op, "symbolic-ref", "HEAD", rebase->head_name, NULL);
}

static enum git_op_next
restore_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	if (rebase->head_name == NULL)
		return GIT_OP_NEXT;
	return git_op_args(op, "reset", "--hard", "--quiet", NULL);
}

static enum git_op_next
rebase_ask(struct git_op *op)
{
	const struct rebase_op *rebase = op->self;

	op->deadline_ms = REBASE_DEADLINE_MS;
	op->once = true;
	op->delay_ms = rebase->tries > 0 ? GIT_RETRY_MS : 0;
	return git_op_args(op, "rebase", "--merge", "--quiet", "--no-stat",
	    "--no-autostash", "--no-fork-point", "--rerere-autoupdate",
	    op->onto_id, NULL);
}

static enum git_op_next
rebase_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status == 0)
		return GIT_OP_DONE;
	git_op_complain(op, answer);
	if (!git_op_rebasing(op) && !answer->locked)
		return GIT_OP_FAIL;
	rebase->stopped = op->err;
	memset(&op->err, 0, sizeof op->err);
	/* A rebase that was cut off in the middle has no conflict to show, only
	 * a broken state. */
	op->at = !git_op_rebasing(op) ? REBASE_PUT_BACK :
	    answer->err != NULL       ? REBASE_GIVE_UP :
					REBASE_UNMERGED;
	return GIT_OP_AGAIN;
}

/* A lock on HEAD or a ref is found after the files of `onto` were written. Left
 * like that, they would look as if somebody had undone all work of the branch.
 * Files that are in neither version stay. */
static enum git_op_next
put_back_ask(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	if (rebase->tries == GIT_TRIES)
		rebase->freed =
		    git_lock_remove_dead(op->dir, rebase->stopped.msg);
	op->once = rebase->tries < GIT_TRIES;
	return git_op_args(
	    op, "read-tree", "-m", "-u", op->onto_id, "HEAD", NULL);
}

static enum git_op_next
put_back_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	(void)answer; /* an index that is locked was not touched either */
	rebase->tries++;
	if (rebase->tries <= GIT_TRIES ||
	    (rebase->tries == GIT_TRIES + 1 && rebase->freed)) {
		op->at = REBASE_RUN;
		return GIT_OP_AGAIN;
	}
	op->err = rebase->stopped;
	return GIT_OP_FAIL;
}

static enum git_op_next
unmerged_ask(struct git_op *op)
{
	return git_op_args(op, "ls-files", "--unmerged", "-z", NULL);
}

static enum git_op_next
unmerged_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	rebase->conflict = answer->out_len > 0;
	return rebase->conflict ? GIT_OP_DONE : GIT_OP_NEXT;
}

static enum git_op_next
head_ask(struct git_op *op)
{
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

/* Stopped without a conflict: rerere has resolved it, and the rebase can go on.
 * When that did not move HEAD, something else is wrong. */
static enum git_op_next
head_answer(struct git_op *op, const struct git_answer *answer)
{
	struct rebase_op *rebase = op->self;
	char id[1][GIT_ID_SIZE];

	git_op_ids(answer, id, 1);
	if (strcmp(id[0], rebase->last_head) == 0) {
		op->at = REBASE_GIVE_UP;
		return GIT_OP_AGAIN;
	}
	memcpy(rebase->last_head, id[0], GIT_ID_SIZE);
	return GIT_OP_NEXT;
}

static enum git_op_next
continue_ask(struct git_op *op)
{
	op->deadline_ms = REBASE_DEADLINE_MS;
	return git_op_args(op, "rebase", "--continue", NULL);
}

static enum git_op_next
give_up_ask(struct git_op *op)
{
	return git_op_args(op, "rebase", "--abort", NULL);
}

static enum git_op_next
give_up_answer(struct git_op *op, const struct git_answer *answer)
{
	const struct rebase_op *rebase = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	op->err = rebase->stopped;
	return GIT_OP_FAIL;
}

static const struct git_op_step rebase_steps[] = {
	[REBASE_GITDIR] = GIT_OP_GITDIR,
	[REBASE_IDENTITY] = GIT_OP_IDENTITY,
	[REBASE_ONTO] = GIT_OP_ONTO,
	[REBASE_SAVE] = { .ask = abort_save },
	[REBASE_ABORT] = { .ask = abort_ask, .answer = abort_answer },
	[REBASE_ATTACH] = { .ask = attach_ask },
	[REBASE_RESTORE] = { .ask = restore_ask },
	[REBASE_RUN] = { .ask = rebase_ask,
	    .answer = rebase_answer,
	    .tolerant = true },
	[REBASE_PUT_BACK] = { .ask = put_back_ask, .answer = put_back_answer },
	[REBASE_UNMERGED] = { .ask = unmerged_ask, .answer = unmerged_answer },
	[REBASE_HEAD] = { .ask = head_ask, .answer = head_answer },
	[REBASE_CONTINUE] = { .ask = continue_ask,
	    .answer = rebase_answer,
	    .tolerant = true },
	[REBASE_GIVE_UP] = { .ask = give_up_ask, .answer = give_up_answer },
};

static const struct git_op_step abort_steps[] = {
	GIT_OP_GITDIR,
	GIT_OP_ONTO,
	{ .ask = abort_save },
	{ .ask = abort_ask, .answer = abort_answer },
	{ .ask = attach_ask },
	{ .ask = restore_ask },
};

static void
rebase_finish(struct git_op *op, const struct err *err)
{
	const struct rebase_op *rebase = op->self;
	struct git_salvaged saved = git_save_result(&rebase->save);

	if (rebase->rebase_fn != NULL)
		rebase->rebase_fn(
		    err == NULL && rebase->conflict, err, rebase->arg);
	else
		rebase->fn(err == NULL ? &saved : NULL, err, rebase->arg);
}

static void
rebase_release(struct git_op *op)
{
	struct rebase_op *rebase = op->self;

	git_save_release(&rebase->save);
	free(rebase->head_name);
}

static struct rebase_op *
rebase_new(const struct git_salvage *keep, const char *onto, void *arg)
{
	struct rebase_op *rebase = xcalloc(1, sizeof *rebase);
	struct git_op *op = &rebase->save.op;

	git_save_init(&rebase->save, keep, true);
	rebase->arg = arg;
	op->self = rebase;
	op->finish = rebase_finish;
	op->release = rebase_release;
	op->onto = xstrdup(onto);
	return rebase;
}

void
git_rebase(struct git *git, const char *dir, const char *onto,
    const struct git_salvage *keep, git_rebase_fn *fn, void *arg)
{
	struct rebase_op *rebase = rebase_new(keep, onto, arg);

	rebase->rebase_fn = fn;
	git_op_start(&rebase->save.op, git, dir, rebase_steps,
	    nitems(rebase_steps), false);
}

void
git_rebase_abort(struct git *git, const char *dir,
    const struct git_salvage *keep, git_salvage_fn *fn, void *arg)
{
	struct rebase_op *rebase = rebase_new(keep, keep->onto, arg);

	rebase->fn = fn;
	git_op_start(&rebase->save.op, git, dir, abort_steps,
	    nitems(abort_steps), false);
}
