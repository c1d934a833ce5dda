/* SPDX-License-Identifier: ISC */

/* Shared by the benchmarks. A step that fails ends the program. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct json_object;

/* If r is negative, print what failed, and exit. */
void bench_must(int r, const char *what, const struct err *err);

/* Run a command in dir (NULL = here) with this standard input (NULL = none); it
 * must succeed. Arguments end with NULL. */
void bench_run(const char *dir, const char *const *argv);
void
bench_run_with(const char *dir, const char *const *argv, const char *input);

/* The real path of BENCH_OLD, another build to compare with; the caller frees.
 * NULL = it is not set. */
char *bench_old_build(void);

/* The path of a file of the build; the caller frees. If it was not built, say
 * how to, and exit. */
char *bench_built(const char *build, const char *name);

/* The state of a repository, from this llmc's autod; of an older build, its
 * file. The caller puts it; NULL = there is none. */
struct json_object *bench_state(const char *llmc, const char *repo);

void bench_sort(double *times, size_t count);

/* "3.20 ms"; owned by the caller. A single call is measured in whole
 * microseconds. */
char *bench_time(double us, bool batch);

#endif
