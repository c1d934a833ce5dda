/* SPDX-License-Identifier: ISC */

/*
 * Lands a worker's work as one commit: a journalled operation. Each step is
 * saved before it is taken and can be repeated; landings run one after the
 * other.
 *
 *   PREPARE  commit leftovers, rebase on the default branch, make one commit
 *            on a private ref (the same one when repeated)
 *   PUBLISH  move the default branch to it, compare-and-swap
 *   CLEANUP  reset the worktree to the default branch
 */
#ifndef LANDING_H
#define LANDING_H

#include <stdbool.h>

#include "fleet.h"

struct agent;
struct err;
struct landings;
struct server_call;

enum landing_result {
	LANDING_LANDED, /* or there was nothing to land */
	LANDING_CONFLICT, /* sent back to resolve it */
	LANDING_STUCK, /* too many conflicts */
	LANDING_DIRTY, /* blocked by the user's checkout */
	LANDING_FAILED, /* git reported an error */
	LANDING_CANCELLED, /* the daemon stops, or the worker lost its task */
};

/* The result: event->landing of EVENT_LANDING_ENDED. */
struct landing_end {
	struct agent *agent;
	const char *task; /* of the worker when it began, or NULL */
	enum landing_result result;
	const struct err *err; /* NULL = success */
};

struct landing_policy {
	/* May the next landing begin? */
	bool (*may_begin)(void *arg);
};

/* Registers itself as a floor, and its methods (accept, rebase, review, pick).
 * Subscribes to EVENT_WORK_FINISHED (continues a landing whose conflict was
 * resolved) and EVENT_WORKER_LOST (cancels). */
struct landings *landings_new(struct fleet *fleet);
void landings_free(struct landings *landings);
void landings_set_policy(
    struct landings *landings, const struct landing_policy *policy, void *arg);
/* Is one running or waiting? */
bool landings_busy(const struct landings *landings);
/* The next one may be able to begin now. */
void landings_kick(struct landings *landings);

/* Land its work when the queue gets to it. call may be NULL. Emits EVENT_LANDED
 * in the same pass of the loop that saves it, EVENT_NOT_LANDED, and
 * EVENT_LANDING_ENDED last. */
void landing_begin(
    struct landings *landings, struct agent *agent, struct server_call *call);
/* Only rebase the work on the default branch. */
void landing_rebase(
    struct landings *landings, struct agent *agent, struct server_call *call);

#endif
