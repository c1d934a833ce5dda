/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "git-aside.h"
#include "mem.h"
#include "remove-tree.h"
#include "text.h"

#define BIG_BYTES (INT64_C(256) * 1024 * 1024)
#define MIB       (INT64_C(1024) * 1024)
#define TRIES     100 /* names for one that was moved with the same stamp */

const char *
git_aside_reason(const char *dir, const char *path, int64_t *ret_size)
{
	cleanup_free char *file = file_join(dir, path);
	struct stat st;

	*ret_size = 0;
	if (lstat(file, &st) == -1 || !S_ISREG(st.st_mode))
		return NULL;
	*ret_size = st.st_size;
	if (st.st_size > BIG_BYTES)
		return "is too big for the repository";
	if (access(file, R_OK) == -1 && errno == EACCES)
		return "cannot be read";
	return NULL;
}

static char *
name_place(const char *dir, const char *name, int i, const char *path)
{
	cleanup_free char *more = i == 1 ? xstrdup("") : xasprintf("-%d", i);
	char *place = xasprintf("%s.kept-%s%s/%s", dir, name, more, path);
	char *end = place + strlen(place);

	while (end[-1] == '/')
		*--end = '\0';
	return place;
}

static int
make_folder(const char *place, struct err *err)
{
	cleanup_free char *folder =
	    xstrndup(place, (size_t)(strrchr(place, '/') - place));

	return file_mkdirs(folder, 0700, err);
}

/* The one name, with nothing there. What was there is of an earlier time; if a
 * file or a link of it is where a folder is needed now, all of it goes. */
static char *
clear_place(
    const char *dir, const char *name, const char *path, struct err *err)
{
	cleanup_free char *place = name_place(dir, name, 1, path);
	cleanup_free char *all = xasprintf("%s.kept-%s", dir, name);
	struct err in_the_way = { 0 };

	if (remove_tree_below(all, path) < 0 ||
	    make_folder(place, &in_the_way) < 0) {
		remove_tree(all);
		if (make_folder(place, err) < 0)
			return NULL;
	}
	return take_ptr(&place);
}

/* A free name, with its folder. */
static char *
make_place(const char *dir, const struct git_aside *aside, const char *path,
    struct err *err)
{
	if (aside->replaces)
		return clear_place(dir, aside->name, path, err);
	for (int i = 1; i <= TRIES; i++) {
		cleanup_free char *place =
		    name_place(dir, aside->name, i, path);

		if (!file_exists(place))
			return make_folder(place, err) < 0 ? NULL :
							     take_ptr(&place);
	}
	err_set(
	    err, -EEXIST, "there is no free name for %s beside %s", path, dir);
	return NULL;
}

static void
add_words(struct buf *words, const char *path, const char *place,
    const struct stat *st)
{
	buf_adds(words, "Moved aside: ");
	text_add_visible(words, path, strlen(path), false);
	buf_adds(words, " is now ");
	text_add_visible(words, place, strlen(place), false);
	if (S_ISREG(st->st_mode))
		buf_addf(words, " (%lld MiB)", (long long)(st->st_size / MIB));
	buf_addc(words, '\n');
}

/* The folder of a path below another one, none of them a link: the worker may
 * have put one there since git listed the path. */
static int
open_parent(const char *top, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(top, flags);
	const char *slash;

	while (fd != -1 && (slash = strchr(path, '/')) != NULL &&
	    slash[1] != '\0') {
		cleanup_free char *name =
		    xstrndup(path, (size_t)(slash - path));
		cleanup_fd int above = fd;

		fd = openat(above, name, flags);
		path = slash + 1;
	}
	return fd;
}

/* place: ends with the path, without its last slash. */
static int
move(const char *dir, const char *path, const char *place, struct stat *ret_st)
{
	const char *leaf = strrchr(place, '/') + 1;
	size_t len = strlen(path) - (path[strlen(path) - 1] == '/');
	cleanup_free char *top = xstrndup(place, strlen(place) - len);
	cleanup_fd int from = open_parent(dir, path);
	cleanup_fd int to = open_parent(top, path);

	if (from == -1 || to == -1 ||
	    fstatat(from, leaf, ret_st, AT_SYMLINK_NOFOLLOW) == -1 ||
	    renameat(from, leaf, to, leaf) == -1)
		return -errno;
	return 0;
}

int
git_aside_move(const char *dir, const struct git_aside *aside, const char *path,
    struct buf *words, struct err *err)
{
	cleanup_free char *place = make_place(dir, aside, path, err);
	struct stat st = { 0 };
	int r;

	if (place == NULL)
		return err->code;
	r = move(dir, path, place, &st);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return 0; /* gone by itself */
	if (r != 0)
		return err_set(err, r, "%s/%s cannot be moved to %s: %s", dir,
		    path, place, strerror(-r));
	add_words(words, path, place, &st);
	return 0;
}

/* --- repositories ------------------------------------------------------ */

/* The end of the next folder in a path that has a last slash; NULL = no more.
 */
static const char *
next_folder(const char *path, const char *at)
{
	return strchr(at == NULL ? path : at + 1, '/');
}

/* What is the branch's file or folder at the place of each repository, and of
 * each folder above it? The commit of a submodule is no object of ours, so it
 * is not in the way. */
enum git_op_next
git_aside_ask_nested(struct git_op *op, char *const *nested)
{
	for (size_t i = 0; nested[i] != NULL; i++) {
		const char *end = NULL;

		if (strchr(nested[i], '\n') != NULL)
			continue;
		while ((end = next_folder(nested[i], end)) != NULL)
			buf_addf(&op->input, "%s:%.*s\n", op->onto_id,
			    (int)(end - nested[i]), nested[i]);
	}
	return git_op_args(op, "cat-file", "--batch-check=%(objecttype)", NULL);
}

static bool
is_in_the_way(const char *path, const char **line)
{
	const char *end = NULL;
	bool in_the_way = false;

	if (strchr(path, '\n') != NULL)
		return true; /* it could not be asked about */
	while ((end = next_folder(path, end)) != NULL) {
		bool last = end[1] == '\0';

		in_the_way |= strncmp(*line, "blob\n", 5) == 0 ||
		    (last && strncmp(*line, "tree\n", 5) == 0);
		*line += strcspn(*line, "\n");
		*line += **line == '\n';
	}
	return in_the_way;
}

enum git_op_next
git_aside_nested(struct git_op *op, char *const *nested,
    const struct git_aside *aside, struct buf *words,
    const struct git_answer *answer)
{
	cleanup_free char *lines = NULL;
	const char *line;

	if (answer->status != 0)
		return git_op_complain(op, answer);
	lines = xasprintf("%s\n", answer->out);
	line = lines;
	for (size_t i = 0; nested[i] != NULL; i++)
		if (is_in_the_way(nested[i], &line) &&
		    git_aside_move(op->dir, aside, nested[i], words, &op->err) <
			0)
			return GIT_OP_FAIL;
	return GIT_OP_NEXT;
}
