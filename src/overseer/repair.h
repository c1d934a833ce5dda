/* SPDX-License-Identifier: ISC */

/* A repair while it goes on: shared by repair.c and report.c. */
#ifndef REPAIR_H
#define REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "clock.h"
#include "git-work.h"
#include "overseer.h"

struct loop_timer;
struct server_call;
struct session;

struct repair {
	struct overseer *overseer;
	struct session *session; /* NULL between two */
	struct server_call *call; /* a Stop that waits for its answer */
	struct loop_timer *timeout, *wait;
	struct buf prompt, status, diff;
	char *cwd;
	bool in_worktree;
	char *manual; /* the file to write when a person is needed */
	char stamp[CLOCK_STAMP_SIZE];
	int64_t began_ms;
	int dirt; /* files changed before it began */
	char head[GIT_ID_SIZE], onto[GIT_ID_SIZE];
	bool asked_to_tidy;
	int sessions; /* that died */
	int failures; /* of turns */
	bool again; /* another session follows */
	bool decided;
	enum repair_outcome outcome;
	char *words;
	char *transcript; /* path */
};

/* report.c: logs/remediation_<stamp>.txt; its path, owned by the caller, or
 * NULL. */
char *report_write(const struct repair *repair);

#endif
