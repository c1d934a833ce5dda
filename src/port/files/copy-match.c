/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "copy-match.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"

struct match {
	const char *entry; /* as in the setting */
	bool pattern;
	char *root, *worktree; /* real paths */
	struct copy_match *list;
};

void
copy_match_add(struct copy_match *list, char *path)
{
	if (list->count == list->cap) {
		list->cap = list->cap == 0 ? 16 : list->cap * 2;
		list->paths =
		    xreallocarray(list->paths, list->cap, sizeof *list->paths);
	}
	list->paths[list->count++] = path;
}

void
copy_match_release(struct copy_match *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct copy_match){ 0 };
}

/* The rest of path after "dir/": "" for dir itself, NULL if it is not below
 * dir. */
static const char *
below(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	if (strncmp(path, dir, len) != 0)
		return NULL;
	if (path[len] == '/')
		return path + len + 1;
	return path[len] == '\0' ? path + len : NULL;
}

/* Without doubled slashes, "." and slashes at the end; NULL for an absolute
 * path or one with "..". The caller frees it. */
static char *
normalise(const char *entry)
{
	cleanup_buf struct buf out = BUF_INIT;
	size_t len;

	if (*entry == '/')
		return NULL;
	for (; *entry != '\0'; entry += len) {
		entry += strspn(entry, "/");
		len = strcspn(entry, "/");
		if (len == 0 || (len == 1 && *entry == '.'))
			continue;
		if (len == 2 && strncmp(entry, "..", 2) == 0)
			return NULL;
		if (out.len > 0)
			buf_addc(&out, '/');
		buf_add(&out, entry, len);
	}
	return buf_take(&out);
}

/* May it be copied? Not if that would copy the worktree into itself. */
static bool
is_reserved(const struct match *match, const char *path)
{
	static const char *const ours[] = { ".git", ".llmc" };
	cleanup_free char *full = file_join(match->root, path);

	for (size_t i = 0; i < nitems(ours); i++)
		if (below(path, ours[i]) != NULL)
			return true;
	return *path == '\0' || below(match->worktree, full) != NULL;
}

static int
lead_out(const struct match *match, struct err *err)
{
	return err_set(err, -EINVAL,
	    "repo.copy_files: \"%s\" is outside the repository", match->entry);
}

/* One path that may exist, relative to the root and normalised. */
static int
add_path(const struct match *match, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = NULL, *from = NULL, *real = NULL, *full = NULL;
	const char *inside;

	dir = slash != NULL ? xstrndup(path, (size_t)(slash - path)) : NULL;
	from = dir != NULL ? file_join(match->root, dir) : xstrdup(match->root);
	real = realpath(from, NULL);
	if (real == NULL && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (real == NULL)
		return err_errno(err, -errno, "repo.copy_files: %s", from);
	inside = below(real, match->root);
	if (inside == NULL)
		return lead_out(match, err);
	full = file_join(inside, slash != NULL ? slash + 1 : path);
	if (is_reserved(match, full)) {
		if (match->pattern)
			return 0;
		return err_set(err, -EINVAL,
		    "repo.copy_files: \"%s\" cannot be copied into a worktree",
		    match->entry);
	}
	copy_match_add(match->list, take_ptr(&full));
	return 0;
}

/* The root is taken literally, the entry is a pattern. */
static char *
make_pattern(const char *root, const char *path)
{
	cleanup_buf struct buf out = BUF_INIT;

	for (; *root != '\0'; root++) {
		if (strchr("\\*?[", *root) != NULL)
			buf_addc(&out, '\\');
		buf_addc(&out, *root);
	}
	buf_addf(&out, "/%s", path);
	return buf_take(&out);
}

static int
add_pattern(const struct match *match, const char *path, struct err *err)
{
	cleanup_free char *pattern = make_pattern(match->root, path);
	size_t skip = strlen(match->root) + 1;
	glob_t found = { 0 };
	int r = glob(pattern, 0, NULL, &found);

	if (r == GLOB_NOSPACE)
		r = err_errno(
		    err, -ENOMEM, "repo.copy_files: \"%s\"", match->entry);
	else
		r = 0;
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++) {
		cleanup_free char *one = normalise(found.gl_pathv[i] + skip);

		/* ".*" also matches "..", which is not meant. */
		if (one != NULL)
			r = add_path(match, one, err);
	}
	globfree(&found);
	return r;
}

static int
add_entry(struct match *match, const char *entry, struct err *err)
{
	cleanup_free char *path = normalise(entry), *full = NULL;

	match->entry = entry;
	if (path == NULL)
		return lead_out(match, err);
	full = file_join(match->root, path);
	match->pattern = !file_exists(full) && strpbrk(path, "*?[") != NULL;
	return match->pattern ? add_pattern(match, path, err) :
				add_path(match, path, err);
}

int
copy_match(const char *root, const char *worktree, const char *const *entries,
    struct copy_match *list, struct err *err)
{
	struct match match = { .list = list };
	int r = 0;

	match.root = realpath(root, NULL);
	if (match.root == NULL)
		return err_errno(err, -errno, "repo.copy_files: %s", root);
	match.worktree = realpath(worktree, NULL);
	if (match.worktree == NULL)
		r = err_errno(err, -errno, "repo.copy_files: %s", worktree);
	for (; r == 0 && *entries != NULL; entries++)
		r = add_entry(&match, *entries, err);
	free(match.root);
	free(match.worktree);
	return r;
}
