/* SPDX-License-Identifier: ISC */

/* The names of the statuses, and the table of which may follow which. */

#include <string.h>

#include "mem.h"
#include "worker-status.h"

const char *const worker_status_words[] = {
	[WORKER_IDLE] = "idle",
	[WORKER_STARTING] = "starting",
	[WORKER_WORKING] = "working",
	[WORKER_NEEDS_REVIEW] = "needs_review",
	[WORKER_REVIEWING] = "reviewing",
	[WORKER_REJECTED] = "rejected",
	[WORKER_REBASING] = "rebasing",
	[WORKER_NO_CHANGES] = "no_changes",
	[WORKER_ACCEPTING] = "accepting",
	[WORKER_PAUSED] = "paused",
	[WORKER_LIMITED] = "limited",
	[WORKER_ERROR] = "error",
	[WORKER_OFFLINE] = "offline",
	[WORKER_WAITING] = "waiting",
	[WORKER_STATUS_COUNT] = NULL,
};

/*
 * [from][to]. Everything else is refused. Every status may fail or lose its
 * session; the comments say when the other moves happen.
 */
static const bool worker_moves[WORKER_STATUS_COUNT][WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = {
		[WORKER_STARTING] = true, /* it gets a task */
		[WORKER_WORKING] = true, /* a person typed a prompt */
		[WORKER_NEEDS_REVIEW] = true, /* found with finished work */
		[WORKER_REBASING] = true, /* found in the middle of a rebase */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true, /* the account's limit */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* To the status that the prompt is for, or back if it was withdrawn. */
	[WORKER_STARTING] = {
		[WORKER_IDLE] = true,
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	[WORKER_WORKING] = {
		[WORKER_IDLE] = true, /* the task was taken from it */
		[WORKER_STARTING] = true, /* another prompt */
		[WORKER_NEEDS_REVIEW] = true, /* finished */
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true, /* finished without changes */
		[WORKER_ACCEPTING] = true, /* finished, without review */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true, /* its turn ended, for agents that it
					  * has asked for */
	},
	[WORKER_NEEDS_REVIEW] = {
		[WORKER_IDLE] = true, /* landed in another way, or dropped */
		[WORKER_STARTING] = true, /* a message */
		[WORKER_REVIEWING] = true, /* reviews its own work first */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true, /* the default branch has moved */
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	[WORKER_REVIEWING] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_NEEDS_REVIEW] = true, /* the review is done */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_REJECTED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_NEEDS_REVIEW] = true, /* reworked */
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true, /* it reverted everything */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	/* Never directly to idle: that would lose half-rebased work. */
	[WORKER_REBASING] = {
		[WORKER_STARTING] = true,
		[WORKER_WORKING] = true, /* continues its task */
		[WORKER_NEEDS_REVIEW] = true, /* resolved */
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true, /* the next conflict */
		[WORKER_ACCEPTING] = true, /* resolved during a landing */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_NO_CHANGES] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true,
		[WORKER_WORKING] = true,
		[WORKER_REBASING] = true,
		[WORKER_ACCEPTING] = true, /* closes the task */
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* A git transaction: it neither needs an agent nor waits for one. */
	[WORKER_ACCEPTING] = {
		[WORKER_IDLE] = true, /* landed */
		[WORKER_NEEDS_REVIEW] = true, /* not possible now: rolled
					       * back */
		[WORKER_REBASING] = true, /* a conflict */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
	/* Back to where it was, or to what could follow there:
	 * worker_transition() checks `before` too. Not to limited, which ends
	 * by itself. */
	[WORKER_PAUSED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true, /* a person's message */
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true, /* for another reason */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_LIMITED] = {
		[WORKER_IDLE] = true,
		[WORKER_STARTING] = true, /* "continue" */
		[WORKER_WORKING] = true,
		[WORKER_NEEDS_REVIEW] = true,
		[WORKER_REVIEWING] = true,
		[WORKER_REJECTED] = true,
		[WORKER_REBASING] = true,
		[WORKER_NO_CHANGES] = true,
		[WORKER_ACCEPTING] = true,
		[WORKER_PAUSED] = true, /* it needs a person after all */
		[WORKER_LIMITED] = true, /* not over yet */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
		[WORKER_WAITING] = true,
	},
	[WORKER_ERROR] = {
		[WORKER_IDLE] = true, /* repaired */
		[WORKER_STARTING] = true, /* tried again */
		[WORKER_NEEDS_REVIEW] = true, /* its work exists */
		[WORKER_REBASING] = true,
		[WORKER_ERROR] = true, /* for another reason */
		[WORKER_OFFLINE] = true,
	},
	[WORKER_OFFLINE] = {
		[WORKER_IDLE] = true, /* ready, and nothing to continue */
		[WORKER_STARTING] = true, /* continues its task */
		[WORKER_REBASING] = true,
		[WORKER_PAUSED] = true,
		[WORKER_LIMITED] = true, /* it is not launched before the limit
					  * ends */
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true, /* launched again */
	},
	/* Needs no session: it keeps its status without one. */
	[WORKER_WAITING] = {
		[WORKER_IDLE] = true, /* the task was taken from it */
		[WORKER_STARTING] = true, /* it gets their results */
		[WORKER_WORKING] = true, /* a message */
		[WORKER_REBASING] = true, /* their work conflicts with its own */
		[WORKER_PAUSED] = true,
		[WORKER_ERROR] = true,
		[WORKER_OFFLINE] = true,
	},
};

/* A new status needs a name, a row, and a check of every other row. */
_Static_assert(WORKER_STATUS_COUNT == 14, "worker_moves knows 14 statuses");
_Static_assert(nitems(worker_status_words) == WORKER_STATUS_COUNT + 1,
    "a word for every status");

const char *
worker_status_name(enum worker_status status)
{
	return worker_status_words[status];
}

bool
worker_status_parse(const char *name, enum worker_status *ret_status)
{
	for (unsigned i = 0; i < WORKER_STATUS_COUNT; i++) {
		if (strcmp(worker_status_words[i], name) == 0) {
			*ret_status = (enum worker_status)i;
			return true;
		}
	}
	return false;
}

bool
worker_status_may(enum worker_status from, enum worker_status to)
{
	return (unsigned)from < WORKER_STATUS_COUNT &&
	    (unsigned)to < WORKER_STATUS_COUNT && worker_moves[from][to];
}
