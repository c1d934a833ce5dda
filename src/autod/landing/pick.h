/* SPDX-License-Identifier: ISC */

/*
 * Pick, for emergencies: land what a worker has, in any status, without
 * touching its worktree or its status. Everything is saved as a commit first,
 * merged with the default branch in memory (git merge-tree), and landed.
 */
#ifndef PICK_H
#define PICK_H

struct agent;
struct landings;
struct operation;
struct server_call;

/* No operation may be running on the worker. */
void pick_begin(
    struct landings *landings, struct agent *agent, struct server_call *call);
/* The pick that is running on the worker; NULL = none. */
struct operation *pick_of(const struct agent *agent);

#endif
