/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "backoff.h"
#include "delivery.h"
#include "prompt.h"

static const char *const action_words[] = {
	[DELIVERY_WAIT] = "wait",
	[DELIVERY_CLEAR] = "clear",
	[DELIVERY_PASTE] = "paste",
	[DELIVERY_ENTER] = "enter",
	[DELIVERY_RESTART] = "restart",
};

_Static_assert(
    nitems(action_words) == DELIVERY_ACTION_COUNT, "a word for every action");

/* How long to wait for the confirmation of a step. */
static const int64_t patience_ms[PROMPT_STEP_COUNT] = {
	[PROMPT_CLEARING] = DELIVERY_CLEAR_MS,
	[PROMPT_PASTED] = DELIVERY_CONFIRM_MS,
};

void
delivery_park(struct session_record *record, const char *text,
    const char *receipt, bool clear, int64_t now_ms)
{
	xstrset(&record->pending, text);
	xstrset(&record->receipt, receipt);
	record->step = PROMPT_PARKED;
	record->pending_clear = clear;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
	record->pending_refused = 0;
}

enum delivery_action
delivery_next(const struct session_record *record, bool open, int64_t now_ms,
    int64_t *ret_wait_ms)
{
	int64_t waited = now_ms - record->pending_since_ms;
	int64_t patience = patience_ms[record->step];

	*ret_wait_ms = -1;
	if (record->step == PROMPT_NONE || record->pending == NULL ||
	    !record->ready || !open)
		return DELIVERY_WAIT;
	if (record->step == PROMPT_PARKED) {
		/* What to do with a parked prompt. While a turn runs, wait:
		 * /clear would only be queued until its end. */
		if (!record->pending_clear)
			return DELIVERY_PASTE;
		return record->busy ? DELIVERY_WAIT : DELIVERY_CLEAR;
	}
	/* Below 0, the clock was wrong then: act as if the time had passed. */
	if (waited >= 0 && waited < patience) {
		*ret_wait_ms = patience - waited;
		return DELIVERY_WAIT;
	}
	if (record->pending_tries < DELIVERY_TRIES)
		return DELIVERY_ENTER;
	return DELIVERY_RESTART;
}

void
delivery_did(
    struct session_record *record, enum delivery_action action, int64_t now_ms)
{
	switch (action) {
	case DELIVERY_CLEAR:
		record->step = PROMPT_CLEARING;
		record->pending_tries = 0;
		break;
	case DELIVERY_PASTE:
		record->step = PROMPT_PASTED;
		record->pending_tries = 0;
		break;
	case DELIVERY_ENTER:
		record->pending_tries++;
		break;
	case DELIVERY_RESTART:
		record->step = PROMPT_PARKED;
		record->pending_tries = 0;
		record->pending_refused++;
		record->ready = false;
		record->busy = false;
		record->open_tools = 0;
		break;
	case DELIVERY_WAIT:
	case DELIVERY_ACTION_COUNT:
		return;
	}
	record->pending_since_ms = now_ms;
}

bool
delivery_refused(struct session_record *record, int64_t *ret_pause_ms)
{
	if (record->pending_refused >= DELIVERY_SESSIONS) {
		record->pending_refused = 0;
		return false;
	}
	backoff_next(&backoff_crash, record->pending_refused, ret_pause_ms);
	return true;
}

void
delivery_recovered(struct session_record *record, int64_t now_ms)
{
	if (record->step != PROMPT_PASTED && record->step != PROMPT_CLEARING)
		return;
	record->pending_since_ms =
	    now_ms + DELIVERY_CONFIRM_MS - patience_ms[record->step];
	record->pending_tries =
	    record->step == PROMPT_PASTED ? DELIVERY_TRIES - 1 : DELIVERY_TRIES;
}

void
delivery_session_started(
    struct session_record *record, bool cleared, int64_t now_ms)
{
	record->ready = true;
	if (!cleared || record->step != PROMPT_CLEARING)
		return;
	record->step = PROMPT_PARKED;
	record->pending_clear = false;
	record->pending_since_ms = now_ms;
	record->pending_tries = 0;
}

bool
delivery_submitted(struct session_record *record, const char *submitted)
{
	if (record->step == PROMPT_NONE || record->receipt == NULL ||
	    !prompt_carries(submitted, record->receipt))
		return false;
	session_record_forget_pending(record);
	return true;
}

const char *
delivery_action_name(enum delivery_action action)
{
	return action_words[action];
}
