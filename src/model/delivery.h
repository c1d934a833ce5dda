/* SPDX-License-Identifier: ISC */

/*
 * How a prompt gets into a session: decides what to do next from what is known.
 * Only one prompt at a time is on its way into a session. Neither text nor
 * /clear is ever pasted twice; a pasted prompt counts as delivered only when a
 * hook returns its receipt.
 *
 * The owner of the session asks delivery_next(), records the action with
 * delivery_did(), saves the record, and then acts. If it is killed in between,
 * it presses Enter for nothing and restarts the session, but never enters a
 * prompt twice. Strings given here are copied.
 */
#ifndef DELIVERY_H
#define DELIVERY_H

#include "session-record.h"

#define DELIVERY_CONFIRM_MS 3000 /* after a paste, then press Enter */
#define DELIVERY_CLEAR_MS   10000 /* after /clear, then press Enter */
#define DELIVERY_TRIES      3 /* presses of Enter, then a new session */
#define DELIVERY_SESSIONS   3 /* sessions for one prompt, then a person */

enum delivery_action {
	DELIVERY_WAIT, /* until *ret_wait_ms from now, or the next event */
	DELIVERY_CLEAR, /* paste /clear; step becomes CLEARING */
	DELIVERY_PASTE, /* paste the prompt; step becomes PASTED */
	DELIVERY_ENTER, /* press Enter: harmless if the input box is empty */
	DELIVERY_RESTART, /* end the session and resume it; the prompt is parked
			   * again, unless its receipt arrives first; see
			   * delivery_refused() */
	DELIVERY_ACTION_COUNT
};

/* Record a prompt to be entered into the session (after /clear, if requested).
 * Replaces a prompt that is on its way. */
void delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms);

/* Returns WAIT with *ret_wait_ms = -1 if nothing can be done before the next
 * event: no prompt is pending, nothing may be typed (open is false), the
 * session is not ready (launching has its own deadline), or a turn runs and
 * /clear must come first. */
enum delivery_action delivery_next(const struct session_record *record,
    bool open, int64_t now_ms, int64_t *ret_wait_ms);

/* After a restart of the owner: the recorded action may or may not have been
 * carried out. Wait for the confirmation (DELIVERY_CONFIRM_MS) and, for a
 * prompt, press Enter once more; then start a new session. */
void delivery_recovered(struct session_record *record, int64_t now_ms);

/* Update the record as if the action had been carried out. */
void delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms);

/* After DELIVERY_RESTART: may another session be started for the prompt, and
 * after which pause? False after DELIVERY_SESSIONS of them, in a row or not: a
 * person must look at it. The prompt stays parked, and whoever releases it
 * gives it as many sessions again. */
bool delivery_refused(struct session_record *record, int64_t *ret_pause_ms);

/* SessionStart has arrived in the session's generation. After our /clear
 * (source "clear") the prompt is pasted next. */
void delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms);

/* UserPromptSubmit has arrived with this text. Returns true if it carries the
 * receipt of the pending prompt, which is then no longer pending. */
bool delivery_submitted(struct session_record *record, const char *submitted);

const char *delivery_action_name(enum delivery_action action);

#endif
