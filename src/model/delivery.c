/* SPDX-License-Identifier: ISC */

#include "delivery.h"
#include "mem.h"
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

/* Statuses in which the box is not ours to write into. */
static const bool held[WORKER_STATUS_COUNT] = {
	[WORKER_ACCEPTING] = true,
	[WORKER_PAUSED] = true,
	[WORKER_LIMITED] = true,
	[WORKER_ERROR] = true,
	[WORKER_OFFLINE] = true,
};

/* How long the proof of a step may take. */
static const int64_t patience_ms[PROMPT_STEP_COUNT] = {
	[PROMPT_CLEARING] = DELIVERY_CLEAR_MS,
	[PROMPT_PASTED] = DELIVERY_CONFIRM_MS,
};

void
delivery_park(struct worker *worker, const char *text, const char *receipt,
    bool clear, enum worker_status after, int64_t now_ms)
{
	worker_set(&worker->pending, text);
	worker_set(&worker->receipt, receipt);
	worker->step = PROMPT_PARKED;
	worker->pending_clear = clear;
	worker->pending_since_ms = now_ms;
	worker->pending_tries = 0;
	worker->after = after;
}

/* What to do about a prompt that waits for the session: WAIT is until the turn
 * ends, behind which /clear would only be queued. */
static enum delivery_action
send_next(const struct worker *worker)
{
	if (!worker->pending_clear)
		return DELIVERY_PASTE;
	return worker->busy ? DELIVERY_WAIT : DELIVERY_CLEAR;
}

enum delivery_action
delivery_next(const struct worker *worker, int64_t now_ms, int64_t *ret_wait_ms)
{
	int64_t waited = now_ms - worker->pending_since_ms;
	int64_t patience = patience_ms[worker->step];

	*ret_wait_ms = -1;
	if (worker->step == PROMPT_NONE || worker->pending == NULL ||
	    !worker->ready || held[worker->status])
		return DELIVERY_WAIT;
	if (worker->step == PROMPT_PARKED)
		return send_next(worker);
	/* A clock that went back says nothing: as if the time was up. */
	if (waited >= 0 && waited < patience) {
		*ret_wait_ms = patience - waited;
		return DELIVERY_WAIT;
	}
	if (worker->pending_tries < DELIVERY_TRIES)
		return DELIVERY_ENTER;
	return DELIVERY_RESTART;
}

void
delivery_did(struct worker *worker, enum delivery_action action, int64_t now_ms)
{
	switch (action) {
	case DELIVERY_CLEAR:
		worker->step = PROMPT_CLEARING;
		worker->pending_tries = 0;
		break;
	case DELIVERY_PASTE:
		worker->step = PROMPT_PASTED;
		worker->pending_tries = 0;
		break;
	case DELIVERY_ENTER:
		worker->pending_tries++;
		break;
	case DELIVERY_RESTART:
		worker->step = PROMPT_PARKED;
		worker->pending_tries = 0;
		worker->ready = false;
		worker->busy = false;
		worker->open_tools = 0;
		break;
	case DELIVERY_WAIT:
	case DELIVERY_ACTION_COUNT:
		return;
	}
	worker->pending_since_ms = now_ms;
}

void
delivery_recovered(struct worker *worker, int64_t now_ms)
{
	if (worker->step != PROMPT_PASTED && worker->step != PROMPT_CLEARING)
		return;
	worker->pending_since_ms =
	    now_ms + DELIVERY_CONFIRM_MS - patience_ms[worker->step];
	worker->pending_tries =
	    worker->step == PROMPT_PASTED ? DELIVERY_TRIES - 1 : DELIVERY_TRIES;
}

void
delivery_session_started(struct worker *worker, bool cleared, int64_t now_ms)
{
	worker->ready = true;
	if (!cleared || worker->step != PROMPT_CLEARING)
		return;
	worker->step = PROMPT_PARKED;
	worker->pending_clear = false;
	worker->pending_since_ms = now_ms;
	worker->pending_tries = 0;
}

bool
delivery_submitted(
    struct worker *worker, const char *submitted, enum worker_status *ret_after)
{
	if (worker->step == PROMPT_NONE || worker->receipt == NULL ||
	    !prompt_carries(submitted, worker->receipt))
		return false;
	*ret_after = worker->after;
	worker_forget_pending(worker);
	return true;
}

const char *
delivery_action_name(enum delivery_action action)
{
	return action_words[action];
}
