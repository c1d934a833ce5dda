/* SPDX-License-Identifier: ISC */

/* Creates and repairs worktrees; git-remove.h removes them. git-work.h has the
 * common rules. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include "git-work.h"
#include "git.h"

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

/* Make a worktree at dir on `branch`, which is created at the tip of `onto` if
 * it does not exist. Repairs an incomplete one: a missing folder, a stale
 * registration, a lost .git, an unfinished worktree, an empty folder without
 * registration. A complete worktree is left as it is, whatever it has checked
 * out. -EEXIST if something else is at dir, -EBUSY if the branch is checked out
 * elsewhere. */
void git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* The same in a helper (git-op.h) that has both queues, at op->dir and
 * op->onto. branch: NULL = detached, and without any files yet. */
struct git_op;
void git_worktree_op_add(struct git_op *op, const char *branch);

/* Remove the lock files that a killed git left on the worktree's index, its
 * HEAD and its branch. For a worktree that nobody works in. */
void git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

#endif
