/* SPDX-License-Identifier: ISC */

/*
 * Delivers prompts to a session: carries out what worker.h decides.
 * Each action is saved before anything is typed.
 */
#include "base.h"
#include "agent-kind.h"
#include "prompt.h"
#include "session-private.h"
#include "tmux.h"
#include "transcript.h"
#include "worker.h"

#define HOLD_MS    5000 /* that the first prompt waits for tools, at most */
#define PIECES_MAX 65536 /* bytes; more are pasted at once */
#define SETTLE_MS  100 /* from the answer of our server to their use */
#define ESCAPE_MS                                                    \
	1000 /* from Escape to the next text: together they would be \
	      * another key */

void
session_prompt(
    struct session *s, const char *text, const char *receipt, bool clear)
{
	delivery_park(
	    s->record, text, receipt, clear && !s->blank, clock_wall_ms());
	s->events.changed(s->arg);
	session_tick_later(s, 1);
}

/* --- was it submitted? ----------------------------------------------- */

static bool
transcript_has_receipt(const struct session_record *record)
{
	cleanup_buf struct buf mark = BUF_INIT;

	if (record->transcript == NULL || record->receipt == NULL)
		return false;
	prompt_with_receipt(record->receipt, "", &mark);
	while (mark.len > 0 && mark.data[mark.len - 1] == ' ')
		buf_truncate(&mark, mark.len - 1);
	return transcript_mentions(record->transcript, mark.data);
}

bool
session_confirm(struct session *s)
{
	struct session_record *record = s->record;

	if (record->step != PROMPT_PASTED || !transcript_has_receipt(record))
		return false;
	session_record_forget_pending(record);
	record->busy = true;
	s->events.changed(s->arg);
	return true;
}

bool
session_deliver_confirm(struct session *s)
{
	cleanup_free char *receipt = NULL;

	xstrset(&receipt, s->record->receipt);
	if (!session_confirm(s))
		return false;
	s->events.submitted(s->arg, receipt);
	return true;
}

bool
session_deliver_submitted(struct session *s, const char *text)
{
	struct session_record *record = s->record;
	cleanup_free char *receipt = NULL;

	xstrset(&receipt, record->receipt);
	if (!delivery_submitted(record, text))
		return false;
	record->busy = true;
	s->events.changed(s->arg);
	s->events.submitted(s->arg, receipt);
	return true;
}

void
session_deliver_afresh(struct session *s)
{
	struct session_record *record = s->record;

	if (session_confirm(s))
		return; /* the turn was interrupted, not lost */
	if (record->step == PROMPT_NONE)
		return;
	record->step = PROMPT_PARKED;
	record->pending_since_ms = clock_wall_ms();
	record->pending_tries = 0;
	record->busy = false;
}

/* --- the first prompt ------------------------------------------------ */

/* Claude Code connects its tools in the background, and a request that is made
 * before has none of them. */
void
session_deliver_hold(struct session *s)
{
	if (s->tools && !s->listed)
		s->held_ms = clock_mono_ms() + HOLD_MS;
}

void
session_deliver_release(struct session *s)
{
	int64_t then_ms = clock_mono_ms() + SETTLE_MS;

	s->listed = true;
	if (s->held_ms > then_ms)
		s->held_ms = then_ms;
	session_tick_later(s, 1);
}

static bool
is_held(struct session *s)
{
	int64_t left_ms = s->held_ms - clock_mono_ms();

	if (s->held_ms == -1)
		return false;
	if (left_ms > 0) {
		session_tick_later(s, left_ms);
		return true;
	}
	if (s->tools && !s->listed)
		log_debug("%s: it has not asked for its tools, and is prompted "
			  "without them",
		    s->worker);
	s->held_ms = -1;
	return false;
}

/* --- actions --------------------------------------------------------- */

