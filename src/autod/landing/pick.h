/* SPDX-License-Identifier: ISC */

/*
 * Pick, for emergencies: land what a worker has, in any status, without
 * touching its worktree or its status. Everything is saved as a commit first,
 * which then goes through the landing queue like any other work.
 */
#ifndef PICK_H
#define PICK_H

struct agent;
struct landings;
struct server_call;

/* No operation may be running on the worker. commit: the HEAD that was shown to
 * the person, NULL = any. */
void pick_begin(struct landings *landings, struct agent *agent,
    const char *commit, struct server_call *call);

#endif
