/* SPDX-License-Identifier: ISC */

/*
 * The landing of a worker's work as one commit: a journalled operation. The
 * step is written down before it is taken, each step can be taken again, and
 * landings go one after the other.
 *
 *   PREPARE  leftovers committed, rebased on the default branch, one commit
 *            made beside it (the same one when it is made again)
 *   PUBLISH  the default branch moved to it, compare-and-swap
 *   CLEANUP  the worktree reset to the default branch
 */
#ifndef LANDING_H
#define LANDING_H

#include <stdbool.h>

#include "fleet.h"

struct agent;
struct err;
struct landing;
struct landings;
struct server_call;

enum landing_result {
	LANDING_LANDED, /* or there was nothing left to land */
	LANDING_CONFLICT, /* sent back to resolve it */
	LANDING_STUCK, /* too many conflicts */
	LANDING_DIRTY, /* the user's checkout is in the way */
	LANDING_FAILED, /* git says no */
	LANDING_CANCELLED, /* the daemon stops, or the worker was taken away */
};

/* How one ended: event->landing of EVENT_LANDING_ENDED. */
struct landing_end {
	struct agent *agent;
	const char *task; /* that the worker had when it began, or NULL */
	enum landing_result result;
	const struct err *err; /* NULL = it went well */
};

struct landing_policy {
	/* May the next landing begin? */
	bool (*may_begin)(void *arg);
};

/* Registers itself as a floor, and its methods (accept, rebase, review, pick).
 * Subscribes to EVENT_WORK_FINISHED (goes on with a landing that waited for
 * its conflict to be resolved) and EVENT_WORKER_LOST (drops what waits). */
struct landings *landings_new(struct fleet *fleet);
void landings_free(struct landings *landings);
void landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg);
/* Is one under way or waiting? */
bool landings_busy(const struct landings *landings);
/* The next one may begin now. */
void landings_kick(struct landings *landings);

/* Land it, when its turn has come. call may be NULL. Emits EVENT_LANDED in the
 * same pass that writes so, EVENT_NOT_LANDED, and EVENT_LANDING_ENDED last. */
void landing_begin(
    struct landings *landings, struct agent *agent, struct server_call *call);
/* Only bring the worker up to date with the default branch. */
void landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call);

#endif
