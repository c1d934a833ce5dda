/* SPDX-License-Identifier: ISC */

/* What the benchmarks share. A step that fails ends the program. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* r is negative: say what failed, and end. */
void bench_must(int r, const char *what, const struct err *err);

/* Run to success in dir (NULL = here) with this standard input (NULL = none).
 * Arguments end with NULL. */
void bench_run(const char *dir, const char *const *argv);
void
bench_run_with(const char *dir, const char *const *argv, const char *input);

void bench_sort(double *times, size_t count);

/* "3.20 ms"; owned by the caller. Of one call, the clock knows no more than
 * whole microseconds. */
char *bench_time(double us, bool batch);

#endif
