/* SPDX-License-Identifier: ISC */

/* The git folder of a worker's tree, before it is mounted in a box. */
#ifndef BOX_GIT_H
#define BOX_GIT_H

#include <stdbool.h>

#include "box-plan.h"

struct err;

/* The folder of Git LFS, owned by the caller; NULL = it is not used. Without it
 * being writable, not even git status works on such files. A link is not
 * followed. */
char *box_git_lfs(const char *git_dir);

/* Does git fetch objects of this repository when they are needed? */
bool box_git_is_partial(const char *git_dir);

/* Adds to `set` what git has to know in a box, as variables "NAME=VALUE" that
 * go on after those GIT_CONFIG_KEY_ that our own environment has. git must not
 * collect garbage there: of the other worktrees it sees nothing, so what only
 * they use is garbage to it. linked: the tree is no clone. */
void box_git_add_config(bool linked, char ***set);

/* And these, so that new objects are written to that folder, and all of the
 * repository are read where they are. */
void box_git_add_objects(const char *git_dir, const char *objects, char ***set);

/* The folder git_dir/worktrees/NAME of a linked worktree, owned by the caller;
 * NULL for a clone, which has its own .git folder. The worker may have changed
 * the files that name it: -EINVAL, with words, unless they lead to each other
 * and to nothing else. Creates what the box mounts and git does not always
 * have. */
int box_git_find(const char *git_dir, const char *tree, char **ret_tree_git,
    struct err *err);

#endif