static void
on_typed(const struct err *err, void *arg)
{
	struct session *s = arg;

	s->acting = false;
	if (err != NULL)
		log_debug("%s: tmux: %s", s->worker, err->msg);
	session_tick_later(s, 1);
}

/* The prompt may have been replaced while the record was being saved. */
static bool
is_still(struct session *s, enum prompt_step step)
{
	if (s->record->step == step)
		return true;
	s->acting = false;
	session_tick_later(s, 1);
	return false;
}

static void
clear_now(void *arg)
{
	struct session *s = arg;

	if (is_still(s, PROMPT_CLEARING))
		tmux_paste(s->host->tmux, s->name, "/clear", true, on_typed, s);
}

static void
paste_now(void *arg)
{
	struct session *s = arg;
	const struct agent_kind *kind =
	    agent_kind_of_folder(s->record->projects);
	cleanup_buf struct buf text = BUF_INIT, pieces = BUF_INIT;

	if (!is_still(s, PROMPT_PASTED))
		return;
	prompt_with_receipt(s->record->receipt, s->record->pending, &text);
	if (kind != NULL && kind->marks_pastes && text.len <= PIECES_MAX)
		prompt_pieces(text.data, &pieces);
	tmux_paste(s->host->tmux, s->name,
	    pieces.len > 0 ? pieces.data : text.data, true, on_typed, s);
}

static void
enter_now(void *arg)
{
	static const char *const keys[] = { "Enter", NULL };
	struct session *s = arg;

	tmux_keys(s->host->tmux, s->name, keys, on_typed, s);
}

void
session_deliver_tick(struct session *s)
{
	static void (*const acts[DELIVERY_ACTION_COUNT])(void *) = {
		[DELIVERY_CLEAR] = clear_now,
		[DELIVERY_PASTE] = paste_now,
		[DELIVERY_ENTER] = enter_now,
	};
	int64_t wait = -1;
	enum delivery_action action;

	if (s->acting || is_held(s))
		return;
	action = delivery_next(
	    s->record, s->events.may_type(s->arg), clock_wall_ms(), &wait);
	if (action == DELIVERY_WAIT) {
		if (wait >= 0)
			session_tick_later(s, wait);
		return;
	}
	log_debug("%s: %s", s->worker, delivery_action_name(action));
	if (action == DELIVERY_RESTART) {
		struct err err = { 0 };

		/* The session does not accept the prompt. Only the
		 * transcript can tell whether a pasted prompt was submitted
		 * after all; then it must not be sent again. */
		err_set(&err, -ETIMEDOUT,
		    "the session does not accept its prompt (%s)",
		    prompt_step_name(s->record->step));
		log_debug("%s: %s", s->worker, err.msg);
		if (session_deliver_confirm(s))
			return;
		delivery_did(s->record, DELIVERY_RESTART, clock_wall_ms());
		s->since_ms = clock_mono_ms();
		s->events.changed(s->arg);
		s->events.trouble(s->arg, SESSION_UNDELIVERED, &err);
		return;
	}
	delivery_did(s->record, action, clock_wall_ms());
	s->acting = true;
	session_then(s, acts[action]);
}

/* --- Escape ---------------------------------------------------------- */

static void
on_interrupted(const struct err *err, void *arg)
{
	(void)err; /* a session that accepts no keys is detected elsewhere */
	(void)arg;
}

static void
interrupt_now(void *arg)
{
	static const char *const keys[] = { "Escape", NULL };
	struct session *s = arg;

	tmux_keys(s->host->tmux, s->name, keys, on_interrupted, NULL);
}

void
session_interrupt(struct session *s)
{
	s->own_interrupt = true;
	s->record->busy = false;
	s->record->open_tools = 0;
	session_then(s, interrupt_now);
}

void
session_dismiss(struct session *s)
{
	int64_t then_ms = clock_mono_ms() + ESCAPE_MS;

	if (s->held_ms < then_ms)
		s->held_ms = then_ms;
	session_then(s, interrupt_now);
}
