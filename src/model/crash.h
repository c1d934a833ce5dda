/* SPDX-License-Identifier: ISC */

/*
 * An agent exited by itself: launch it again, when, or give up? Progress of the
 * worker resets the count of crashes (worker.h).
 */
#ifndef CRASH_H
#define CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

#define CRASH_MAX        6 /* crashes in a row before giving up */
#define CRASH_DRIVEN_MAX 3 /* the same in auto mode */
#define CRASH_ROW_MS     (10 * 60 * 1000) /* longest gap within a row */

struct crash_verdict {
	bool counts; /* false: it waits or is in error; nothing changed */
	bool give_up; /* too many in a row: a person must look at it */
	int64_t pause_ms; /* before the next launch; 0 after the first crash */
};

/* Counts the crash in the worker's record and decides what to do. */
struct crash_verdict
crash_judge(struct worker *worker, bool driven, int64_t now_ms);

#endif
