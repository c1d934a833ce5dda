/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errtext.h"
#include "file.h"
#include "git-dirs.h"
#include "git-follow.h"
#include "git-op.h"
#include "git-refs.h"
#include "git-stand.h"
#include "git-verify.h"
#include "mem.h"

/* What git has in the place of a branch's name during a rebase. */
#define DETACHED_NAME "detached HEAD"

bool
git_stand_is_clone(const struct git *git, const char *dir)
{
	struct git_home home;

	return git_home(git, dir, &home) && home.clone;
}

int
git_stand_find(const struct git *git, const char *dir, char **ret_gitdir,
    char **ret_common, struct err *err)
{
	return git_stand_is_clone(git, dir) ?
	    git_verify_clone(git_root(git), dir, ret_gitdir, ret_common, err) :
	    git_verify_common(git_root(git), dir, ret_gitdir, ret_common, err);
}

static bool
is_rebasing(const char *gitdir)
{
	cleanup_free char *merge = file_join(gitdir, "rebase-merge");
	cleanup_free char *apply = file_join(gitdir, "rebase-apply");

	return file_exists(merge) || file_exists(apply);
}

static bool
is_detached(const char *gitdir)
{
	char id[GIT_ID_SIZE];

	git_dirs_detached(gitdir, id, sizeof id);
	return id[0] != '\0';
}

bool
git_stand_is_on(const struct git *git, const char *dir, const char *gitdir,
    const char *branch)
{
	struct git_home home;

	if (!git_stand_is_clone(git, dir) && git_dirs_is_on(gitdir, branch))
		return true;
	return git_home(git, dir, &home) && home.detached &&
	    strcmp(home.branch, branch) == 0 && !is_rebasing(gitdir) &&
	    (home.clone || is_detached(gitdir));
}

void
git_stand_name(const struct git *git, const char *dir, const char *gitdir,
    char *branch, size_t size)
{
	struct git_home home;

	if (!git_home(git, dir, &home))
		return;
	if ((branch[0] == '\0' || home.clone) &&
	    git_stand_is_on(git, dir, gitdir, home.branch))
		strlcpy(branch, home.branch, size);
}

/* --- the guard --------------------------------------------------------- */

static bool
has_arg(const char *const *args, const char *arg)
{
	for (; *args != NULL; args++)
		if (strcmp(*args, arg) == 0)
			return true;
	return false;
}

/* To quit leaves HEAD where it is. */
static bool
writes_branch(const char *const *args)
{
	static const char *const verbs[] = { "am", "cherry-pick", "commit",
		"merge", "rebase", "reset", "revert" };
	const char *verb = git_verb(args);

	for (size_t i = 0; i < nitems(verbs); i++)
		if (strcmp(verb, verbs[i]) == 0)
			return !has_arg(args, "--quit");
	return false;
}

static int
refuse(const struct git_home *home, const char *what, const char *is,
    struct err *err)
{
	return err_set(err, -EUCLEAN,
	    "%s is %s, which is not the branch of %s: nothing is written "
	    "there; type: llmc reset %s",
	    what, is, home->worker, home->worker);
}

int
git_stand_check(const struct git *git, const char *dir, const char *gitdir,
    const char *common, const char *const *args, struct err *err)
{
	bool writes = writes_branch(args);
	cleanup_free char *own = NULL, *head = NULL, *alias = NULL;
	struct git_home home;

	if ((!writes && strcmp(git_verb(args), "checkout") != 0) ||
	    !git_home(git, dir, &home) || home.clone)
		return 0;
	own = xasprintf("refs/heads/%s", home.branch);
	alias = git_dirs_alias(common, home.branch);
	if (alias != NULL)
		return refuse(&home, own, alias, err);
	head = writes ? git_dirs_head(gitdir) : NULL;
	if (head != NULL && strcmp(head, own) != 0) {
		cleanup_free char *what = xasprintf("HEAD of %s", dir);

		return refuse(&home, what, head, err);
	}
	return 0;
}

/* --- HEAD -------------------------------------------------------------- */

enum git_op_next
git_stand_ask(struct git_op *op, const char *branch, const char *id)
{
	struct git_home home;
	cleanup_free char *ref = xasprintf("refs/heads/%s", branch);

	git_op_no_hooks(op);
	if (git_home(op->git, op->dir, &home) && home.detached)
		return git_op_args(op, "update-ref", "--no-deref", "-m",
		    "llmc: detach", "HEAD", id, NULL);
	return git_op_args(
	    op, "symbolic-ref", "-m", "llmc: attach", "HEAD", ref, NULL);
}

