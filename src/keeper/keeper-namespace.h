/* SPDX-License-Identifier: ISC */

/* A pid namespace with its own /proc. */
#ifndef KEEPER_NAMESPACE_H
#define KEEPER_NAMESPACE_H

#include <sys/types.h>

/* Like fork(2); the child is the init of a new pid namespace, with its own
 * mounts, and for users other than root in a new user namespace. Negative
 * errno. */
pid_t keeper_namespace_fork(void);

/* By the parent: the child keeps its user and group ids. */
int keeper_namespace_map(pid_t child);

/* By the child, afterwards. */
int keeper_namespace_mount(void);

#endif
