/* SPDX-License-Identifier: ISC */

/* The worktrees of a repository, as git lists them. Malformed parts are
 * skipped. Private to the git-*.c files. */
#ifndef GIT_TREES_H
#define GIT_TREES_H

#include <stdbool.h>
#include <stddef.h>

/* worktree list --porcelain -z; owned. */
struct git_tree {
	char *path;
	char *branch; /* full ref name, NULL = detached */
	bool locked;
	bool missing; /* locked, and its folder is not there */
	bool unfinished; /* `worktree add` was killed in the middle */
};
struct git_trees {
	struct git_tree *v;
	size_t count;
};
void git_trees_parse(struct git_trees *trees, const char *out, size_t len);
void git_trees_release(struct git_trees *trees);
const struct git_tree *
git_trees_at(const struct git_trees *trees, const char *dir);
/* The next one after `after` (NULL = the first) with the branch checked out;
 * without refs/heads/. */
const struct git_tree *git_trees_on(const struct git_trees *trees,
    const char *branch, const struct git_tree *after);

/* Is it the user's own working tree? git lists that first; the root of the
 * workspace may be elsewhere. */
bool git_trees_is_users(
    const struct git_trees *trees, const char *root, const char *dir);

/* Does the folder have a .git of its own? */
bool git_trees_has_git(const char *dir);

/* Do two paths mean the same place? The last part need not exist. */
bool git_trees_same_path(const char *a, const char *b);

#endif
