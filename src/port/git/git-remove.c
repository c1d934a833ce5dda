/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "git-clone-op.h"
#include "git-follow.h"
#include "git-nested.h"
#include "git-remove.h"
#include "git-save.h"
#include "git-stand.h"
#include "git-trees.h"
#include "mem.h"

struct remove_op {
	struct git_save save; /* first */
	bool registered;
	bool clone; /* a repository of its own */
	bool gone; /* there was no worktree to save from */
	bool removed; /* the folder is; what is left is the branch */
	char branch_id[GIT_ID_SIZE];
	struct git_nested nested;
	git_salvage_fn *fn;
	void *arg;
};

enum remove_step {
	REMOVE_TREES,
	REMOVE_REPAIR,
	REMOVE_UNTRACKED,
	REMOVE_IGNORED,
	REMOVE_NESTED,
	REMOVE_ONTO,
	REMOVE_SAVE,
	REMOVE_KEEP,
	REMOVE_FOLLOW,
	REMOVE_FOLDER,
	REMOVE_BRANCH,
	REMOVE_BRANCH_ONTO,
	REMOVE_BRANCH_SAVE,
	REMOVE_DELETE,
	REMOVE_COUNT
};

static enum git_op_next
remove_trees(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;
	struct git_trees trees = { 0 };
	bool users;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_trees_parse(&trees, answer->out, answer->out_len);
	users = git_trees_is_users(&trees, git_root(op->git), op->dir);
	remove->clone = !users && git_clone_op_is(op);
	remove->registered =
	    remove->clone || git_trees_at(&trees, op->dir) != NULL;
	git_trees_release(&trees);
	if (users)
		return git_op_fail(op, -EINVAL,
		    "%s is the repository's main working tree", op->dir);
	if (!git_op_place_is_free(op->dir)) {
		if (!remove->registered)
			return git_op_fail(op, -EEXIST,
			    "%s is not a worktree of %s; it was left alone",
			    op->dir, git_root(op->git));
	} else if (file_is_dir(op->dir)) {
		rmdir(op->dir);
	}
	return GIT_OP_NEXT;
}

/* A removal that was killed in the middle may have lost the .git that the
 * next one asks for. */
static enum git_op_next
remove_ask_repair(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (!remove->registered || !file_is_dir(op->dir) ||
	    git_trees_has_git(op->dir))
		return GIT_OP_NEXT;
	op->run_dir = git_root(op->git);
	return git_op_args(op, "worktree", "repair", NULL);
}

/* It repairs all worktrees; errors about others do not matter here. */
static enum git_op_next
remove_repair(struct git_op *op, const struct git_answer *answer)
{
	(void)op;
	(void)answer;
	return GIT_OP_NEXT;
}

/* --- repositories inside ---------------------------------------------- */

/* Where the folder is gone, there is nothing to look at. One that is refused
 * cannot be saved from, but git itself would delete it. */
static enum git_op_next
remove_ask_untracked(struct git_op *op)
{
	struct remove_op *remove = op->self;
	cleanup_free char *gitdir = NULL, *common = NULL;
	struct err refused = { 0 };
	int r = -ENOENT;

	if (remove->registered)
		r = git_stand_find(
		    op->git, op->dir, &gitdir, &common, &refused);
	if (r == -EUCLEAN && git_trees_has_git(op->dir)) {
		op->err = refused;
		return GIT_OP_FAIL;
	}
	if (r < 0) {
		remove->gone = true;
		op->at = REMOVE_FOLLOW;
		return GIT_OP_AGAIN;
	}
	if (!remove->nested.no_index)
		git_nested_add_submodules(&remove->nested, gitdir);
	xstrset(&op->gitdir, gitdir);
	xstrset(&op->common, common);
	return git_nested_ask_untracked(&remove->nested, op);
}

static enum git_op_next
remove_untracked(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_untracked(&remove->nested, op, answer);
}

static enum git_op_next
remove_ask_ignored(struct git_op *op)
{
	struct remove_op *remove = op->self;

	return git_nested_ask_ignored(&remove->nested, op);
}

static enum git_op_next
remove_ignored(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_ignored(&remove->nested, op, answer);
}

static enum git_op_next
remove_ask_nested(struct git_op *op)
{
	struct remove_op *remove = op->self;

	return git_nested_ask(&remove->nested, op);
}

static enum git_op_next
remove_nested(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	return git_nested_answer(&remove->nested, op, answer);
}

/* --- the removal ------------------------------------------------------- */

static enum git_op_next
remove_ask_follow(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	return remove->gone ? git_follow_ask_gone(op) : GIT_OP_NEXT;
}

