/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: is the work finished, or is the worker sent back, and with
 * which message? One rule for workers driven by hand and by auto mode. In auto
 * mode nobody looks at the result, so a turn that ends with a question or a
 * refusal is not a success, and a commit or a check may be required.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>

#include "turn-ending.h"

struct buf;

#define TURN_NUDGES_MAX    3 /* times told to continue without asking */
#define TURN_SENT_BACK_MAX 2 /* times in one turn, driven by hand */

struct turn_facts {
	int dirt; /* files changed or untracked */
	bool rebasing; /* a rebase is in progress */
	int conflicts; /* unmerged files */
	int ahead; /* commits ahead of the default branch */
	bool resolving; /* the turn was to resolve a conflict: it needs no
			 * commit of its own */
	bool reviewing; /* it reviewed its own work: the same */
	bool driven; /* by auto mode: nobody looks at the result */

	/* Only used if driven. */
	bool commit_wanted; /* a task without a commit is not done */
	bool reason_wanted; /* without a commit it is done only if it says why
			     * none is needed, and it has not */
	bool check_wanted; /* a check_command is set */
	enum turn_ending ending;
	const char *words; /* the last message, for the reason */
	int turns, turns_max; /* turns so far, with this one; turns_max 0 = no
			       * limit */
	int nudges;
	bool waits; /* for agents that it has asked for */
	const char *answers; /* who answers its tool request_orchestrator, in
			      * words; NULL = it cannot ask */
	bool asks_person; /* a question is not answered by "nobody can": it is
			   * a person's */

	/* Only used if not driven. */
	int sent_back; /* times in this turn */
};

enum turn_action {
	TURN_FINISHED, /* the work is committed */
	TURN_NO_CHANGES, /* done, nothing to land */
	TURN_CHECK, /* run check_command first */
	TURN_BACK, /* send the worker back with `words` */
	TURN_NUDGE, /* the same, and it counts as a nudge */
	TURN_COMMIT, /* commit what it left over, then it is finished */
	TURN_PAUSE, /* a person must look, for the reason in `words` */
	TURN_WAIT, /* it goes on when those that it waits for have ended */
	TURN_FAIL, /* the attempt failed, for the reason in `words` */
	TURN_ACTION_COUNT
};

/*
 * Checked in this order: an unfinished rebase, uncommitted changes and, if
 * driven, agents that it waits for, the ending (a question or a refusal), a
 * missing commit, or a missing reason for it (asked for once), the check.
 *
 * Driven: where a worker would be sent back, it is TURN_FAIL if turns_max is
 * reached or the nudges are used up; a question that a person answers is
 * TURN_PAUSE. By hand: a worker that was sent back often
 * enough is paused if a rebase is unfinished, and its changes are committed for
 * it.
 *
 * words is appended to for BACK, NUDGE, PAUSE and FAIL.
 */
enum turn_action turn_judge(const struct turn_facts *facts, struct buf *words);

/* The message to the worker after check_command failed: how, and the end of its
 * output (at most 8 KiB, complete lines). */
void turn_check_words(
    const char *command, const char *how, const char *output, struct buf *out);

#endif
