/* SPDX-License-Identifier: ISC */

/* A repair: one agent session from its prompt to its outcome. */
#ifndef REPAIR_H
#define REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "clock.h"
#include "git-work.h"

struct loop_timer;
struct overseer;
struct server_call;
struct session;

enum repair_outcome {
	REPAIR_COMPLETED,
	REPAIR_GAVE_UP, /* manual intervention file */
	REPAIR_INTERRUPTED, /* we are stopping */
	REPAIR_DIED, /* the session, again and again */
	REPAIR_TIMED_OUT,
	REPAIR_FAILED, /* could not even begin, or left the checkout dirty */
	REPAIR_OUTCOME_COUNT
};

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

void repair_begin(struct overseer *o);
void repair_stop(struct overseer *o, bool now);
const char *repair_outcome_name(enum repair_outcome outcome);

#endif
