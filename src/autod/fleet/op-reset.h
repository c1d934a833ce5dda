/* SPDX-License-Identifier: ISC */

/* Reset: end the session, forget the task, salvage the work, and reset the
 * worktree to the default branch. */
#ifndef OP_RESET_H
#define OP_RESET_H

struct agent;
struct server_call;

/* call may be NULL. Emits EVENT_WORKER_LOST first: its task waits again. */
void op_reset(struct agent *agent, struct server_call *call);

#endif