/* Branches and stashes of its own. What is unmerged is saved already. */
static enum git_op_next
remove_ask_keep(struct git_op *op)
{
	const struct remove_op *remove = op->self;
	cleanup_free char *ref = xasprintf("%s-refs", remove->save.ref);

	return remove->clone && !remove->gone ?
	    git_clone_op_ask_keep(op, ref, true) :
	    GIT_OP_NEXT;
}

static enum git_op_next
remove_ask_folder(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (remove->clone)
		return git_clone_op_ask_delete(op, op->dir);
	return remove->registered ? git_op_ask_unregister(op, op->dir) :
				    GIT_OP_NEXT;
}

static enum git_op_next
remove_ask_branch(struct git_op *op)
{
	struct remove_op *remove = op->self;
	cleanup_free char *name = git_op_branch_name(remove->save.branch);

	remove->removed = true;
	op->run_dir = git_root(op->git);
	return git_op_ask_ids(op, (const char *[]){ name, NULL });
}

static enum git_op_next
remove_branch(struct git_op *op, const struct git_answer *answer)
{
	struct remove_op *remove = op->self;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &remove->branch_id, 1);
	return GIT_OP_NEXT;
}

/* What is left of it are the commits of the branch. */
static enum git_op_next
remove_ask_branch_onto(struct git_op *op)
{
	const struct remove_op *remove = op->self;
	enum git_op_next next;

	if (!remove->gone || remove->branch_id[0] == '\0')
		return GIT_OP_NEXT;
	xstrset(&op->dir, git_root(op->git));
	next = git_op_find_gitdir(op);
	return next == GIT_OP_NEXT ? git_op_ask_onto(op) : next;
}

static enum git_op_next
remove_ask_branch_save(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (!remove->gone || remove->branch_id[0] == '\0')
		return GIT_OP_NEXT;
	memcpy(op->head_id, remove->branch_id, GIT_ID_SIZE);
	return git_save_ask_commits(op);
}

static enum git_op_next
remove_ask_delete(struct git_op *op)
{
	const struct remove_op *remove = op->self;

	if (remove->branch_id[0] == '\0')
		return GIT_OP_DONE;
	op->run_dir = git_root(op->git);
	return git_op_args(
	    op, "branch", "--quiet", "-D", "--", remove->save.branch, NULL);
}

static const struct git_op_step remove_steps[REMOVE_COUNT] = {
	[REMOVE_TREES] = { .ask = git_op_ask_trees, .answer = remove_trees },
	[REMOVE_REPAIR] = { .ask = remove_ask_repair, .answer = remove_repair },
	[REMOVE_UNTRACKED] = { .ask = remove_ask_untracked,
	    .answer = remove_untracked },
	[REMOVE_IGNORED] = { .ask = remove_ask_ignored,
	    .answer = remove_ignored },
	[REMOVE_NESTED] = { .ask = remove_ask_nested, .answer = remove_nested },
	[REMOVE_ONTO] = GIT_OP_ONTO,
	[REMOVE_SAVE] = GIT_SAVE,
	[REMOVE_KEEP] = { .ask = remove_ask_keep },
	[REMOVE_FOLLOW] = { .ask = remove_ask_follow },
	[REMOVE_FOLDER] = { .ask = remove_ask_folder },
	[REMOVE_BRANCH] = { .ask = remove_ask_branch, .answer = remove_branch },
	[REMOVE_BRANCH_ONTO] = { .ask = remove_ask_branch_onto,
	    .answer = git_op_onto },
	[REMOVE_BRANCH_SAVE] = { .ask = remove_ask_branch_save },
	[REMOVE_DELETE] = { .ask = remove_ask_delete },
};

static void
remove_finish(struct git_op *op, const struct err *err)
{
	const struct remove_op *remove = op->self;
	struct git_salvaged saved = git_save_result(&remove->save);

	saved.clean = "";
	/* A branch that cannot be saved or deleted stays, with its commits. */
	if (remove->removed && (err == NULL || err->code != -ECANCELED))
		err = NULL;
	remove->fn(err == NULL ? &saved : NULL, err, remove->arg);
}

static void
remove_release(struct git_op *op)
{
	struct remove_op *remove = op->self;

	git_save_release(&remove->save);
	git_nested_release(&remove->nested);
}

void
git_remove(struct git *git, const char *dir, const struct git_salvage *what,
    git_salvage_fn *fn, void *arg)
{
	struct remove_op *remove = xcalloc(1, sizeof *remove);
	struct git_op *op = &remove->save.op;

	git_save_init(&remove->save, what, true);
	remove->fn = fn;
	remove->arg = arg;
	op->self = remove;
	op->finish = remove_finish;
	op->release = remove_release;
	op->onto = xstrdup(what->onto);
	git_op_start(op, git, dir, remove_steps, nitems(remove_steps), true);
}
