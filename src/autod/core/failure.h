/* SPDX-License-Identifier: ISC */

/* Hard failures: write failure.json, a record for the overseer, then emit an
 * event and stop with exit status 1. */
#ifndef FAILURE_H
#define FAILURE_H

struct core;

struct failure {
	const char *class; /* failure-class.h */
	const char *worker, *task; /* NULL = none */
	int status; /* exit status of the failed command, -1 = none */
	const char *reason; /* what happened, with evidence */
};

/* Only the first one counts; ignored while the daemon stops. */
void failure_raise(struct core *core, const struct failure *failure);
/* At the start of a run: remove what the last one left. */
void failure_clear(struct core *core);

#endif
