/* SPDX-License-Identifier: ISC */

/* Launching a worker's session: wait for a slot, set up the worktree, check for
 * dialogs. */
#ifndef AGENT_LAUNCH_H
#define AGENT_LAUNCH_H

struct agent;
struct buf;
struct err;

/* Of the session that was launched last; in struct agent. */
struct worker_limits {
	char *cgroup; /* NULL = none */
	char **scope; /* NULL = none */
	int64_t memory_max;
	char *told; /* what could not be held, as it was told last */
};

/* Its session has ended: append why, if the kernel killed for memory. */
void worker_limits_ended(struct agent *agent, struct buf *out);
void worker_limits_release(struct worker_limits *limits);

/* Begin it if the worker has a sandbox that was not tried as it is now; false:
 * nothing to do. */
bool op_box(struct agent *agent);

/* Launch it, or do first what has to come first. No operation may be running on
 * the worker, and it must not have a session. */
void agent_launch(struct agent *agent);

/* Where its agent keeps transcripts; the caller frees; NULL = not known. */
char *agent_projects(const struct agent *agent);

/* Have settings changed that its agent was started with? */
bool agent_launch_is_stale(const struct agent *agent);

/* The launch failed: try again soon, or put the worker into error. */
void agent_launch_failed(struct agent *agent, const struct err *err);

#endif
