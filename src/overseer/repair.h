/* SPDX-License-Identifier: ISC */

/*
 * A repair: a fresh session is told what is known, works, and ends. Completed
 * means that it ended its turn by itself and left the checkout as clean as it
 * found it, or committed. The outcomes are told apart; only that one restarts
 * the daemon.
 *
 * It is an operation (overseer.remediation_timeout is its deadline), which
 * another one follows, whatever became of it: the session is ended, and what
 * changed is written down.
 */
#ifndef REPAIR_H
#define REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "clock.h"
#include "git-work.h"
#include "operation.h"
#include "repair-agent.h"
#include "repair-check.h"
#include "repair-keep.h"

#define REPAIR_BRANCH "llmc/overseer"

struct overseer;

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
	struct operation op; /* first */
	struct overseer *overseer;
	struct repair_agent agent;
	struct repair_check check;
	struct repair_keep keep;
	struct buf prompt, status, diff;
	char *cwd;
	bool in_worktree;
	char *manual; /* the file to write when a person is needed */
	char stamp[CLOCK_STAMP_SIZE];
	int64_t began_ms;
	int dirt; /* files changed before it began */
	char head[GIT_ID_SIZE], onto[GIT_ID_SIZE], fix[GIT_ID_SIZE];
	bool failed; /* outcome and words say how */
	bool dropped; /* it was told, and nobody waits for its end */
	enum repair_outcome outcome;
	char *words;
	char **transcripts; /* paths, of each session */
};

void repair_begin(struct overseer *o);
/* Ask it to end; now: end it, and tell what is known by now. */
void repair_stop(struct overseer *o, bool now);
const char *repair_outcome_name(enum repair_outcome outcome);

/* For its own files: it has failed like this, which an answer brought. */
void
repair_failed(struct repair *r, enum repair_outcome outcome, const char *words);
/* The branch that fixes land on. */
const char *repair_branch(const struct repair *r);

#endif
