/* SPDX-License-Identifier: ISC */

/* Worktrees made, repaired, removed: the rules of git-work.h hold. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include "git-work.h"

struct git;

/* A worktree at dir on `branch`, made from the tip of `onto` where branch does
 * not exist. Repairs what is half there: a missing folder, a stale
 * registration, a lost .git, an unfinished worktree, a folder without
 * registration that is empty. A worktree that is there is left as it is,
 * whatever it has checked out. -EEXIST when something else lies at dir, -EBUSY
 * when the branch is checked out elsewhere. */
void git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* Remove the locks that a git which was killed left on the worktree's index,
 * its HEAD and its branch. For a worktree that nobody works in. */
void git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

/* Remove the worktree and its branch. What is gone already is success; a folder
 * that is not a worktree of the repository is left alone, -EEXIST. */
void git_worktree_remove(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

#endif
