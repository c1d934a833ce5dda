/* SPDX-License-Identifier: ISC */

/*
 * The end of a turn in auto mode: is the task done, or is the worker sent back,
 * and with what words? A turn that ends with a question or a refusal is no
 * success.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>

struct buf;

#define GATE_NUDGES_MAX 3 /* times told to go on without asking */

/* How the agent's last words end. */
enum gate_ending {
	ENDING_PLAIN,
	ENDING_QUESTION, /* asks somebody who is not there */
	ENDING_REFUSAL, /* says that it cannot or will not */
	ENDING_COUNT
};

const char *gate_ending_name(enum gate_ending ending);

/* Looks at the last paragraph. An offer of more after finished work ("Let me
 * know if you would like ...") is no question; a question inside of code or a
 * quotation is none. Empty or NULL words are plain. */
enum gate_ending gate_read_ending(const char *last_words);

struct gate_facts {
	int dirt; /* files changed or untracked */
	bool rebasing; /* git has a rebase in progress */
	int conflicts; /* unmerged files of it */
	int ahead; /* commits more than the default branch */
	bool resolving; /* the turn was to resolve a conflict: no commit of
			 * its own is needed */
	bool commit_wanted; /* a task without a commit is not done */
	bool check_wanted; /* there is a check_command */
	enum gate_ending ending;
	const char *words; /* last ones, for the reason */
	int turns, turns_max; /* ended with this one; 0 = no end */
	int nudges;
};

enum gate_action {
	GATE_ACCEPT, /* land it */
	GATE_NO_CHANGES, /* done, nothing to land */
	GATE_CHECK, /* run check_command first */
	GATE_BACK, /* the worker goes on, told `words` */
	GATE_NUDGE, /* likewise, and it counts as a nudge */
	GATE_FAIL, /* the attempt failed, for `words` */
	GATE_ACTION_COUNT
};

const char *gate_action_name(enum gate_action action);

/* In this order: an unfinished rebase, dirt, the ending (a question or a
 * refusal), a missing commit, the check. What sends back becomes GATE_FAIL
 * when turns_max is reached, or the nudges are used up. words is appended to
 * for BACK, NUDGE and FAIL. */
enum gate_action gate_judge(const struct gate_facts *facts, struct buf *words);

/* What the worker is told when check_command failed: how, and the end of what
 * it said (cut to 8 KiB, whole lines). */
void gate_check_words(
    const char *command, const char *how, const char *output, struct buf *out);

#endif
