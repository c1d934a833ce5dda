/* SPDX-License-Identifier: ISC */

/*
 * The folders git keeps its own files in, and what their small files say: read
 * without a git, where a landing has no time for one. Private to the git-*.c
 * files.
 */
#ifndef GIT_DIRS_H
#define GIT_DIRS_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct git_trees;

/* The git directory of a tree, from its .git; NULL when that is broken. The
 * caller frees. */
char *git_dirs_gitdir(const char *tree);

/* What all worktrees share: refs, objects. The caller frees. */
char *git_dirs_common(const char *gitdir);

/* The full name of the branch that HEAD is on; NULL = detached or broken. The
 * caller frees. */
char *git_dirs_head(const char *gitdir);
bool git_dirs_is_on(const char *gitdir, const char *branch);

/* The full name of what a branch that is a symbolic reference points at; NULL =
 * it is none. The caller frees. */
char *git_dirs_alias(const char *common, const char *branch);

/* The commit a detached HEAD is at; "" = it is not detached, or not
 * at a whole id. */
void git_dirs_detached(const char *gitdir, char *out, size_t size);

/* The main tree and the worktrees that exist, or are locked, with the branches
 * that their HEADs lead to. -EUCLEAN
 * when root is no working tree, -ENOTSUP for refs that are not files. */
int git_dirs_trees(const char *root, struct git_trees *trees, struct err *err);

/* The git directory that the repository has for a worktree at this path, which
 * need not exist any more; NULL = none. The caller frees. */
char *git_dirs_registered(const char *common, const char *tree);

/* Is the path, by its real name, that of the folder or of something in it? */
bool git_dirs_is_below(const char *path, const char *folder);

/* May the hook run at a landing? It exists in the repository's own folder of
 * hooks, and does not lie (by a link) in the tree, where a worker's commit
 * could have put it. */
bool
git_dirs_hook_is_safe(const char *common, const char *tree, const char *hook);

/* Have git run the hooks of the repository's own folder only, whatever
 * core.hooksPath says; or none, if one of them lies in the tree or in the
 * root's. */
void git_dirs_add_hooks(
    const char *gitdir, const char *tree, const char *root, char ***env);

#endif
