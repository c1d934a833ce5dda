/* SPDX-License-Identifier: ISC */

/*
 * From when to when a run was, from what is known of each. A run that follows
 * one that was killed, or that was stopped within the last hour with work left,
 * goes on with it: a night is one period, however often the daemon was started
 * again. Pure.
 */
#ifndef REPORT_PERIOD_H
#define REPORT_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work_span;

/* All zero: nothing was seen. Strings are owned. */
struct report_run {
	char *wanted; /* NULL = the last one */
	char *id; /* that was found; NULL = none */
	char *first; /* the first of those that it went on from */
	char *last; /* of all */
	int64_t from_ms; /* when that began */
	int64_t begun_ms; /* and the run itself, or its last daemon */
	bool complete; /* there was nothing left to do */
	int64_t ended_ms; /* 0 = it was killed, or goes on */
	int64_t next_ms; /* when another one began; 0 = it is the last */
};

void report_run_release(struct report_run *run);
/* A daemon began, or ended, its part of a run; oldest first. */
enum report_run_what {
	REPORT_RUN_BEGINS,
	REPORT_RUN_ENDS,
	REPORT_RUN_COMPLETE /* it ends, with nothing left to do */
};
void report_run_event(struct report_run *run, const char *id,
    enum report_run_what what, int64_t at_ms);
/* Is there such a run? */
bool report_run_is_found(const struct report_run *run);

/* When it ended: now if it goes on; if it was killed, with the last span before
 * the next one. */
int64_t report_run_end(const struct report_run *run,
    const struct work_span *spans, size_t count, bool goes_on, int64_t now_ms);

#endif
