/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errtext.h"
#include "file.h"
#include "git-merge-place.h"
#include "git-op.h"
#include "git-verify.h"
#include "git-worktree.h"
#include "mem.h"
#include "remove-tree.h"

#define ATTRIBUTES ":(top,glob)**/.gitattributes"

struct place_op {
	struct git_op op;
	struct git_merge_place *place;
	char commit[GIT_ID_SIZE];
	bool attributes;
	git_work_fn *fn;
	void *arg;
};

static enum git_op_next
place_find_gitdir(struct git_op *op)
{
	const struct place_op *prepare = op->self;

	if (!prepare->attributes ||
	    strcmp(prepare->commit, prepare->place->attributes) == 0)
		return GIT_OP_DONE;
	return git_op_find_gitdir(op);
}

static enum git_op_next
place_ask_changed(struct git_op *op)
{
	const struct place_op *prepare = op->self;
	const char *since = prepare->place->attributes;

	if (since[0] == '\0')
		return GIT_OP_NEXT;
	return git_op_args(op, "diff-tree", "-r", "--quiet", since,
	    prepare->commit, "--", ATTRIBUTES, NULL);
}

static enum git_op_next
place_is_ready(const struct place_op *prepare)
{
	memcpy(prepare->place->attributes, prepare->commit, GIT_ID_SIZE);
	return GIT_OP_DONE;
}

/* An error: the old commit is gone. */
static enum git_op_next
place_changed(struct git_op *op, const struct git_answer *answer)
{
	const struct place_op *prepare = op->self;

	if (answer->status == 0)
		return place_is_ready(prepare);
	prepare->place->attributes[0] = '\0';
	return GIT_OP_NEXT;
}

/* Everything is untracked to a git without an index. The locks are those of a
 * git that was killed. */
static enum git_op_next
place_ask_clean(struct git_op *op)
{
	static const char *const names[] = { "index", "index.lock", "locked" };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = file_join(op->gitdir, names[i]);

		unlink(path);
	}
	git_op_no_hooks(op);
	return git_op_args(
	    op, "clean", "-d", "-x", "--force", "--force", "--quiet", NULL);
}

static enum git_op_next
place_ask_checkout(struct git_op *op)
{
	const struct place_op *prepare = op->self;

	git_op_no_hooks(op);
	return git_op_args(
	    op, "checkout", "--quiet", prepare->commit, "--", ATTRIBUTES, NULL);
}

static enum git_op_next
place_checkout(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status == 0 ||
	    strstr(answer->complaint, "did not match any file") != NULL)
		return place_is_ready(op->self);
	return git_op_complain(op, answer);
}

static const struct git_op_step place_steps[] = {
	{ .ask = place_find_gitdir },
	{ .ask = place_ask_changed, .answer = place_changed },
	{ .ask = place_ask_clean },
	{ .ask = place_ask_checkout, .answer = place_checkout },
};

static void
place_finish(struct git_op *op, const struct err *err)
{
	const struct place_op *prepare = op->self;

	prepare->fn(err, prepare->arg);
}

static void
place_start(struct git *git, struct place_op *prepare)
{
	git_op_start(&prepare->op, git, prepare->place->dir, place_steps,
	    nitems(place_steps), false);
}

/* What making it needs to go on. */
struct making {
	struct git *git;
	struct place_op *prepare; /* NULL once it goes on by itself */
};

static void
making_free(void *arg)
{
	struct making *making = arg;

	free(making->prepare);
	free(making);
}

static void
on_made(const struct err *err, void *arg)
{
	struct making *making = arg;

	if (err == NULL)
		place_start(making->git, take_ptr(&making->prepare));
	else
		place_finish(&making->prepare->op, err);
	making_free(making);
}

static void
make(struct git *git, struct place_op *prepare)
{
	struct making *making = xcalloc(1, sizeof *making);

	prepare->place->attributes[0] = '\0';
	making->git = git;
	making->prepare = prepare;
	git_worktree_add_detached(git, prepare->place->dir, prepare->commit,
	    on_made, making_free, making);
}

void
git_merge_place_prepare(struct git *git, struct git_merge_place *place,
    const char *commit, bool attributes, git_work_fn *fn, void *arg)
{
	struct place_op *prepare = xcalloc(1, sizeof *prepare);
	cleanup_free char *gitdir = NULL;
	int r = git_verify(git_root(git), place->dir, &gitdir, NULL);

	prepare->place = place;
	strlcpy(prepare->commit, commit, sizeof prepare->commit);
	prepare->attributes = attributes;
	prepare->fn = fn;
	prepare->arg = arg;
	prepare->op.self = prepare;
	prepare->op.finish = place_finish;
	if (r == -EUCLEAN)
		remove_tree(place->dir);
	if (r == 0)
		place_start(git, prepare);
	else
		make(git, prepare);
}
