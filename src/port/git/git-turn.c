/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "git-clone.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-stand.h"
#include "git-turn.h"
#include "remove-tree.h"

#define INDEX_MAX (INT64_C(1) << 30)

struct turn_op {
	struct git_op op;
	char *branch, *keep;
	char *place; /* a folder beside the tree, for what is made */
	char *made; /* the new tree in it */
};

static void
clear_place(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	if (file_exists(turn->place))
		git_clone_op_delete(op, turn->place);
}

static void
make_place(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	clear_place(op);
	if (git_op_has(op, "modules"))
		git_op_die(op, -ENOTSUP,
		    "%s has submodules checked out, which a strict sandbox "
		    "cannot carry; use sandbox = \"worktree\"",
		    op->dir);
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	if (mkdir(turn->place, 0700) == -1)
		git_op_die(op, -errno, "%s cannot be made (error %d)",
		    turn->place, errno);
}

/* One rename, so that there is always one of the two. */
static void
exchange(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *old = file_join(op->dir, ".git");
	cleanup_free char *new = file_join(turn->made, ".git");
	cleanup_free char *out = file_join(turn->place, "old");

	if (renameat2(AT_FDCWD, new, AT_FDCWD, old, RENAME_EXCHANGE) == 0)
		return;
	if ((errno != EINVAL && errno != ENOSYS) || rename(old, out) == -1)
		git_op_die(
		    op, -errno, "%s cannot be replaced (error %d)", old, errno);
	if (rename(new, old) == 0)
		return;
	rename(out, old);
	git_op_die(op, -EIO, "%s cannot be replaced", old);
}

static void
begin(struct git_op *op)
{
	git_op_need_gitdir(op);
	git_follow_run(op);
	git_op_need_onto(op);
}

static void
clone_run(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	struct git_clone_spec spec = { .root = git_root(op->git),
		.dir = turn->made,
		.branch = turn->branch,
		.landing = op->onto };

	begin(op);
	make_place(op);
	spec.git_dir = op->common;
	spec.id = op->head_id;
	spec.landing_id = op->onto_id;
	spec.from = op->gitdir;
	if (git_clone_make(&spec, &op->err) < 0)
		git_op_die_of(op);
	exchange(op);
	/* A few small files; git would look for the .git that names them. */
	remove_tree(op->gitdir);
	clear_place(op);
}

/* --- a worktree -------------------------------------------------------- */

/* What a turn has left that was killed; none is right for a clone. */
static void
unregister(const struct git_op *op, const char *path)
{
	char *own;

	while ((own = git_dirs_registered(op->common, path)) != NULL &&
	    remove_tree(own) >= 0)
		free(own);
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
static void
fit(struct git_op *op)
{
	const struct turn_op *turn = op->self;
	cleanup_free char *own = git_dirs_registered(op->common, turn->made);
	cleanup_free char *link = NULL, *back = NULL, *to = NULL;
	cleanup_free char *dot_git = NULL;

	if (own == NULL)
		git_op_die(op, -EIO, "%s is not a worktree", turn->made);
	dot_git = file_join(turn->made, ".git");
	back = file_join(own, "gitdir");
	link = xasprintf("gitdir: %s\n", own);
	to = xasprintf("%s/.git\n", op->dir);
	if (copy_index(op->gitdir, own) < 0 ||
	    file_replace(dot_git, link, strlen(link), 0644, NULL) < 0 ||
	    file_replace(back, to, strlen(to), 0644, NULL) < 0)
		git_op_die(op, -EIO, "%s cannot be made a worktree", op->dir);
}

static void
tree_run(struct git_op *op)
{
	const struct turn_op *turn = op->self;

	begin(op);
	git_clone_op_keep(op, turn->keep, false);
	make_place(op);
	unregister(op, turn->made);
	unregister(op, op->dir);
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_must(op, "worktree", "add", "--quiet", "--detach",
	    "--no-checkout", "--", turn->made, op->head_id, NULL);
	fit(op);
	exchange(op);
	clear_place(op);
}

static void
turn_start(struct git *git, const char *dir, const struct git_turn *what,
    void (*run)(struct git_op *op), git_work_fn *fn, void *arg)
{
	struct turn_op *turn =
	    git_op_new(sizeof *turn, git, dir, what->onto, run, NULL);
	struct git_op *op = &turn->op;
	const char *name = strrchr(dir, '/');

	turn->branch = git_op_copy(op, what->branch);
	turn->keep = git_op_copy(op, what->keep);
	turn->place = git_op_text(op, "%s.turning", dir);
	turn->made = git_op_text(
	    op, "%s/%s", turn->place, name != NULL ? name + 1 : dir);
	op->work_fn = fn;
	op->arg = arg;
	git_op_begin(op, true);
}

void
git_turn_to_clone(struct git *git, const char *dir, const struct git_turn *turn,
    git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, clone_run, fn, arg);
}

void
git_turn_to_worktree(struct git *git, const char *dir,
    const struct git_turn *turn, git_work_fn *fn, void *arg)
{
	turn_start(git, dir, turn, tree_run, fn, arg);
}
