/* SPDX-License-Identifier: ISC */

/* The statuses of a worker and the steps of its landing, with their names, and
 * the table of which status may follow which. */
#ifndef WORKER_STATUS_H
#define WORKER_STATUS_H

#include <stdbool.h>

enum worker_status {
	WORKER_IDLE, /* session ready, no task */
	WORKER_STARTING, /* a prompt is being delivered */
	WORKER_WORKING, /* a turn is running on its task */
	WORKER_NEEDS_REVIEW, /* finished, waits for a decision */
	WORKER_REVIEWING, /* reviews its own work */
	WORKER_REJECTED, /* reworks after feedback */
	WORKER_REBASING, /* resolves conflicts with the default branch */
	WORKER_NO_CHANGES, /* finished without a change */
	WORKER_ACCEPTING, /* its work is being landed */
	WORKER_PAUSED, /* waits for a person */
	WORKER_LIMITED, /* waits for a usage limit or outage to end */
	WORKER_ERROR, /* needs repair; reason says why */
	WORKER_OFFLINE, /* no session that is ready */
	WORKER_WAITING, /* its turn ended; waits for agents it asked for */
	WORKER_STATUS_COUNT
};

const char *worker_status_name(enum worker_status status); /* "needs_review" */
bool worker_status_parse(const char *name, enum worker_status *ret_status);

/* May a worker go from one to the other? According to the table alone; from
 * limited and paused worker_transition() checks more. False for invalid
 * statuses. */
bool worker_status_may(enum worker_status from, enum worker_status to);

/* For reading records (word.h), NULL terminated. */
extern const char *const worker_status_words[WORKER_STATUS_COUNT + 1];

#endif
