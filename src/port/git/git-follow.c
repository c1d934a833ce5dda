/* SPDX-License-Identifier: ISC */

/* HEAD of a worker's tree: detached, with a branch that follows, or on it. */
#include "base.h"

#include <fcntl.h>

#include "git-private.h"

#define NOTE_MAX 4096

int
git_follow_elsewhere(
    const struct git *git, const char *dir, char **ret_path, struct err *err)
{
	struct git_trees trees = { 0 };
	const struct git_tree *other = NULL;
	struct git_home home;
	int r;

	*ret_path = NULL;
	if (!git_home(git, dir, &home))
		return 0;
	r = git_dirs_trees(git_root(git), false, &trees, err);
	while (r == 0 && *ret_path == NULL &&
	    (other = git_trees_on(&trees, home.branch, other)) != NULL)
		if (!git_trees_same_path(other->path, dir))
			*ret_path = xstrdup(other->path);
	git_trees_release(&trees);
	return r;
}

void
git_follow_check_trees(struct git_op *op)
{
	struct git_home home;
	char *path;

	if (!git_home(op->git, op->dir, &home))
		return;
	if (git_follow_elsewhere(op->git, op->dir, &path, &op->err) < 0)
		git_op_die_of(op);
	if (path != NULL)
		git_op_die(op, -EBUSY,
		    "branch %s is checked out at %s, so %s cannot stand on it; "
		    "type: git -C '%s' switch --detach",
		    home.branch, path, home.worker, path);
}

/* During a rebase, another one is of a cherry-pick by the worker. */
static bool
is_of_rebase(const char *pick, const char *rebase)
{
	cleanup_buf struct buf one = BUF_INIT, other = BUF_INIT;

	return file_read(pick, NOTE_MAX, &one, NULL) == 0 &&
	    file_read(rebase, NOTE_MAX, &other, NULL) == 0 &&
	    strcmp(one.data, other.data) == 0;
}

void
git_follow_tidy(const struct git_op *op)
{
	cleanup_free char *pick = NULL, *rebase = NULL;
	struct git_home home;

	/* It comes from a rebase if that has noted its commit, too. */
	if (!git_home(op->git, op->dir, &home) || !home.detached ||
	    home.clone || !git_op_has(op, "REBASE_HEAD") ||
	    git_op_has(op, "sequencer"))
		return;
	pick = file_join(op->gitdir, "CHERRY_PICK_HEAD");
	rebase = file_join(op->gitdir, "REBASE_HEAD");
	if (!git_op_rebasing(op)) {
		unlink(pick);
		unlink(rebase);
	} else if (is_of_rebase(pick, rebase))
		unlink(pick);
}

static void
move_branch(struct git_op *op, const char *branch)
{
	char *path;

	if (git_follow_elsewhere(op->git, op->dir, &path, &op->err) < 0)
		git_op_die_of(op);
	/* HEAD has the work; the branch follows when it is left. */
	if (path != NULL)
		return;
	op->run_dir = git_root(op->git);
	git_op_no_hooks(op);
	git_op_args(op, "update-ref", "--no-deref", "--create-reflog", "-m",
	    "llmc: follow", git_op_text(op, "refs/heads/%s", branch),
	    op->followed, NULL);
	/* "" as the old value: it must not exist. */
	if (op->follows_known)
		git_op_arg(op, op->follows);
	git_op_must(op, NULL);
}

/* The import checks all objects, and that none is missing. */
static void
follow_clone(struct git_op *op, const char *branch)
{
	if (op->followed[0] == '\0') {
		git_op_find_ids(op, (const char *[]){ "HEAD^{commit}", NULL },
		    &op->followed);
		if (op->followed[0] == '\0' ||
		    (op->follows_known &&
			strcmp(op->followed, op->follows) == 0))
			return;
	}
	git_import_run(op, op->followed);
	move_branch(op, branch);
}

static void
follow_tree(struct git_op *op, const struct git_home *home)
{
	char ids[2][GIT_ID_SIZE], *head = git_dirs_head(op->gitdir);

	/* A worker in a box can switch to a branch, but not commit to it. It
	 * may be one without a commit, as git checkout --orphan makes it. */
	if (op->followed[0] == '\0') {
		git_op_find_ids(op,
		    (const char *[]){ "HEAD^{commit}",
			git_op_text(op, "refs/heads/%s^{commit}", home->branch),
			NULL },
		    ids);
		strlcpy(
		    op->followed, ids[ids[0][0] == '\0'], sizeof op->followed);
		if (op->followed[0] == '\0')
			return;
	}
	/* Files and index stay. */
	if (head != NULL && !op->follow_gone) {
		git_op_no_hooks(op);
		git_op_must(op, "update-ref", "--no-deref", "-m",
		    "llmc: detach", "HEAD", op->followed, NULL);
		if (strcmp(op->follows, op->followed) == 0)
			return;
	}
	/* Everything that no branch has yet is read, and compared with its
	 * name; a mismatch is only reported. */
	op->run_dir = git_root(op->git);
	if (git_op_try(op, "rev-list", "--objects", "--verify-objects",
		"--quiet", git_op_text(op, "%s^{commit}", op->followed),
		"--not", "--branches", "--", NULL) != 0 ||
	    strstr(op->answer.complaint, "hash mismatch") != NULL) {
		if (op->follow_gone)
			return;
		git_op_die(op, -EIO,
		    "HEAD of %s is %.12s, which is not whole in the "
		    "repository, so branch %s does not follow (%s); type: llmc "
		    "reset %s",
		    op->dir, op->followed, home->branch, op->answer.complaint,
		    home->worker);
	}
	move_branch(op, home->branch);
}

