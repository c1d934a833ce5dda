/* SPDX-License-Identifier: ISC */

/*
 * How a prompt gets into a session: what to do next, as a function of what is
 * known. One prompt in flight per session; text is never pasted twice into one
 * box, /clear neither; what was pasted counts as delivered only when the hook
 * brings its receipt back.
 *
 * The owner of the session asks delivery_next(), writes down what it is about
 * to do with delivery_did() and a save, and then does it: killed in between, it
 * presses Enter in vain and restarts the session, but no prompt goes in twice.
 * Strings given here are copied.
 */
#ifndef DELIVERY_H
#define DELIVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "session-record.h"

#define DELIVERY_CONFIRM_MS 3000 /* after a paste, then Enter alone */
#define DELIVERY_CLEAR_MS   10000 /* after /clear, then Enter alone */
#define DELIVERY_TRIES      3 /* Enters in a row, then a new session */

enum delivery_action {
	DELIVERY_WAIT, /* until *ret_wait_ms from now, or the next event */
	DELIVERY_CLEAR, /* paste /clear; step becomes CLEARING */
	DELIVERY_PASTE, /* paste the prompt; step becomes PASTED */
	DELIVERY_ENTER, /* press Enter alone: harmless on an empty box */
	DELIVERY_RESTART, /* end the session, resume it; the prompt is parked
			   * again, unless its receipt comes after all. To be
			   * counted as a crash, which bounds it */
	DELIVERY_ACTION_COUNT
};

/* Write a prompt down that shall go into the session (after /clear, if asked).
 * Replaces one that is on its way. */
void delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms);

/* Nothing can be done before some event: WAIT with *ret_wait_ms = -1. So it is
 * while nothing is pending, the box is not ours to write into (open is false),
 * the session is not ready (its launch has a deadline of its own), or a turn
 * runs and /clear is due. */
enum delivery_action delivery_next(const struct session_record *record,
    bool open, int64_t now_ms, int64_t *ret_wait_ms);

/* After a restart of the owner: what was written down may have been done, or
 * not. The proof gets its time (DELIVERY_CONFIRM_MS), a prompt also one Enter;
 * then comes the new session. */
void delivery_recovered(struct session_record *record, int64_t now_ms);

/* The record as it is once the action is taken. */
void delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms);

/* SessionStart has come in the session's generation. After our /clear (source
 * "clear") the prompt's turn has come. */
void delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms);

/* UserPromptSubmit has brought this text. True when it carries the receipt of
 * the prompt that is on its way: nothing is pending any more. */
bool delivery_submitted(struct session_record *record, const char *submitted);

const char *delivery_action_name(enum delivery_action action);

#endif
