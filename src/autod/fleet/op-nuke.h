/* SPDX-License-Identifier: ISC */

/* Nuke: end the session, salvage the work, remove worktree, branch, what its
 * sandbox kept, and the worker. */
#ifndef OP_NUKE_H
#define OP_NUKE_H

struct agent;
struct server_call;

/* Emits EVENT_WORKER_LOST first, EVENT_WORKER_GONE at the end. */
void op_nuke(struct agent *agent, struct server_call *call);

#endif
