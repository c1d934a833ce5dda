/* SPDX-License-Identifier: ISC */

/* Creates and repairs worktrees; git-remove.h removes them. git-work.h has the
 * common rules. */
#ifndef GIT_WORKTREE_H
#define GIT_WORKTREE_H

#include "git-work.h"
#include "git.h"

/* Make a worktree at dir on `branch`, which is created at the tip of `onto` if
 * it does not exist. Repairs an incomplete one: a missing folder, a stale
 * registration, a lost .git, an unfinished worktree, an empty folder without
 * registration. A complete worktree is left as it is, whatever it has checked
 * out. -EEXIST if something else is at dir, -EBUSY if the branch is checked out
 * elsewhere. */
void git_worktree_add(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* The same, detached at `onto` and without any files yet, as the first part of
 * another operation: if git_free() comes first, `drop` gets arg. */
void git_worktree_add_detached(struct git *git, const char *dir,
    const char *onto, git_work_fn *fn, git_drop_fn *drop, void *arg);

/* Remove the lock files that a killed git left on the worktree's index, its
 * HEAD and its branch. For a worktree that nobody works in. */
void git_worktree_unlock(struct git *git, const char *dir, const char *branch,
    git_work_fn *fn, void *arg);

#endif
