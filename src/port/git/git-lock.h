/* SPDX-License-Identifier: ISC */

/* Lock files left behind by a git that was killed. */
#ifndef GIT_LOCK_H
#define GIT_LOCK_H

#include <stdbool.h>

/* Remove the lock file that git complained about if nobody holds it: it belongs
 * to a linked worktree (never to the user's main tree), it was not just
 * created, and no git is running in that worktree. True if it is gone. */
bool git_lock_remove_dead(const char *dir, const char *complaint);

/* Does a git run at the top of that tree? Most go there first. */
bool git_lock_runs_at(const char *dir);

#endif
