/* SPDX-License-Identifier: ISC */

/*
 * Writes a record of each run that has ended (perf-record.h) to its file,
 * exactly once: it is a part of the task's record until it is in the file, and
 * what a daemon that died may have written is looked for there.
 */
#ifndef TEAM_PERF_H
#define TEAM_PERF_H

#include <stdbool.h>

struct task;
struct team_floor;
struct team_perf;

struct team_perf *team_perf_new(struct team_floor *floor);
void team_perf_free(struct team_perf *perf);

/* Write what the last daemon left. */
void team_perf_begin(struct team_perf *perf);
/* Write what could not be written before, and remove what is old. */
void team_perf_patrol(struct team_perf *perf);
/* Part of struct auto_team: what cannot be written now is lost. */
void team_perf_files(struct team_perf *perf, struct task *task);

#endif
