/* SPDX-License-Identifier: ISC */

/* Resets a worktree to a branch. git-work.h has the common rules. */
#ifndef GIT_RESET_H
#define GIT_RESET_H

#include "git-work.h"

struct git;

/* Reset the worktree in place: abort a rebase, move the branch to the tip of
 * `onto`, remove changes and untracked files, keep ignored ones. Salvage first.
 * An index.lock that a dead git left more than ten minutes ago is removed. */
void git_reset(struct git *git, const char *dir, const char *branch,
    const char *onto, git_work_fn *fn, void *arg);

/* The same for a worktree that was on `branch` at the commit `head`, with
 * nothing uncommitted, when it was last looked at: what has changed since is
 * neither overwritten nor removed. -ESTALE if that is in the way, or if HEAD is
 * elsewhere by now: salvage, and use git_reset(). */
struct git_reset_clean {
	const char *branch, *head, *onto;
	/* A commit that is known to have the tree of `head`, NULL = none: if
	 * that is the tip of onto, only the branch moves. */
	const char *same;
};
void git_reset_clean(struct git *git, const char *dir,
    const struct git_reset_clean *what, git_work_fn *fn, void *arg);

#endif
