/* SPDX-License-Identifier: ISC */

/* Start: salvage and reset the worktree of a worker in "starting", then send it
 * its task (worker->prompt) in a new conversation. */
#ifndef OP_START_H
#define OP_START_H

struct agent;
struct fleet;
struct server_call;

/* call NULL: auto mode, or a start that was interrupted. */
void op_start(struct agent *agent, struct server_call *call);

/* What starts waited for (the policy's fresh) is known, or takes too long. */
void op_start_fresh(struct fleet *fleet);

#endif
