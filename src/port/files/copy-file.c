/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy-file.h"
#include "file.h"
#include "id.h"
#include "mem.h"

#define PIECE      (1024 * 1024)
#define TEMPORARY  ".llmc-copy-"
#define NAME_BYTES (sizeof TEMPORARY + 16)

struct copy_file {
	int dir; /* of the copy */
	int from, to;
	struct stat st;
	char *name;
	/* Always the same name for the same file, so that the next try removes
	 * what a crash left behind. */
	char temporary[NAME_BYTES];
	char *piece;
	bool done;
};

static int
open_dir_at(int at, const char *name)
{
	int fd =
	    openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd == -1 ? -errno : fd;
}

/* Open the folder of that name; create it with the mode of the one in `model`
 * if it is missing (-1: do not create it). */
static int
enter(int at, int model, const char *name)
{
	int fd = open_dir_at(at, name);
	struct stat st;

	if (fd != -ENOENT || model == -1)
		return fd;
	if (fstat(model, &st) == -1)
		return -errno;
	if (mkdirat(at, name, 0700) == -1 && errno != EEXIST)
		return -errno;
	fd = open_dir_at(at, name);
	if (fd >= 0 && fchmod(fd, (st.st_mode & 0777) | 0700) == -1) {
		int r = -errno;

		fd_close(fd);
		return r;
	}
	return fd;
}

int
copy_file_open_dir(int top, const char *path)
{
	cleanup_fd int fd = open_dir_at(top, ".");
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *name;

	while (fd >= 0 && (name = strsep(&rest, "/")) != NULL) {
		int next = *name != '\0' ? open_dir_at(fd, name) : take_fd(&fd);

		fd_close(fd);
		fd = next;
	}
	return take_fd(&fd);
}

/* Open the folder of a file and that of its copy, which is created if it is
 * missing. -ESTALE if the file's folder is gone. */
static int
open_both(int from, int to, const char *path, int *ret_from, int *ret_to)
{
	cleanup_fd int source = open_dir_at(from, "."),
		       target = open_dir_at(to, ".");
	cleanup_free char *copy = xstrdup(path);
	char *rest = copy, *name;

	for (name = strsep(&rest, "/");
	     rest != NULL && source >= 0 && target >= 0;
	     name = strsep(&rest, "/")) {
		int inner = open_dir_at(source, name), made = -1;

		if (inner >= 0)
			made = enter(target, inner, name);
		fd_close(source);
		fd_close(target);
		source = inner;
		target = made;
	}
	if (source < 0)
		return source == -ENOENT ? -ESTALE : source;
	if (target < 0)
		return target;
	*ret_from = take_fd(&source);
	*ret_to = take_fd(&target);
	return 0;
}

static bool
same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int
copy_link(int source, int dir, const char *name, const char *temporary)
{
	char target[PATH_MAX], old[PATH_MAX];
	ssize_t len = readlinkat(source, name, target, sizeof target - 1);
	ssize_t there = readlinkat(dir, name, old, sizeof old);

	if (len == -1)
		return errno == ENOENT ? 0 : -errno;
	target[len] = '\0';
	if (there == len && memcmp(target, old, (size_t)len) == 0)
		return 0;
	unlinkat(dir, temporary, 0);
	if (symlinkat(target, dir, temporary) == -1)
		return -errno;
	if (renameat(dir, temporary, dir, name) == -1) {
		int r = -errno;

		unlinkat(dir, temporary, 0);
		return r;
	}
	return 0;
}

static bool
is_same(int dir, const char *name, const struct stat *st)
{
	struct stat old;

	return fstatat(dir, name, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
	    old.st_mode == st->st_mode && old.st_size == st->st_size &&
	    same_time(&old.st_mtim, &st->st_mtim);
}

/* Open both files, the copy under its temporary name. */
static int
open_files(struct copy_file *file, int source)
{
	file->from = openat(source, file->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->from == -1)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(file->from, &file->st) == -1)
		return -errno;
	if (!S_ISREG(file->st.st_mode))
		return 0;
	unlinkat(file->dir, file->temporary, 0);
	file->to = openat(file->dir, file->temporary,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->to == -1)
		return -errno;
	file->piece = xmalloc(PIECE);
	return 1;
}

static struct copy_file *
copy_file_new(const char *path)
{
	struct copy_file *file = xcalloc(1, sizeof *file);
	const char *slash = strrchr(path, '/');

	file->dir = file->from = file->to = -1;
	file->name = xstrdup(slash != NULL ? slash + 1 : path);
	memcpy(file->temporary, TEMPORARY, strlen(TEMPORARY));
	id_hash(path, file->temporary + strlen(TEMPORARY), 16);
	return file;
}

int
copy_file_begin(int from, int to, const char *path, struct copy_file **ret)
{
	struct copy_file *file = copy_file_new(path);
	cleanup_fd int source = -1;
	int r = open_both(from, to, path, &source, &file->dir);

	if (r == -ESTALE)
		r = 0;
	else if (r == 0 &&
	    fstatat(source, file->name, &file->st, AT_SYMLINK_NOFOLLOW) == -1)
		r = errno == ENOENT ? 0 : -errno;
	else if (r == 0 && S_ISLNK(file->st.st_mode))
		r = copy_link(source, file->dir, file->name, file->temporary);
	else if (r == 0 && S_ISREG(file->st.st_mode) &&
	    !is_same(file->dir, file->name, &file->st))
		r = open_files(file, source);
	if (r == 1)
		*ret = file;
	else
		copy_file_free(file);
	return r;
}

/* Set mode and time of the original, then rename it into place. */
static int
finish(struct copy_file *file)
{
	struct timespec times[2] = { file->st.st_atim, file->st.st_mtim };

	if (fchmod(file->to, file->st.st_mode & 07777) == -1 ||
	    futimens(file->to, times) == -1 || fsync(file->to) == -1 ||
	    renameat(file->dir, file->temporary, file->dir, file->name) == -1)
		return -errno;
	file->done = true;
	return 0;
}

int
copy_file_step(struct copy_file *file)
{
	ssize_t n = read(file->from, file->piece, PIECE);
	int r;

	if (n == -1)
		return errno == EINTR ? 1 : -errno;
	if (n == 0)
		return finish(file);
	r = file_write_all(file->to, file->piece, (size_t)n);
	return r < 0 ? r : 1;
}

void
copy_file_free(struct copy_file *file)
{
	if (file == NULL)
		return;
	if (file->to != -1 && !file->done)
		unlinkat(file->dir, file->temporary, 0);
	fd_close(file->to);
	fd_close(file->from);
	fd_close(file->dir);
	free(file->piece);
	free(file->name);
	free(file);
}
