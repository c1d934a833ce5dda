/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn: is the work finished, or is the worker sent back, and with
 * what words? One rule for workers that a person drives and for those that auto
 * mode drives. Where nobody will look, a turn that ends with a question or a
 * refusal is no success, and a commit or a check may be wanted.
 */
#ifndef TURN_H
#define TURN_H

#include <stdbool.h>

struct buf;

#define TURN_NUDGES_MAX    3 /* times told to go on without asking */
#define TURN_SENT_BACK_MAX 2 /* times in one turn, driven by hand */

/* How the agent's last words end. */
enum turn_ending {
	ENDING_PLAIN,
	ENDING_QUESTION, /* asks somebody who is not there */
	ENDING_REFUSAL, /* says that it cannot or will not */
	ENDING_COUNT
};

/* Looks at the last paragraph. An offer of more after finished work ("Let me
 * know if you would like ...") is no question; a question inside of code or a
 * quotation is none. Empty or NULL words are plain. */
enum turn_ending turn_read_ending(const char *last_words);

struct turn_facts {
	int dirt; /* files changed or untracked */
	bool rebasing; /* git has a rebase in progress */
	int conflicts; /* unmerged files of it */
	int ahead; /* commits more than the default branch */
	bool resolving; /* the turn was to resolve a conflict: no commit of
			 * its own is needed */
	bool reviewing; /* it looked over its own work: likewise */
	bool driven; /* by auto mode: nobody will look */

	/* Asked only where it is driven. */
	bool commit_wanted; /* a task without a commit is not done */
	bool check_wanted; /* there is a check_command */
	enum turn_ending ending;
	const char *words; /* last ones, for the reason */
	int turns, turns_max; /* ended with this one; 0 = no end */
	int nudges;

	/* Asked only where it is not. */
	int sent_back; /* times in this turn */
};

enum turn_action {
	TURN_FINISHED, /* the work is there, in commits */
	TURN_NO_CHANGES, /* done, nothing to land */
	TURN_CHECK, /* run check_command first */
	TURN_BACK, /* the worker goes on, told `words` */
	TURN_NUDGE, /* likewise, and it counts as a nudge */
	TURN_COMMIT, /* commit what it left behind, then it is finished */
	TURN_PAUSE, /* a person must see to it, for `words` */
	TURN_FAIL, /* the attempt failed, for `words` */
	TURN_ACTION_COUNT
};

/* In this order: an unfinished rebase, dirt and, where it is driven, the ending
 * (a question or a refusal), a missing commit, the check.
 *
 * Driven, what sends back becomes TURN_FAIL when turns_max is reached or the
 * nudges are used up. By hand, a worker that was sent back often enough is
 * paused over a rebase, and its dirt is committed for it.
 *
 * words is appended to for BACK, NUDGE, PAUSE and FAIL. */
enum turn_action turn_judge(const struct turn_facts *facts, struct buf *words);

/* What the worker is told when check_command failed: how, and the end of what
 * it said (cut to 8 KiB, whole lines). */
void turn_check_words(
    const char *command, const char *how, const char *output, struct buf *out);

#endif
