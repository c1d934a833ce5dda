/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "git-clone.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-stand.h"
#include "git-turn.h"
#include "mem.h"
#include "remove-tree.h"

#define INDEX_MAX (INT64_C(1) << 30)

struct turn_op {
	struct git_op op;
	char *branch, *keep;
	char *place; /* a folder beside the tree, for what is made */
	char *made; /* the new tree in it */
	struct git_clone *clone; /* while it is made */
	git_work_fn *fn;
	void *arg;
};

static enum git_op_next
turn_ask_delete(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	return file_exists(turn->place) ?
	    git_clone_op_ask_delete(op, turn->place) :
	    GIT_OP_NEXT;
}

static enum git_op_next
turn_check(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	if (git_op_has(op, "modules"))
		return git_op_fail(op, -ENOTSUP,
		    "%s has submodules checked out, which a strict sandbox "
		    "cannot carry; use sandbox = \"worktree\"",
		    op->dir);
	if (op->head_id[0] == '\0')
		return git_op_fail(
		    op, -ENOENT, "there is no commit in %s", op->dir);
	if (mkdir(turn->place, 0700) == -1)
		return git_op_fail(op, -errno, "%s cannot be made (error %d)",
		    turn->place, errno);
	return GIT_OP_NEXT;
}

/* One rename, so that there is always one of the two. */
static enum git_op_next
turn_exchange(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *old = file_join(op->dir, ".git");
	cleanup_free char *new = file_join(turn->made, ".git");
	cleanup_free char *out = file_join(turn->place, "old");

	if (renameat2(AT_FDCWD, new, AT_FDCWD, old, RENAME_EXCHANGE) == 0)
		return GIT_OP_NEXT;
	if ((errno != EINVAL && errno != ENOSYS) || rename(old, out) == -1)
		return git_op_fail(
		    op, -errno, "%s cannot be replaced (error %d)", old, errno);
	if (rename(new, old) == 0)
		return GIT_OP_NEXT;
	rename(out, old);
	return git_op_fail(op, -EIO, "%s cannot be replaced", old);
}

/* --- a clone ----------------------------------------------------------- */

static void
on_cloned(const struct err *err, void *arg)
{
	struct turn_op *turn = arg;

	turn->clone = NULL;
	if (err != NULL)
		turn->op.err = *err;
	git_op_resume(&turn->op, err != NULL ? GIT_OP_FAIL : GIT_OP_NEXT);
}

static enum git_op_next
clone_ask(struct git_op *op)
{
	struct turn_op *turn = op->self;
	const struct git_clone_spec spec = { .root = git_root(op->git),
		.git_dir = op->common,
		.dir = turn->made,
		.branch = turn->branch,
		.id = op->head_id,
		.landing = op->onto,
		.landing_id = op->onto_id,
		.from = op->gitdir };

	turn->clone =
	    git_clone_new(git_loop(op->git), &spec, on_cloned, turn, &op->err);
	return turn->clone != NULL ? GIT_OP_WAIT : GIT_OP_FAIL;
}

/* A few small files; git would look for the .git that names them. */
static enum git_op_next
clone_unregister(struct git_op *op)
{
	remove_tree(op->gitdir);
	return GIT_OP_NEXT;
}

static const struct git_op_step clone_steps[] = {
	GIT_OP_GITDIR,
	GIT_FOLLOW,
	GIT_OP_ONTO,
	{ .ask = turn_ask_delete },
	{ .ask = turn_check },
	{ .ask = clone_ask },
	{ .ask = turn_exchange },
	{ .ask = clone_unregister },
	{ .ask = turn_ask_delete },
};

/* --- a worktree -------------------------------------------------------- */

static enum git_op_next
tree_ask_keep(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	return git_clone_op_ask_keep(op, turn->keep, false);
}

/* What a turn has left that was killed; none is right for a clone. */
static void
unregister(const struct git_op *op, const char *path)
{
	char *own;

	while ((own = git_dirs_registered(op->common, path)) != NULL) {
		int r = remove_tree(own);

		free(own);
		if (r < 0)
			return;
	}
}

static enum git_op_next
tree_ask_add(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	unregister(op, turn->made);
	unregister(op, op->dir);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	return git_op_args(op, "worktree", "add", "--quiet", "--detach",
	    "--no-checkout", "--", turn->made, op->head_id, NULL);
}

static int
copy_index(const char *from, const char *to)
{
	cleanup_free char *index = file_join(from, "index");
	cleanup_free char *target = file_join(to, "index");
	cleanup_buf struct buf text = BUF_INIT;
	int r = file_read(index, INDEX_MAX, &text, NULL);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? r :
		       file_replace(target, text.data, text.len, 0644, NULL);
}

/* The new git directory takes the index, and names the place where the tree
 * is. */
static enum git_op_next
tree_fit(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *own = git_dirs_registered(op->common, turn->made);
	cleanup_free char *link = NULL, *back = NULL, *to = NULL;
	cleanup_free char *dot_git = NULL;

	if (own == NULL)
		return git_op_fail(
		    op, -EIO, "%s is not a worktree", turn->made);
	dot_git = file_join(turn->made, ".git");
	back = file_join(own, "gitdir");
	link = xasprintf("gitdir: %s\n", own);
	to = xasprintf("%s/.git\n", op->dir);
	if (copy_index(op->gitdir, own) < 0 ||
	    file_replace(dot_git, link, strlen(link), 0644, NULL) < 0 ||
	    file_replace(back, to, strlen(to), 0644, NULL) < 0)
		return git_op_fail(
		    op, -EIO, "%s cannot be made a worktree", op->dir);
	return GIT_OP_NEXT;
}

static const struct git_op_step tree_steps[] = {
	GIT_OP_GITDIR,
	GIT_FOLLOW,
	GIT_OP_ONTO,
	{ .ask = tree_ask_keep },
	{ .ask = turn_ask_delete },
	{ .ask = turn_check },
	{ .ask = tree_ask_add },
	{ .ask = tree_fit },
	{ .ask = turn_exchange },
	{ .ask = turn_ask_delete },
};

/* --- both -------------------------------------------------------------- */

static void
turn_finish(struct git_op *op, const struct err *err)
{
	const struct turn_op *turn = op->self;

	turn->fn(err, turn->arg);
}

static void
turn_release(struct git_op *op)
{
	struct turn_op *turn = op->self;

	git_clone_free(turn->clone);
	free(turn->branch);
	free(turn->keep);
	free(turn->place);
	free(turn->made);
}

static void
turn_start(struct git *git, const char *dir, const struct git_turn *what,
    const struct git_op_step *steps, size_t count, git_work_fn *fn, void *arg)
{
	struct turn_op *turn = xcalloc(1, sizeof *turn);
	const char *name = strrchr(dir, '/');

	xstrset(&turn->branch, what->branch);
	xstrset(&turn->keep, what->keep);
	turn->place = xasprintf("%s.turning", dir);
	turn->made = file_join(turn->place, name != NULL ? name + 1 : dir);
	turn->fn = fn;
	turn->arg = arg;
	turn->op.onto = xstrdup(what->onto);
	turn->op.self = turn;
	turn->op.finish = turn_finish;
	turn->op.release = turn_release;
	git_op_start(&turn->op, git, dir, steps, count, true);
}

void
git_turn_to_clone(struct git *git, const char *dir, const struct git_turn *turn,
    git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, clone_steps, nitems(clone_steps), fn, arg);
}

void
git_turn_to_worktree(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, tree_steps, nitems(tree_steps), fn, arg);
}
