/* SPDX-License-Identifier: ISC */

/* What the port of git asks about the working trees of workers: whose a tree
 * is, and the box that git runs in there (git.h). */
#ifndef WORKER_TREE_H
#define WORKER_TREE_H

struct err;
struct git_home;
struct worker;

/* Is its tree a clone of its own (git-clone.h)? Only that of a worker that was
 * given one, and only while its .git is a folder: until then, and if it is
 * gone, it is a worktree like others. */
bool worker_tree_is_clone(const struct worker *worker);

/* For git_options; arg is the core. A tree is a worker's if the state says so,
 * wherever repo.worktree_dir is by now. A worker whose HEAD is not detached yet
 * has no box: it gets one with its next session. The tree of a check has one,
 * and a clone always. */
bool worker_tree_home(void *arg, const char *dir, struct git_home *ret_home);
int worker_tree_box(
    void *arg, const char *dir, char ***ret_prefix, struct err *err);

#endif
