/* SPDX-License-Identifier: ISC */

/* Shared by the benchmarks. A step that fails ends the program. */
#ifndef BENCH_H
#define BENCH_H

#include "base.h"

struct err;
struct json_object;
struct table;

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

/* A new folder, owned by the caller, in which all is that programs write: they
 * have another HOME and another tmux from now on. */
char *bench_scratch(void);
void bench_remove(const char *scratch);

/* A repository, and then its first commit, with what was added to it, and llmc
 * set up in it. */
void bench_repo(const char *repo);
void bench_init(const char *repo, const char *llmc, const char *agent);
void bench_config(
    const char *repo, const char *llmc, const char *key, const char *value);

/* A table of figures, and a row of it: a target of 0 means none, `more` may be
 * NULL. Print and free it. */
struct table *bench_table(const char *title);
void bench_report(struct table *table, const char *what, double value,
    double target, const char *unit, const char *more);
void bench_print(struct table *table);

/* The number behind a word in a text; 0 = there is none. */
double bench_number(const char *text, const char *word);

void bench_sort(double *times, size_t count);

/* "3.20 ms"; owned by the caller. A single call is measured in whole
 * microseconds. */
char *bench_time(double us, bool batch);

#endif
