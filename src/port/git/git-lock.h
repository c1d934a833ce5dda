/* SPDX-License-Identifier: ISC */

/* Locks that a git left behind which was killed. */
#ifndef GIT_LOCK_H
#define GIT_LOCK_H

#include <stdbool.h>

/* Remove the lock file that git complained of, when nobody holds it: it is the
 * own one of a linked worktree (of the user's main tree never), it is not just
 * made, and no git runs in that worktree. True when it is gone. */
bool git_lock_remove_dead(const char *dir, const char *complaint);

#endif
