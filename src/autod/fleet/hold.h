/* SPDX-License-Identifier: ISC */

/*
 * Workers that a person has put on hold (llmc pause, llmc stop): they finish
 * their turn and take no new task until llmc resume. The mark is part of the
 * worker's record, so it outlives the daemon. A worker on hold is paused as
 * soon as it has nothing to do; one that waits for a decision keeps its status.
 */
#ifndef HOLD_H
#define HOLD_H

struct agent;
struct fleet;
struct hold;

/* Registers worker.pause. */
struct hold *hold_new(struct fleet *fleet);
void hold_free(struct hold *hold);

/* Mark it, and pause it if nothing is in progress; with `now`, in the middle of
 * a turn, too, for a caller who ends its session. */
void hold_begin(struct agent *agent, bool now);

/* Its turn has ended, and this is its next prompt. True: it is on hold, so it
 * is paused, and gets the prompt when it is resumed. */
bool hold_turn_ended(struct agent *agent, const char *text);

struct hold_change {
	unsigned cleared, left; /* sets of enum worker_hold */
};

/* Take these reasons away (a set of enum worker_hold); an agent that cannot be
 * launched stays so. When none is left, a paused worker continues from where it
 * was, for whatever reason it was paused; a budget is granted by the caller.
 * note: what a person tells it, NULL = nothing. False: there was nothing to
 * resume. It must not be taken. */
bool hold_resume(struct agent *agent, unsigned may, const char *note,
    struct hold_change *ret_change);
#define HOLD_ANY (~0U)

#endif
