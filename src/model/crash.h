/* SPDX-License-Identifier: ISC */

/*
 * An agent that ended by itself: is it launched again, when, or is it given up?
 * A worker that gets on with its work ends the row of crashes (worker.h).
 */
#ifndef CRASH_H
#define CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

#define CRASH_MAX        6 /* in a row: given up */
#define CRASH_DRIVEN_MAX 3 /* likewise where auto mode drives it */
#define CRASH_ROW_MS     (10 * 60 * 1000) /* further apart is no row */

struct crash_verdict {
	bool counts; /* false: it waits or is in error, and nothing changed */
	bool give_up; /* too many in a row: a person must look */
	int64_t
	    pause_ms; /* before it is launched again; none after the first */
};

/* Counts the crash in the worker's record and says what follows. */
struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms);

#endif
