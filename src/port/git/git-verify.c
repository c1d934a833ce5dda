/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errtext.h"
#include "file.h"
#include "git-verify.h"
#include "mem.h"

#define POINTER_MAX 8192

/* A working tree as its .git describes it. */
struct place {
	char *gitdir;
	struct stat dot_git; /* of .git itself */
	struct stat own; /* of the git directory */
	struct stat common; /* of the repository that it belongs to */
};

static void
place_release(struct place *place)
{
	mem_cleanup_free(&place->gitdir);
}

#define cleanup_place __attribute__((cleanup(place_release)))

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A small regular file with one path in it, behind `prefix`; relative to base.
 * NULL if it is anything else. */
static char *
read_pointer(int fd, const char *name, const char *prefix, const char *base)
{
	cleanup_fd int file =
	    openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[POINTER_MAX];
	struct stat st;
	ssize_t n;
	size_t len;

	if (file == -1 || fstat(file, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	n = read(file, text, sizeof text - 1);
	if (n <= 0)
		return NULL;
	len = (size_t)n;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	if (strncmp(text, prefix, strlen(prefix)) != 0 || len == strlen(prefix))
		return NULL;
	return file_join(base, text + strlen(prefix));
}

static int
open_dir(const char *path, int flags)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
}

/* The repository of a git directory: itself, or the one that it names. */
static bool
find_common(struct place *place)
{
	cleanup_fd int fd = -1;
	cleanup_free char *common = NULL;

	if (place->gitdir == NULL)
		return false;
	fd = open_dir(place->gitdir, 0);
	if (fd == -1 || fstat(fd, &place->own) == -1)
		return false;
	if (faccessat(fd, "commondir", F_OK, AT_SYMLINK_NOFOLLOW) == -1) {
		place->common = place->own;
		return faccessat(fd, "HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	common = read_pointer(fd, "commondir", "", place->gitdir);
	return common != NULL && stat(common, &place->common) == 0;
}

static int
not_a_tree(const char *dir, const char *why, struct err *err)
{
	return err_set(err, -EUCLEAN, "%s is not a worktree: %s", dir, why);
}

/* flags: O_NOFOLLOW to refuse a link at dir and at its .git. */
static int
place_read(const char *dir, int flags, struct place *place, struct err *err)
{
	cleanup_fd int fd = open_dir(dir, flags);
	int at_flags = flags != 0 ? AT_SYMLINK_NOFOLLOW : 0;

	if (fd == -1 && errno == ENOENT)
		return err_set(err, -ENOENT, "%s does not exist", dir);
	if (fd == -1 && (errno == ENOTDIR || errno == ELOOP))
		return not_a_tree(dir, "it is a symbolic link or a file", err);
	if (fd == -1)
		return err_errno(err, -errno, "%s", dir);
	if (fstatat(fd, ".git", &place->dot_git, at_flags) == -1)
		return err_set(err, -ENOENT,
		    "%s is not a working tree: it has no .git", dir);
	place->gitdir = S_ISDIR(place->dot_git.st_mode) ?
	    file_join(dir, ".git") :
	    read_pointer(fd, ".git", "gitdir: ", dir);
	if (place->gitdir == NULL)
		return not_a_tree(
		    dir, "its .git does not name a git directory", err);
	if (!find_common(place))
		return not_a_tree(
		    dir, "its .git names a git directory that is broken", err);
	return 0;
}

/* Without a HEAD git does not take it for a git directory. */
static bool
has_head(const struct place *place)
{
	cleanup_free char *head = file_join(place->gitdir, "HEAD");

	return file_exists(head);
}

/* Is it a folder of the repository's worktrees, and that of this .git? */
static bool
is_registered(const struct place *place)
{
	cleanup_fd int fd =
	    place->gitdir != NULL ? open_dir(place->gitdir, 0) : -1;
	cleanup_fd int common = -1;
	cleanup_free char *back = NULL;
	struct stat above, worktrees, other;

	if (fd == -1 || fstatat(fd, "..", &above, 0) == -1)
		return false;
	common = openat(fd, "../..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (common == -1 || fstat(common, &other) == -1 ||
	    !same_file(&other, &place->common) ||
	    fstatat(common, "worktrees", &worktrees, 0) == -1 ||
	    !same_file(&above, &worktrees))
		return false;
	back = read_pointer(fd, "gitdir", "", place->gitdir);
	return back != NULL && lstat(back, &other) == 0 &&
	    same_file(&other, &place->dot_git);
}

int
git_verify(
    const char *root, const char *dir, char **ret_gitdir, struct err *err)
{
	cleanup_place struct place place = { 0 }, main_place = { 0 };
	bool is_root = strcmp(root, dir) == 0;
	int r = place_read(dir, is_root ? 0 : O_NOFOLLOW, &place, err);

	if (r < 0)
		return r;
	if (!has_head(&place))
		return not_a_tree(dir, "its git directory has no HEAD", err);
	if (!is_root) {
		r = place_read(root, 0, &main_place, err);
		if (r < 0)
			return r;
		if (!same_file(&place.common, &main_place.common))
			return not_a_tree(
			    dir, "its .git is another repository's", err);
		if (S_ISDIR(place.dot_git.st_mode) ?
			!same_file(&place.own, &place.common) :
			!is_registered(&place))
			return not_a_tree(dir,
			    "its .git names the git directory of another "
			    "working tree",
			    err);
	}
	*ret_gitdir = take_ptr(&place.gitdir);
	return 0;
}