void
git_follow_run(struct git_op *op)
{
	struct git_home home;
	int r;

	op->followed[0] = op->follows[0] = '\0';
	git_follow_tidy(op);
	if (!git_home(op->git, op->dir, &home) || !home.detached ||
	    git_op_rebasing(op))
		return;
	git_dirs_detached(op->gitdir, op->followed, sizeof op->followed);
	if (op->followed[0] == '\0' && op->follow_gone)
		return;
	r = git_refs_read(op->common,
	    git_op_text(op, "refs/heads/%s", home.branch), op->follows);
	op->follows_known = r == 0 || r == -ENOENT;
	if (r == 0 && strcmp(op->follows, op->followed) == 0)
		return;
	if (home.clone)
		follow_clone(op, home.branch);
	else
		follow_tree(op, &home);
}

void
git_follow_gone(struct git_op *op)
{
	struct git_home home;
	char *root, *common, *gitdir;

	if (!git_home(op->git, op->dir, &home) || !home.detached)
		return;
	if (git_verify_common(git_root(op->git), git_root(op->git), &root,
		&common, &op->err) < 0)
		git_op_die_of(op);
	gitdir = git_dirs_registered(common, op->dir);
	if (gitdir == NULL)
		return;
	op->gitdir = gitdir;
	op->common = common;
	op->follow_gone = true;
	git_follow_run(op);
}

/* --- detached, or on the branch ---------------------------------------- */

/* What git has in the place of a branch's name during a rebase. */
#define DETACHED_NAME "detached HEAD"

void
git_follow_put(
    struct git_op *op, const char *branch, bool detached, const char *id)
{
	git_op_no_hooks(op);
	if (detached)
		git_op_must(op, "update-ref", "--no-deref", "-m",
		    "llmc: detach", "HEAD", id, NULL);
	else
		git_op_must(op, "symbolic-ref", "-m", "llmc: attach", "HEAD",
		    git_op_text(op, "refs/heads/%s", branch), NULL);
}

struct set_op {
	struct git_op op;
	char *branch;
	bool detached;
};

/* When it is done, git sets HEAD and the branch to what this file says. The
 * folder is the worker's: no link is followed. */
static int
write_head_name(const char *gitdir, const char *folder, const char *name)
{
	cleanup_free char *path = file_join(gitdir, folder);
	cleanup_free char *line = xasprintf("%s\n", name);
	cleanup_fd int dir =
	    open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_fd int fd = -1;

	if (dir == -1)
		return errno == ENOENT ? 0 : -errno;
	unlinkat(dir, "head-name.llmc", 0);
	fd = openat(dir, "head-name.llmc",
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd == -1)
		return -errno;
	if (file_write_all(fd, line, strlen(line)) < 0 ||
	    renameat(dir, "head-name.llmc", dir, "head-name") == -1)
		return -EIO;
	return 0;
}

static void
set_run(struct git_op *op)
{
	const struct set_op *set = op->self;
	const char *ref = git_op_text(op, "refs/heads/%s", set->branch);
	const char *name = set->detached ? DETACHED_NAME : ref, *head;
	struct git_home home;

	git_op_need_gitdir(op);
	git_follow_run(op);
	if (git_op_rebasing(op)) {
		if (write_head_name(op->gitdir, "rebase-merge", name) < 0 ||
		    write_head_name(op->gitdir, "rebase-apply", name) < 0)
			git_op_die(op, -EIO,
			    "the rebase in %s cannot go on in another way; "
			    "finish or abort it first",
			    op->dir);
		/* The worker may have put HEAD on a branch all the same. */
		if (!set->detached)
			return;
	}
	head = git_dirs_head(op->gitdir);
	if (set->detached ? head == NULL : text_is(head, ref))
		return;
	if (!set->detached && head != NULL)
		git_op_die(op, -EUCLEAN,
		    "HEAD of %s is %s, not its own branch %s; type: git -C "
		    "'%s' switch %s",
		    op->dir, head, set->branch, op->dir, set->branch);
	/* What is committed here from now on moves the branch at once. */
	if (!set->detached) {
		if (!git_home(op->git, op->dir, &home))
			return;
		git_follow_check_trees(op);
	}
	git_op_find_ids(
	    op, (const char *[]){ "HEAD^{commit}", NULL }, &op->head_id);
	if (op->head_id[0] == '\0')
		git_op_die(op, -ENOENT, "there is no commit in %s", op->dir);
	git_follow_put(op, set->branch, set->detached, op->head_id);
}

void
git_follow_set(struct git *git, const char *dir, const char *branch,
    bool detached, git_work_fn *fn, void *arg)
{
	struct set_op *set =
	    git_op_new(sizeof *set, git, dir, NULL, set_run, NULL);

	set->branch = git_op_copy(&set->op, branch);
	set->detached = detached;
	set->op.work_fn = fn;
	set->op.arg = arg;
	git_op_begin(&set->op, false);
}
