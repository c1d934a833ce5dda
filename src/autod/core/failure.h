/* SPDX-License-Identifier: ISC */

/* Hard failures: failure.json, a typed record for whoever looks after us, then
 * an event, and a stop with exit status 1. */
#ifndef FAILURE_H
#define FAILURE_H

struct core;

struct failure {
	const char *class; /* a word */
	const char *worker, *task; /* NULL = none */
	int status; /* exit status of what failed, -1 = none */
	const char *reason; /* what happened, with evidence */
};

/* The first one counts; none while the daemon stops. */
void failure_raise(struct core *core, const struct failure *failure);
/* A new run: what the last one left is gone. */
void failure_clear(struct core *core);

#endif
