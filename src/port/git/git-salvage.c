/* SPDX-License-Identifier: ISC */

/* Saves the work that lies in a worktree, or commits it. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-salvage.h"
#include "git-save.h"
#include "git-stage.h"
#include "git-stand.h"
#include "mem.h"

struct salvage_op {
	struct git_save save; /* first */
	git_salvage_fn *fn;
	void *arg;
};

static const struct git_op_step salvage_steps[] = {
	GIT_OP_GITDIR,
	GIT_OP_ONTO,
	GIT_SAVE,
};

static void
salvage_finish(struct git_op *op, const struct err *err)
{
	const struct salvage_op *salvage = op->self;
	struct git_salvaged saved = git_save_result(&salvage->save);

	salvage->fn(err == NULL ? &saved : NULL, err, salvage->arg);
}

static void
salvage_release(struct git_op *op)
{
	git_save_release(op->self);
}

void
git_salvage(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct salvage_op *salvage = xcalloc(1, sizeof *salvage);
	struct git_op *op = &salvage->save.op;

	git_save_init(&salvage->save, what, false);
	salvage->fn = fn;
	salvage->arg = arg;
	op->self = salvage;
	op->finish = salvage_finish;
	op->release = salvage_release;
	op->onto = xstrdup(what->onto);
	git_op_start(op, git, dir, salvage_steps, nitems(salvage_steps), false);
}

/* --- leftovers --------------------------------------------------------- */

struct leftovers_op {
	struct git_save save; /* first; only its list of files is used */
	char *message;
	bool ahead;
	git_work_fn *fn;
	void *arg;
};

static enum git_op_next
leftovers_ask_status(struct git_op *op)
{
	if (git_op_rebasing(op))
		return git_op_fail(op, -EBUSY,
		    "a rebase is in progress in %s; finish it first", op->dir);
	return git_op_args(op, "ls-files", "--unmerged", "-z", NULL);
}

static enum git_op_next
leftovers_status(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	if (answer->out_len > 0)
		return git_op_fail(op, -EBUSY,
		    "there are unmerged files in %s; resolve them first",
		    op->dir);
	return GIT_OP_NEXT;
}

static enum git_op_next
leftovers_ask_staged(struct git_op *op)
{
	return git_op_args(op, "diff-index", "--cached", "--quiet",
	    "--ignore-submodules=dirty", "HEAD", "--", NULL);
}

static enum git_op_next
leftovers_staged(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status > 1)
		return git_op_complain(op, answer);
	return answer->status == 0 ? GIT_OP_DONE : GIT_OP_NEXT;
}

static enum git_op_next
leftovers_ask_ahead(struct git_op *op)
{
	cleanup_free char *range = xasprintf("%s..HEAD", op->onto_id);

	git_op_args(op, "rev-list", "--max-count=1", NULL);
	git_op_not_base(op);
	return git_op_args(op, range, NULL);
}

static enum git_op_next
leftovers_ahead(struct git_op *op, const struct git_answer *answer)
{
	struct leftovers_op *left = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	left->ahead = answer->out_len > 0;
	return GIT_OP_NEXT;
}

/* Those of the repository's own folder; not what core.hooksPath names, which
 * may be the worker's files. */
static void
leftovers_use_hooks(struct git_op *op)
{
	static const char *const names[] = { "pre-commit", "prepare-commit-msg",
		"commit-msg", "post-commit", "post-rewrite",
		"post-index-change", "reference-transaction" };
	const char *common = op->common;
	cleanup_free char *config =
	    xasprintf("core.hooksPath=%s/hooks", common);

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *name = xasprintf("hooks/%s", names[i]);
		cleanup_free char *path = file_join(common, name);

		if (!git_runs_hooks(op->git) ||
		    (file_exists(path) &&
			!git_dirs_hook_is_safe(common, op->dir, names[i]))) {
			git_op_no_hooks(op);
			return;
		}
	}
	git_op_args(op, "-c", config, NULL);
}

static enum git_op_next
leftovers_ask_commit(struct git_op *op)
{
	const struct leftovers_op *left = op->self;

	leftovers_use_hooks(op);
	git_op_args(op, "commit", "--quiet", "--cleanup=whitespace", NULL);
	/* git has prepared the message of a merge or pick that was not
	 * finished. */
	if (git_op_has(op, "MERGE_HEAD") || git_op_has(op, "CHERRY_PICK_HEAD"))
		return git_op_args(op, "--no-edit", NULL);
	if (left->ahead)
		return git_op_args(op, "--amend", "--no-edit", "--allow-empty",
		    "--allow-empty-message", NULL);
	buf_adds(&op->input, left->message);
	return git_op_args(op, "--file=-", NULL);
}

static const struct git_op_step leftovers_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = leftovers_ask_status, .answer = leftovers_status },
	GIT_OP_ONTO,
	{ .ask = git_stage_ask_tracked },
	{ .ask = git_stage_ask_list, .answer = git_stage_list },
	{ .ask = git_stage_ask_others },
	{ .ask = leftovers_ask_staged, .answer = leftovers_staged },
	GIT_OP_IDENTITY,
	{ .ask = leftovers_ask_ahead, .answer = leftovers_ahead },
	{ .ask = leftovers_ask_commit },
	GIT_FOLLOW,
};

static void
leftovers_finish(struct git_op *op, const struct err *err)
{
	const struct leftovers_op *left = op->self;

	left->fn(err, left->arg);
}

static void
leftovers_release(struct git_op *op)
{
	struct leftovers_op *left = op->self;

	git_save_release(&left->save);
	free(left->message);
}

void
git_salvage_commit(struct git *git, const char *dir, const char *onto,
    const char *message, git_work_fn *fn, void *arg)
{
	struct leftovers_op *left = xcalloc(1, sizeof *left);
	struct git_op *op = &left->save.op;

	git_save_init_lists(&left->save);
	left->message = xstrdup(message);
	left->fn = fn;
	left->arg = arg;
	op->self = left;
	op->finish = leftovers_finish;
	op->release = leftovers_release;
	op->onto = xstrdup(onto);
	git_op_start(
	    op, git, dir, leftovers_steps, nitems(leftovers_steps), false);
}
