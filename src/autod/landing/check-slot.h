/* SPDX-License-Identifier: ISC */

/*
 * A check slot: a worktree of our own, in which check_command judges one
 * candidate at a time. The command is an errand (errand.h), so it outlives the
 * daemon; the next one finds its result.
 *
 *   .llmc/checks/1       the worktree of slot 1
 *   .llmc/checks/run-1/  the files of its errand, <tree>-<key of the command>
 */
#ifndef CHECK_SLOT_H
#define CHECK_SLOT_H

#include "check-book.h"

struct buf;
struct check_slot;
struct core;

/* how: "exited with status 1". The first line of the file. */
void check_output_keep(const struct core *core, const char *tree,
    const char *how, const char *output);

/* Append what is kept to how and output; nothing if it is lost. */
void check_output_read(const struct core *core, const char *tree,
    struct buf *how, struct buf *output);

/* Remove the outputs whose tree has no failure in the book any more. */
void check_output_trim(const struct core *core);

/* How it ended; valid until the callback returns. */
struct check_end {
	const char *tree; /* its name in the book */
	const char *key; /* of the command */
	enum check_verdict verdict;
	bool cancelled; /* by check_slot_cancel(): no verdict */
	const char *how; /* "exited with status 1" */
	const char *output; /* the end of it */
	int64_t duration_ms;
};

/* The slot is free when this is called. */
typedef void
check_slot_fn(struct check_slot *slot, const struct check_end *end, void *arg);

struct check_slot *
check_slot_new(struct core *core, int number, check_slot_fn *fn, void *arg);

/* A command that runs is left to the next daemon. */
void check_slot_free(struct check_slot *slot);

/* What to check. */
struct check_subject {
	const char *tree; /* its name in the book */
	const char *commit; /* id */
	const char *task; /* for LLMC_TASK, NULL = none */
	const char *base; /* commit of the branch: protected paths are checked
			   * as they are there; NULL = none are changed */
	const char *const *protected_paths; /* NULL terminated */
	bool afresh; /* somebody may be blamed for the result: what an earlier
		      * setup of the worktree left must not decide it */
};

/* The slot must be free. Its end is reported through fn, always later. A
 * worktree that is none any more is moved aside, and made anew, once. */
void
check_slot_start(struct check_slot *slot, const struct check_subject *subject);

/* Continue what an earlier daemon left running; false: nothing. */
bool check_slot_adopt(struct check_slot *slot);
void check_slot_cancel(struct check_slot *slot);

/* The daemon stops: let go of the command, end everything else. */
void check_slot_stop(struct check_slot *slot);

/* The name in the book of what it checks, NULL = it is free. */
const char *check_slot_tree(const struct check_slot *slot);

/* Since when, wall clock milliseconds. */
int64_t check_slot_since_ms(const struct check_slot *slot);

/* A short key for the command of auto.check_command as it is now; "" if none is
 * set. */
void check_slot_key(const struct core *core, char ret_key[CHECK_KEY_SIZE]);

#endif
