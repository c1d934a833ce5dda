/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy-file.h"
#include "copy-match.h"
#include "copy.h"
#include "errtext.h"
#include "git.h"
#include "loop.h"
#include "mem.h"
#include "strv.h"

#define ASK_PATHS 256 /* paths in one git command */
#define ASK_BYTES (64 * 1024)

struct copy {
	struct git *git; /* our own, freed with the copy */
	struct loop_call *call;
	char *root, *worktree;
	char **entries;
	copy_fn *fn;
	void *arg;
	int from, to; /* top folders */
	bool matched;
	struct copy_match todo; /* the last one is next */
	struct copy_match tracked; /* sorted when all were asked about */
	size_t asked; /* number of paths in todo that git was asked about;
		       * SIZE_MAX = all */
	struct copy_file *file; /* NULL between two files */
};

static void
copy_finish(struct copy *copy, const struct err *err)
{
	copy->fn(err, copy->arg); /* may free the copy */
}

static int
open_top(const char *path, int *ret_fd, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1)
		return err_errno(err, -errno, "repo.copy_files: %s", path);
	*ret_fd = fd;
	return 0;
}

static int
copy_prepare(struct copy *copy, struct err *err)
{
	int r = open_top(copy->root, &copy->from, err);

	if (r == 0)
		r = open_top(copy->worktree, &copy->to, err);
	if (r == 0)
		r = copy_match(copy->root, copy->worktree,
		    strv_const(copy->entries), &copy->todo, err);
	copy->matched = true;
	return r;
}

static void
copy_answered(const struct git_answer *answer, void *arg)
{
	struct copy *copy = arg;
	struct err err = { 0 };

	if (answer->status != 0) {
		if (answer->err != NULL)
			err = *answer->err;
		else
			err_set(&err, -EIO, "%s", answer->complaint);
		err_prefix(&err, "repo.copy_files: git ls-files");
		copy_finish(copy, &err);
		return;
	}
	for (size_t at = 0; at < answer->out_len;) {
		const char *path = answer->out + at;

		copy_match_add(&copy->tracked, xstrdup(path));
		at += strlen(path) + 1;
	}
	loop_call_request(copy->call);
}

/* Which of the next paths, or of what is in them, git tracks. */
static void
copy_ask(struct copy *copy)
{
	static const char *const head[] = { "--literal-pathspecs", "ls-files",
		"-z", "--" };
	const char *args[nitems(head) + ASK_PATHS + 1] = { 0 };
	struct git_command command = { .args = args };
	size_t count = nitems(head), bytes = 0;

	memcpy(args, head, sizeof head);
	while (copy->asked < copy->todo.count && count < nitems(args) - 1 &&
	    bytes < ASK_BYTES) {
		args[count] = copy->todo.paths[copy->asked++];
		bytes += strlen(args[count++]);
	}
	git_run(git_queue(copy->git, copy->worktree), &command, copy_answered,
	    copy);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_tracked(const struct copy *copy, const char *path)
{
	return copy->tracked.count > 0 &&
	    bsearch(&path, copy->tracked.paths, copy->tracked.count,
		sizeof path, compare) != NULL;
}

/* Replace a folder by its entries. One that is gone is no error. */
static int
copy_open_folder(struct copy *copy, const char *path)
{
	int fd = copy_file_open_dir(copy->from, path);
	const struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	dir = fdopendir(fd);
	if (dir == NULL) {
		fd_close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			copy_match_add(&copy->todo,
			    xasprintf("%s/%s", path, entry->d_name));
	closedir(dir);
	return 0;
}

static int
copy_next(struct copy *copy, const char *path)
{
	struct stat st;

	if (is_tracked(copy, path))
		return 0;
	if (fstatat(copy->from, path, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return copy_open_folder(copy, path);
	return copy_file_begin(copy->from, copy->to, path, &copy->file);
}

/* Copy one piece of one file, or begin the next path. */
static int
copy_step(struct copy *copy, struct err *err)
{
	size_t last = copy->todo.count - 1;
	const char *path = copy->todo.paths[last];
	cleanup_free char *done = NULL;
	int r;

	if (copy->file == NULL) {
		/* Remove it first: the entries of a folder are appended. */
		done = copy->todo.paths[last];
		copy->todo.count = last;
		r = copy_next(copy, path);
		if (r == 1)
			copy_match_add(&copy->todo, take_ptr(&done));
	} else {
		r = copy_file_step(copy->file);
		if (r == 0) {
			copy_file_free(take_ptr(&copy->file));
			done = copy->todo.paths[last];
			copy->todo.count = last;
		}
	}
	if (r == -ENOTDIR || r == -ELOOP)
		return err_set(err, -EINVAL,
		    "repo.copy_files: %s: the worktree has a file or a link "
		    "where a folder is needed",
		    path);
	if (r < 0)
		return err_errno(
		    err, r, "repo.copy_files: cannot copy %s", path);
	return 0;
}

static void
copy_turn(void *arg)
{
	struct copy *copy = arg;
	struct err err = { 0 };
	int r = copy->matched ? 0 : copy_prepare(copy, &err);

	if (r == 0 && copy->asked < copy->todo.count) {
		copy_ask(copy);
		return;
	}
	if (r == 0 && copy->asked != SIZE_MAX) {
		copy->asked = SIZE_MAX;
		if (copy->tracked.count > 0)
			qsort(copy->tracked.paths, copy->tracked.count,
			    sizeof *copy->tracked.paths, compare);
	}
	if (r == 0 && copy->todo.count > 0) {
		r = copy_step(copy, &err);
		if (r == 0) {
			loop_call_request(copy->call);
			return;
		}
	}
	copy_finish(copy, r < 0 ? &err : NULL);
}

struct copy *
copy_begin(struct loop *loop, const char *root, const char *worktree,
    const char *const *entries, copy_fn *fn, void *arg)
{
	struct git_options options = { .root = root };
	struct copy *copy = xcalloc(1, sizeof *copy);

	copy->entries = strv_copy(entries);
	copy->git = git_new(loop, &options);
	copy->root = xstrdup(root);
	copy->worktree = xstrdup(worktree);
	copy->from = copy->to = -1;
	copy->fn = fn;
	copy->arg = arg;
	copy->call = loop_call_new(loop, copy_turn, copy);
	loop_call_request(copy->call);
	return copy;
}

void
copy_free(struct copy *copy)
{
	if (copy == NULL)
		return;
	copy_file_free(copy->file);
	git_free(copy->git);
	loop_call_free(copy->call);
	strv_free(copy->entries);
	copy_match_release(&copy->todo);
	copy_match_release(&copy->tracked);
	fd_close(copy->from);
	fd_close(copy->to);
	free(copy->root);
	free(copy->worktree);
	free(copy);
}