/* --- the other way ----------------------------------------------------- */

struct set_op {
	struct git_op op;
	char *branch;
	bool detached;
	git_work_fn *fn;
	void *arg;
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

static enum git_op_next
set_rebase(struct git_op *op)
{
	const struct set_op *set = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", set->branch);
	const char *name = set->detached ? DETACHED_NAME : ref;

	if (!is_rebasing(op->gitdir))
		return GIT_OP_NEXT;
	if (write_head_name(op->gitdir, "rebase-merge", name) < 0 ||
	    write_head_name(op->gitdir, "rebase-apply", name) < 0)
		return git_op_fail(op, -EIO,
		    "the rebase in %s cannot go on in another way; finish or "
		    "abort it first",
		    op->dir);
	/* The worker may have put HEAD on a branch all the same. */
	return set->detached ? GIT_OP_NEXT : GIT_OP_DONE;
}

static enum git_op_next
set_check(struct git_op *op)
{
	const struct set_op *set = op->self;
	cleanup_free char *head = git_dirs_head(op->gitdir);
	cleanup_free char *ref = xasprintf("refs/heads/%s", set->branch);

	if (set->detached)
		return head == NULL ? GIT_OP_DONE : GIT_OP_NEXT;
	if (head == NULL)
		return GIT_OP_NEXT;
	if (strcmp(head, ref) == 0)
		return GIT_OP_DONE;
	return git_op_fail(op, -EUCLEAN,
	    "HEAD of %s is %s, not its own branch %s; type: git -C '%s' "
	    "switch %s",
	    op->dir, head, set->branch, op->dir, set->branch);
}

/* What is committed here from now on moves the branch at once. */
static enum git_op_next
set_ask_trees(struct git_op *op)
{
	const struct set_op *set = op->self;

	return set->detached ? GIT_OP_NEXT : git_follow_ask_trees(op);
}

static enum git_op_next
set_ask_head(struct git_op *op)
{
	const struct set_op *set = op->self;
	cleanup_free char *ref = xasprintf("refs/heads/%s", set->branch);

	git_op_no_hooks(op);
	if (set->detached)
		return git_op_args(op, "update-ref", "--no-deref", "-m",
		    "llmc: detach", "HEAD", op->head_id, NULL);
	return git_op_args(
	    op, "symbolic-ref", "-m", "llmc: attach", "HEAD", ref, NULL);
}

static enum git_op_next
set_ask_id(struct git_op *op)
{
	return git_op_ask_ids(op, (const char *[]){ "HEAD^{commit}", NULL });
}

static enum git_op_next
set_id(struct git_op *op, const struct git_answer *answer)
{
	if (answer->status != 0)
		return git_op_complain(op, answer);
	git_op_ids(answer, &op->head_id, 1);
	if (op->head_id[0] == '\0')
		return git_op_fail(
		    op, -ENOENT, "there is no commit in %s", op->dir);
	return GIT_OP_NEXT;
}

static const struct git_op_step set_steps[] = {
	GIT_OP_GITDIR,
	{ .ask = git_follow_ask },
	{ .ask = set_rebase },
	{ .ask = set_check },
	{ .ask = set_ask_trees },
	{ .ask = set_ask_id, .answer = set_id },
	{ .ask = set_ask_head },
};

static void
set_finish(struct git_op *op, const struct err *err)
{
	const struct set_op *set = op->self;

	set->fn(err, set->arg);
}

static void
set_release(struct git_op *op)
{
	struct set_op *set = op->self;

	free(set->branch);
}

bool
git_stand_is_detached(const struct git *git, const char *dir)
{
	cleanup_free char *gitdir = NULL, *head = NULL;

	if (git_stand_is_clone(git, dir) ||
	    git_verify(git_root(git), dir, &gitdir, NULL) < 0)
		return true;
	head = git_dirs_head(gitdir);
	return head == NULL;
}

void
git_stand_set(struct git *git, const char *dir, const char *branch,
    bool detached, git_work_fn *fn, void *arg)
{
	struct set_op *set = xcalloc(1, sizeof *set);

	set->branch = xstrdup(branch);
	set->detached = detached;
	set->fn = fn;
	set->arg = arg;
	set->op.self = set;
	set->op.finish = set_finish;
	set->op.release = set_release;
	git_op_start(&set->op, git, dir, set_steps, nitems(set_steps), false);
}
