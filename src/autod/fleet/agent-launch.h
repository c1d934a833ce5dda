/* SPDX-License-Identifier: ISC */

/* Launching a worker's session: wait for a slot, set up the worktree, check for
 * dialogs. */
#ifndef AGENT_LAUNCH_H
#define AGENT_LAUNCH_H

#include <stdbool.h>

struct agent;
struct err;

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
