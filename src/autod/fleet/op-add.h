/* SPDX-License-Identifier: ISC */

/* Add a worker, with a worktree and a branch of its own. */
#ifndef OP_ADD_H
#define OP_ADD_H

struct fleet;
struct server_call;

/* The name must be valid and unused. call NULL: requested by auto mode; then an
 * error is a hard failure. */
void op_add(struct fleet *fleet, const char *name, struct server_call *call);

#endif
