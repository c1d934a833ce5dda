/* SPDX-License-Identifier: ISC */

/* Rebases a worktree, and aborts a rebase. git-work.h has the common rules. */
#ifndef GIT_REBASE_H
#define GIT_REBASE_H

#include "git-salvage.h"

struct git;

/* Remove the lock file that git complained about if nobody holds it: it belongs
 * to a linked worktree (never to the user's main tree), it was not just
 * created, and no git is running in that worktree. True if it is gone. */
bool git_lock_remove_dead(const char *dir, const char *complaint);

/* Does a git run at the top of that tree? Most go there first. */
bool git_lock_runs_at(const char *dir);

/* Rebase onto a commit. A stale rebase is aborted first. conflict: it stopped
 * at one, and is left there for the worker. Resolutions that the user's rerere
 * knows are used and the rebase goes on. After an error no rebase is left
 * behind. */
typedef void git_rebase_fn(bool conflict, const struct err *err, void *arg);

void git_rebase(struct git *git, const char *dir, const char *onto,
    const struct git_salvage *keep, git_rebase_fn *fn, void *arg);

/* Put the branch back to where it was before the rebase. What has been resolved
 * so far is saved first, as git_reset() does it; if that fails, the rebase
 * stays. */
void git_rebase_abort(struct git *git, const char *dir,
    const struct git_salvage *keep, git_salvage_fn *fn, void *arg);

#endif
