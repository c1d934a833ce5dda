/* SPDX-License-Identifier: ISC */

/*
 * A repair: a fresh session is told what is known, works in a worktree of its
 * own (in a box, if workers are in one), and ends. Completed means that its fix
 * has landed, or that it changed what is not in the repository and wrote down
 * what it found. A fix that cannot land is saved (refs/llmc/salvage/overseer/).
 * The outcomes are told apart; these two restart the daemon.
 *
 * It is an operation (overseer.remediation_timeout is its deadline), which
 * another one follows, whatever became of it: the session is ended, and what
 * changed is written down.
 */
#ifndef REPAIR_H
#define REPAIR_H

#include "git-work.h"
#include "git.h"
#include "operation.h"
#include "repair-agent.h"
#include "repair-check.h"

struct overseer;

#define REPAIR_BRANCH "llmc/overseer"

enum repair_outcome {
	REPAIR_COMPLETED,
	REPAIR_NO_FIX, /* nothing was changed, or it cannot land */
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
	char *cwd; /* what it changes: the worktree, or the checkout */
	char *desk; /* where its session is: there, or in its folder */
	bool in_worktree;
	bool boxed;
	bool placed; /* the worktree is there and at the branch */
	bool landed;
	bool aside; /* what was there is out of the way */
	char *folder; /* .llmc/remedy, where its agent writes: */
	char *finding; /* what was wrong, and what it did */
	char *request; /* or why a person is needed, which becomes: */
	char *manual;
	char stamp[CLOCK_STAMP_SIZE];
	int64_t began_ms;
	int dirt; /* files changed before it began */
	char head[GIT_ID_SIZE], onto[GIT_ID_SIZE], fix[GIT_ID_SIZE];
	char tip[GIT_ID_SIZE]; /* what its agent has committed */
	char *saved; /* the ref of what it left and did not land, or NULL */
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

/* What the agent wrote into a file of its folder; the caller frees. NULL = it
 * is empty, or not a file: links are not followed. */
char *repair_note(const char *file);

/* For the git of the overseer (git.h); arg is the overseer. The tree of repairs
 * is always detached: in a box its agent cannot write refs. */
bool repair_home(void *arg, const char *dir, struct git_home *ret_home);
int repair_box(void *arg, const char *dir, char ***ret_prefix, struct err *err);

#endif
