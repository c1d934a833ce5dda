/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "git-private.h"

#define REF_MAX    4096
#define PACKED_MAX (256 * 1024 * 1024)
#define TRIES      3

bool
git_is_id(const char *text, size_t len)
{
	return (len == 40 || len == 64) &&
	    strspn(text, "0123456789abcdef") >= len;
}

static size_t
id_length(const char *text)
{
	size_t len = strspn(text, "0123456789abcdef");

	return len == 40 || len == 64 ? len : 0;
}

static bool
take_id(const char *text, char out[GIT_ID_SIZE])
{
	size_t len = id_length(text);

	if (len == 0)
		return false;
	memcpy(out, text, len);
	out[len] = '\0';
	return true;
}

/* Refs that all worktrees share, and no way out of the folder. */
static bool
is_ordinary(const char *common, const char *ref)
{
	cleanup_free char *tables = file_join(common, "reftable");

	return (text_begins(ref, "refs/heads/") ||
		   text_begins(ref, "refs/llmc/")) &&
	    strstr(ref, "/.") == NULL && strstr(ref, "//") == NULL &&
	    strstr(ref, "..") == NULL && strchr(ref, '\n') == NULL &&
	    !file_exists(tables);
}

/* A line of it is "<id> <ref>". */
static int
read_packed(const char *common, const char *ref, char out[GIT_ID_SIZE])
{
	cleanup_free char *path = file_join(common, "packed-refs");
	cleanup_buf struct buf text = BUF_INIT;
	size_t len = strlen(ref);
	int r = file_read(path, PACKED_MAX, &text, NULL);

	if (r < 0)
		return r == -ENOENT ? -ENOENT : -ENOTSUP;
	for (const char *at = text.data; (at = strstr(at, ref)) != NULL;
	     at += len) {
		const char *line = at;

		while (line > text.data && line[-1] != '\n')
			line--;
		if ((at[len] == '\n' || at[len] == '\0') &&
		    line[id_length(line)] == ' ' &&
		    line + id_length(line) + 1 == at)
			return take_id(line, out) ? 0 : -ENOTSUP;
	}
	return -ENOENT;
}

int
git_refs_read(const char *common, const char *ref, char out[GIT_ID_SIZE])
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_buf struct buf text = BUF_INIT;
	int r;

	if (!is_ordinary(common, ref))
		return -ENOTSUP;
	r = file_read(path, REF_MAX, &text, NULL);
	if (r == 0)
		return take_id(text.data, out) ? 0 : -ENOTSUP;
	/* A folder of refs, whose name was one before. */
	if (r == -ENOENT || r == -EISDIR || r == -ENOTDIR)
		return read_packed(common, ref, out);
	return -ENOTSUP;
}

int
git_refs_head(const char *gitdir, const char *common, char out[GIT_ID_SIZE])
{
	cleanup_free char *ref = git_dirs_head(gitdir);

	if (ref != NULL)
		return git_refs_read(common, ref, out);
	git_dirs_detached(gitdir, out, GIT_ID_SIZE);
	return id_length(out) > 0 ? 0 : -ENOTSUP;
}

/* Another git may remove the folder while it is empty. */
static int
open_lock(const char *lock)
{
	cleanup_free char *folder =
	    xstrndup(lock, (size_t)(strrchr(lock, '/') - lock));
	int fd = -1;

	for (int i = 0; i < TRIES && fd == -1; i++) {
		fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd == -1 && errno == EEXIST)
			return -ENOTSUP;
		if (fd == -1 && file_mkdirs(folder, 0777, NULL) < 0)
			return -ENOTSUP;
	}
	return fd == -1 ? -ENOTSUP : fd;
}

int
git_refs_write(const char *common, const char *ref, const char *id)
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_free char *lock = xasprintf("%s.lock", path);
	cleanup_free char *line = xasprintf("%s\n", id);
	cleanup_fd int fd = -1;

	if (!is_ordinary(common, ref) || id_length(id) != strlen(id))
		return -ENOTSUP;
	fd = open_lock(lock);
	if (fd < 0)
		return fd;
	if (file_write_all(fd, line, strlen(line)) == 0 &&
	    rename(lock, path) == 0)
		return 0;
	unlink(lock);
	return -ENOTSUP;
}

/* A git that packs refs takes packed-refs.lock before it reads them: one that
 * read this ref before it was removed still has the lock, or has packed it. */
int
git_refs_drop(const char *common, const char *ref)
{
	cleanup_free char *path = file_join(common, ref);
	cleanup_free char *lock = xasprintf("%s.lock", path);
	cleanup_free char *packing = file_join(common, "packed-refs.lock");
	cleanup_fd int fd = -1;
	char id[GIT_ID_SIZE];
	int r;

	if (!is_ordinary(common, ref))
		return -ENOTSUP;
	fd = open_lock(lock);
	if (fd < 0)
		return fd;
	r = unlink(path) == 0 || errno == ENOENT ? 0 : -ENOTSUP;
	if (file_exists(packing) || read_packed(common, ref, id) != -ENOENT)
		r = -ENOTSUP;
	unlink(lock);
	return r;
}

void
git_refs_unlock(const char *common, const char *folder)
{
	cleanup_free char *path = file_join(common, folder);
	cleanup_dir DIR *stream = opendir(path); /* mostly there is none */
	const char *name;

	while ((name = dir_next(stream)) != NULL)
		if (text_ends(name, ".lock"))
			unlinkat(dirfd(stream), name, 0);
}

/* --- a branch that follows ---------------------------------------------- */

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
	git_clone_op_import(op, op->followed);
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
