/* SPDX-License-Identifier: ISC */

/* The keeper itself: starts the inner process and stays until all is gone. */
#ifndef KEEPER_OUTER_H
#define KEEPER_OUTER_H

#include <stdbool.h>

struct keeper;

/* SIGKILL to every child, then to theirs, which come to us, until there is
 * none. All signals must be blocked. False if some are still there after
 * several seconds: they belong to another user, or hang in the kernel. */
bool keeper_reaper_end_all(void);

/* For a process that was put into the group and is to remove it: go back to the
 * group of the keeper, if that is allowed. */
void keeper_cgroup_leave(void);

/* End all that is in it. Works in a process that is itself in it. */
void keeper_cgroup_kill(void);

/* Remove it, if we made it: it must be empty within a few seconds. */
void keeper_cgroup_remove(const struct keeper *keeper);

/* Of a command, from the inner process to the keeper: 0 when the program is
 * there, then how it ended, as waitpid(2) says. False: it is gone. */
void keeper_inner_say(int number);

/* The exit status: that of the program (128 + n: ended by signal n), or
 * KEEPER_FAILED. */
int keeper_outer_run(struct keeper *keeper);

#endif
