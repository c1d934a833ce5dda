/* SPDX-License-Identifier: ISC */

/*
 * Writes a record of each run that has ended (perf-record.h) to the book, where
 * it moves to from the task's own record.
 */
#ifndef TEAM_PERF_H
#define TEAM_PERF_H

#include <stdbool.h>

struct task;
struct team_floor;
struct team_perf;

struct team_perf *team_perf_new(struct team_floor *floor);
void team_perf_free(struct team_perf *perf);

/* Whatever tasks have of it: at the start, and at each patrol. */
void team_perf_write(struct team_perf *perf);
/* Part of struct auto_team. */
void team_perf_files(struct team_perf *perf, struct task *task);

#endif
