/* SPDX-License-Identifier: ISC */

/* Add: a new worker, with a worktree and a branch of its own. */
#ifndef OP_ADD_H
#define OP_ADD_H

struct fleet;
struct server_call;

/* The name is free and good. call NULL: auto mode wants it; a failure is a
 * hard one then. */
void op_add(struct fleet *fleet, const char *name, struct server_call *call);

#endif
