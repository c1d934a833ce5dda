/* SPDX-License-Identifier: ISC */

/* Histories of healthy and of sick work, lived through as the daemon does: what
 * is due is done at once. For a test and for a benchmark. */
#ifndef HISTORIES_H
#define HISTORIES_H

#include "base.h"
#include "ladder.h"

struct buf;

struct history {
	const char *name;
	bool sick;
	enum detection_type expected; /* of a sick one ... */
	int64_t within; /* ... at this iteration at the latest */
	int64_t length;
	int64_t seen[DETECTION_TYPES]; /* the first iteration at which more than
					* a note was due; 0 = none */
	enum progress_step highest;
	int64_t asked; /* the iteration at which a person was; 0 = none */
	int64_t redirected, restarted, retried; /* the same for these steps */
};

/* Both files; they must be well-formed. Call fn for each history. */
typedef void history_fn(const struct history *history, void *arg);
void histories_live(
    const char *healthy, const char *sick, history_fn *fn, void *arg);

/* A table of precision and recall by detector. */
void histories_table(const char *healthy, const char *sick, struct buf *out);

#endif
