/* SPDX-License-Identifier: ISC */

/* A control group (version 2) for all that the program starts. */
#ifndef KEEPER_CGROUP_H
#define KEEPER_CGROUP_H

#include <sys/types.h>

struct keeper;

/* Make the group that the options name; without one, in a control group of our
 * own, and set keeper->cgroup. Negative errno, also if the kernel has no
 * cgroup.kill. */
int keeper_cgroup_make(struct keeper *keeper);

/* Put the process into the group; what it starts is in it too. */
int keeper_cgroup_add(const struct keeper *keeper, pid_t pid);

/* For a process that was put into the group and is to remove it: go back to the
 * group of the keeper, if that is allowed. */
void keeper_cgroup_leave(void);

/* End all that is in it. Works in a process that is itself in it. */
void keeper_cgroup_kill(void);

/* How often the kernel has killed for memory in it, or if there is none, in the
 * scope that the keeper was started in; 0 also if that is not known. */
long keeper_cgroup_oom_kills(const struct keeper *keeper);

/* Remove it, if we made it: it must be empty within a few seconds. */
void keeper_cgroup_remove(const struct keeper *keeper);

#endif
