/* SPDX-License-Identifier: ISC */

/* The beginning of a worker's session: its turn, what its worktree needs, and
 * what would be in its way. */
#ifndef AGENT_LAUNCH_H
#define AGENT_LAUNCH_H

struct agent;
struct err;

/* Begin, or see to what has to come first. Nothing has the worker, and it has
 * no session. */
void agent_launch(struct agent *agent);

/* It could not be started: again in a moment, or the worker is in error. */
void agent_launch_failed(struct agent *agent, const struct err *err);

#endif
