/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-merge-place.h"
#include "git-op.h"
#include "git-verify.h"
#include "git-worktree.h"
#include "remove-tree.h"

#define ATTRIBUTES ":(top,glob)**/.gitattributes"

struct place_op {
	struct git_op op;
	char *commit;
	bool make, attributes;
	char *since; /* whose attributes lie there: git_merge_place's */
};

/* Everything is untracked to a git without an index. The locks are those of a
 * git that was killed. */
static void
clean(struct git_op *op)
{
	static const char *const names[] = { "index", "index.lock", "locked" };

	for (size_t i = 0; i < nitems(names); i++)
		unlink(git_op_text(op, "%s/%s", op->gitdir, names[i]));
	git_op_no_hooks(op);
	git_op_must(
	    op, "clean", "-d", "-x", "--force", "--force", "--quiet", NULL);
}

static void
place_run(struct git_op *op)
{
	struct place_op *place = op->self;

	if (place->make)
		git_worktree_op_add(op, NULL);
	if (!place->attributes || strcmp(place->commit, place->since) == 0)
		return;
	git_op_need_gitdir(op);
	/* An error: the old commit is gone. */
	if (place->since[0] == '\0' ||
	    git_op_try(op, "diff-tree", "-r", "--quiet", place->since,
		place->commit, "--", ATTRIBUTES, NULL) != 0) {
		place->since[0] = '\0';
		clean(op);
		git_op_no_hooks(op);
		if (git_op_try(op, "checkout", "--quiet", place->commit, "--",
			ATTRIBUTES, NULL) != 0 &&
		    strstr(op->answer.complaint, "did not match any file") ==
			NULL)
			git_op_die_as(op);
	}
	strlcpy(place->since, place->commit, GIT_ID_SIZE);
}

/* A helper that was killed has not told what lies there. */
static void
place_finish(struct git_op *op, const struct err *err)
{
	struct place_op *place = op->self;

	if (err != NULL)
		place->since[0] = '\0';
	op->work_fn(err, op->arg);
}

void
git_merge_place_prepare(struct git *git, struct git_merge_place *place,
    const char *commit, bool attributes, git_work_fn *fn, void *arg)
{
	struct place_op *prepare = git_op_new(
	    sizeof *prepare, git, place->dir, commit, place_run, place_finish);
	struct git_op *op = &prepare->op;
	cleanup_free char *gitdir = NULL;
	int r = git_verify(git_root(git), place->dir, &gitdir, NULL);

	if (r == -EUCLEAN)
		remove_tree(place->dir);
	if (r < 0)
		place->attributes[0] = '\0';
	prepare->commit = git_op_copy(op, commit);
	prepare->make = r < 0;
	prepare->attributes = attributes;
	prepare->since = place->attributes;
	op->work_fn = fn;
	op->arg = arg;
	op->ret = place->attributes;
	op->ret_size = sizeof place->attributes;
	git_op_begin(op, r < 0);
}
