/* SPDX-License-Identifier: ISC */

/* The limits of a worker's sessions (model/box-limits.h): a cgroup or a scope
 * for each, and what the kernel did about the memory. */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

#include <stdint.h>

struct agent;
struct buf;
struct session_launch;

/* Of the session that was launched last; in struct agent. */
struct worker_limits {
	char *cgroup; /* NULL = none */
	char **scope; /* NULL = none */
	int64_t memory_max;
	char *told; /* what could not be held, as it was told last */
};

/* For the session that is launched now; `how` refers to the agent's limits
 * afterwards. What cannot be held is told, once. */
void worker_limits_prepare(struct agent *agent, struct session_launch *how);

/* Its session has ended: append why, if the kernel killed for memory. */
void worker_limits_ended(struct agent *agent, struct buf *out);

void worker_limits_release(struct worker_limits *limits);

#endif
