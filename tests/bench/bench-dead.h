/* SPDX-License-Identifier: ISC */

/* The idle time of workers, from the transcripts of their sessions: from the
 * last message of one task to the prompt of the next. */
#ifndef BENCH_DEAD_H
#define BENCH_DEAD_H

#include "base.h"

struct bench_pause {
	double at_ms; /* its end */
	double ms;
};

struct bench_dead {
	struct bench_pause *v; /* in order of time; the caller frees it */
	size_t count;
};

/* Workers are auto-1, auto-2, ...; dead must be zero. */
void bench_dead_read(const char *home, int workers, struct bench_dead *dead);

/* The quantile of `count` pauses after the first `from`: 0.5 is the median,
 * 0.99 the worst of a hundred. */
double bench_dead_rank(
    const struct bench_dead *dead, size_t from, size_t count, double rank);

#endif
