/* SPDX-License-Identifier: ISC */

/* What the port of git asks about the working trees of workers: whose a tree
 * is, and the box that git runs in there (git.h). */
#ifndef WORKER_TREE_H
#define WORKER_TREE_H

#include <stdbool.h>

struct err;
struct git_home;

/* For git_options; arg is the core. A tree is a worker's if the state says so,
 * wherever repo.worktree_dir is by now. A worker whose HEAD is not detached yet
 * has no box: it gets one with its next session. The tree of a check has one.
 */
bool worker_tree_home(void *arg, const char *dir, struct git_home *ret_home);
int worker_tree_box(
    void *arg, const char *dir, char ***ret_prefix, struct err *err);

#endif
