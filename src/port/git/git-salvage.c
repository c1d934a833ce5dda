/* SPDX-License-Identifier: ISC */

/* Saves the work that lies in a worktree, or commits it. */

#include "base.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-salvage.h"
#include "git-save.h"
#include "git-stage.h"
#include "git-stand.h"

static void
salvage_run(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_op_need_onto(op);
	git_save_run(op->self);
}

void
git_salvage(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct git_save *save = git_save_new(sizeof *save, git, dir, what->onto,
	    what, false, salvage_run, fn, arg);

	git_op_begin(&save->op, false);
}

/* --- leftovers --------------------------------------------------------- */

struct leftovers_op {
	struct git_save save; /* first; only its list of files is used */
	char *message;
};

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

static void
leftovers_run(struct git_op *op)
{
	const struct leftovers_op *left = op->self;
	bool ahead;
	int status;

	git_op_need_gitdir(op);
	if (git_op_rebasing(op))
		git_op_die(op, -EBUSY,
		    "a rebase is in progress in %s; finish it first", op->dir);
	git_op_must(op, "ls-files", "--unmerged", "-z", NULL);
	if (op->answer.out_len > 0)
		git_op_die(op, -EBUSY,
		    "there are unmerged files in %s; resolve them first",
		    op->dir);
	git_op_need_onto(op);
	git_stage_add(op->self);
	status = git_op_try(op, "diff-index", "--cached", "--quiet",
	    "--ignore-submodules=dirty", "HEAD", "--", NULL);
	if (status > 1)
		git_op_die_as(op);
	if (status == 0)
		return;
	git_op_need_identity(op);
	git_op_args(op, "rev-list", "--max-count=1", NULL);
	git_op_not_base(op);
	git_op_must(op, git_op_text(op, "%s..HEAD", op->onto_id), NULL);
	ahead = op->answer.out_len > 0;
	leftovers_use_hooks(op);
	git_op_args(op, "commit", "--quiet", "--cleanup=whitespace", NULL);
	/* git has prepared the message of a merge or pick that was not
	 * finished. */
	if (git_op_has(op, "MERGE_HEAD") || git_op_has(op, "CHERRY_PICK_HEAD"))
		git_op_args(op, "--no-edit", NULL);
	else if (ahead)
		git_op_args(op, "--amend", "--no-edit", "--allow-empty",
		    "--allow-empty-message", NULL);
	else {
		buf_adds(&op->input, left->message);
		git_op_args(op, "--file=-", NULL);
	}
	git_op_must(op, NULL);
	git_follow_run(op);
}

void
git_salvage_commit(struct git *git, const char *dir, const char *onto,
    const char *message, git_work_fn *fn, void *arg)
{
	struct leftovers_op *left = git_save_new(sizeof *left, git, dir, onto,
	    NULL, false, leftovers_run, NULL, arg);
	struct git_op *op = &left->save.op;

	left->message = git_op_copy(op, message);
	op->finish = NULL;
	op->work_fn = fn;
	git_op_begin(op, false);
}
