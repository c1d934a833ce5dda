/* SPDX-License-Identifier: ISC */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "git-records.h"
#include "git-trees.h"
#include "mem.h"

static const char heads[] = "refs/heads/";

static void
tree_attribute(struct git_tree *tree, const char *record)
{
	static const char branch[] = "branch ";

	if (strncmp(record, branch, strlen(branch)) == 0 &&
	    tree->branch == NULL)
		tree->branch = xstrdup(record + strlen(branch));
	else if (strcmp(record, "locked") == 0)
		tree->locked = true;
	else if (strncmp(record, "locked ", 7) == 0) {
		tree->locked = true;
		tree->unfinished = strcmp(record + 7, "initializing") == 0;
	}
}

void
git_trees_parse(struct git_trees *trees, const char *out, size_t len)
{
	static const char worktree[] = "worktree ";
	struct git_records records;
	const char *record;

	git_trees_release(trees);
	git_records_init(&records, out, len);
	while ((record = git_records_next(&records)) != NULL) {
		if (strncmp(record, worktree, strlen(worktree)) == 0) {
			trees->v = xreallocarray(
			    trees->v, trees->count + 1, sizeof *trees->v);
			trees->v[trees->count++] = (struct git_tree){
				.path = xstrdup(record + strlen(worktree))
			};
		} else if (trees->count > 0) {
			tree_attribute(&trees->v[trees->count - 1], record);
		}
	}
}

void
git_trees_release(struct git_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		free(trees->v[i].path);
		free(trees->v[i].branch);
	}
	free(trees->v);
	memset(trees, 0, sizeof *trees);
}

/* Resolve links; if the path does not exist, only those of its folder. */
static char *
real_path(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *parent = NULL, *folder = NULL;
	const char *slash = strrchr(path, '/');

	if (real != NULL)
		return take_ptr(&real);
	if (slash == NULL || slash == path)
		return xstrdup(path);
	folder = xstrndup(path, (size_t)(slash - path));
	parent = real_path(folder);
	return xasprintf("%s%s", strcmp(parent, "/") == 0 ? "" : parent, slash);
}

bool
git_trees_same_path(const char *a, const char *b)
{
	cleanup_free char *real_a = NULL, *real_b = NULL;

	if (strcmp(a, b) == 0)
		return true;
	real_a = real_path(a);
	real_b = real_path(b);
	return strcmp(real_a, real_b) == 0;
}

const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir)
{
	for (size_t i = 0; i < trees->count; i++)
		if (git_trees_same_path(trees->v[i].path, dir))
			return &trees->v[i];
	return NULL;
}

const struct git_tree *
git_trees_on(const struct git_trees *trees, const char *branch,
    const struct git_tree *after)
{
	size_t i = after != NULL ? (size_t)(after - trees->v) + 1 : 0;

	for (; i < trees->count; i++) {
		const char *ref = trees->v[i].branch;

		if (ref != NULL && strncmp(ref, heads, strlen(heads)) == 0 &&
		    strcmp(ref + strlen(heads), branch) == 0)
			return &trees->v[i];
	}
	return NULL;
}

bool
git_trees_is_users(
    const struct git_trees *trees, const char *root, const char *dir)
{
	return git_trees_same_path(root, dir) ||
	    (trees->count > 0 && git_trees_same_path(trees->v[0].path, dir));
}

bool
git_trees_has_git(const char *dir)
{
	cleanup_free char *path = file_join(dir, ".git");

	return file_exists(path);
}
