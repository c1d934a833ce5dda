/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>

#include "git-dirs.h"
#include "git-land-check.h"
#include "git-land-where.h"
#include "git-move-files.h"
#include "git-move.h"
#include "git-trees.h"
#include "mem.h"

static enum git_op_next
wait_for(struct git_move *move, const char *what, const char *where)
{
	return git_move_end_with(move, GIT_LAND_DIRTY, what, where);
}

/* What a person is in the middle of with HEAD on the branch, the tree clean or
 * not; NULL = nothing. */
static const char *
find_doing(const struct git_op *op)
{
	static const struct {
		const char *name, *words;
	} doings[] = {
		{ "MERGE_HEAD", "a merge is in progress" },
		{ "CHERRY_PICK_HEAD", "a cherry-pick is in progress" },
		{ "REVERT_HEAD", "a revert is in progress" },
		{ "rebase-apply", "git am is in progress" },
		{ "sequencer", "a cherry-pick or revert is in progress" },
	};

	for (size_t i = 0; i < nitems(doings); i++)
		if (git_op_has(op, doings[i].name))
			return doings[i].words;
	return NULL;
}

static enum git_op_next
judge_on(struct git_move *move, const struct git_tree *on)
{
	const char *doing;

	if (on->missing)
		return wait_for(move,
		    "the branch is checked out in a locked worktree that is "
		    "not there (mount it, or type: git worktree unlock)",
		    on->path);
	move->tree = xstrdup(on->path);
	move->gitdir = git_dirs_gitdir(on->path);
	if (move->gitdir == NULL)
		return wait_for(move,
		    "the .git file of a worktree is damaged (repair it with: "
		    "git worktree repair)",
		    move->tree);
	if (!git_dirs_is_on(move->gitdir, move->branch))
		return wait_for(move,
		    "the branch is checked out by another name, a symbolic "
		    "reference",
		    move->tree);
	xstrset(&move->op->gitdir, move->gitdir);
	doing = find_doing(move->op);
	return doing != NULL ? wait_for(move, doing, move->tree) : GIT_OP_NEXT;
}

/* The first tree that a worker or a check has put on the branch. */
static const struct git_tree *
find_stray(const struct git_move *move, const struct git_trees *trees)
{
	const char *const *own = git_own(move->op->git);
	const struct git_tree *on = NULL;

	while ((on = git_trees_on(trees, move->branch, on)) != NULL)
		for (size_t i = 0; own[i] != NULL; i++)
			if (!on->missing && git_dirs_is_below(on->path, own[i]))
				return on;
	return NULL;
}

static enum git_op_next
judge_trees(struct git_move *move, const struct git_trees *trees)
{
	const struct git_tree *on = git_trees_on(trees, move->branch, NULL);
	const struct git_tree *other =
	    on != NULL ? git_trees_on(trees, move->branch, on) : NULL;

	free(take_ptr(&move->tree));
	free(take_ptr(&move->gitdir));
	if (other != NULL)
		return wait_for(move,
		    "the branch is checked out twice, the second time",
		    other->path);
	for (size_t i = 0; i < trees->count; i++)
		if (trees->v[i].branch == NULL &&
		    git_land_check_rebases(trees->v[i].path, move->branch))
			return wait_for(move,
			    "a rebase of the branch is in progress",
			    trees->v[i].path);
	return on != NULL ? judge_on(move, on) : GIT_OP_NEXT;
}

enum git_op_next
git_land_where(struct git_op *op)
{
	struct git_move *move = op->self;
	struct git_trees trees = { 0 };
	const struct git_tree *stray;
	enum git_op_next next;
	cleanup_free char *target = git_dirs_alias(move->common, move->branch);

	if (target != NULL)
		return git_op_fail(op, -ENOTSUP,
		    "%s is a symbolic reference to %s; name that branch in "
		    "repo.default_branch",
		    move->branch, target);
	if (git_dirs_trees(op->dir, &trees, &op->err) < 0)
		return GIT_OP_FAIL;
	stray = find_stray(move, &trees);
	xstrset(&move->stray, stray != NULL ? stray->path : NULL);
	next = stray != NULL ? GIT_OP_NEXT : judge_trees(move, &trees);
	git_trees_release(&trees);
	if (next == GIT_OP_NEXT)
		git_move_files_begin(move);
	return next;
}

/* By compare-and-swap: it may have left the branch by now. */
enum git_op_next
git_land_where_ask_stray(struct git_op *op)
{
	struct git_move *move = op->self;

	if (move->stray == NULL)
		return GIT_OP_NEXT;
	op->run_dir = move->stray;
	git_move_config(move, &op->env, false);
	return git_op_args(op, "update-ref", "--no-deref", "-m",
	    "llmc: left the landing branch", "HEAD", op->onto_id, op->onto_id,
	    NULL);
}

enum git_op_next
git_land_where_stray(struct git_op *op, const struct git_answer *answer)
{
	struct git_move *move = op->self;

	if (answer->status == 0 && move->tries++ < GIT_TRIES)
		return git_move_go(move, MOVE_TREES);
	if (answer->locked)
		return git_move_end_with(move, GIT_LAND_HELD,
		    "another git process holds a lock", move->stray);
	/* Unless the branch has moved. */
	err_set(&move->refused, -EIO,
	    "%s has the landing branch checked out, and cannot be taken off "
	    "it: %s",
	    move->stray,
	    answer->err != NULL ? answer->err->msg : answer->complaint);
	return git_move_go(move, MOVE_LEAVE);
}
