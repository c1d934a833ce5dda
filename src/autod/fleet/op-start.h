/* SPDX-License-Identifier: ISC */

/* Start: the worktree of a worker in "starting" is salvaged and reset, then its
 * task (worker->prompt) is given to it in a fresh conversation. */
#ifndef OP_START_H
#define OP_START_H

struct agent;
struct server_call;

/* call NULL: auto mode, or a start that was cut off. */
void op_start(struct agent *agent, struct server_call *call);

#endif
