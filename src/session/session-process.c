/* SPDX-License-Identifier: ISC */

/* The process of a session: what it does next, its transcript, and its end with
 * all that it has started. */
#include "base.h"
#include "loop.h"
#include "orphans.h"
#include "session-private.h"
#include "tmux.h"
#include "transcript.h"

enum session_phase
session_phase(const struct session *s)
{
	if (s->ending)
		return SESSION_ENDING;
	if (!s->running)
		return SESSION_NONE;
	return s->record->ready ? SESSION_UP : SESSION_LAUNCHING;
}

/* --- saving, then acting --------------------------------------------- */

void
session_then(struct session *s, void (*fn)(void *session))
{
	s->events.changed(s->arg);
	if (s->host->then != NULL)
		s->host->then(s->host->arg, s, fn, s);
	else
		fn(s);
}

void
session_stop_acting(struct session *s)
{
	if (s->host->forget != NULL)
		s->host->forget(s->host->arg, s);
	tmux_forget(s->host->tmux, s);
	s->acting = false;
}

void
session_tick_later(struct session *s, int64_t ms)
{
	if (!loop_timer_pending(s->timer) ||
	    loop_timer_remaining(s->timer, clock_mono_ms()) > ms)
		loop_timer_restart(s->timer, ms);
}

/* --- its transcript -------------------------------------------------- */

/* Did a person press Escape since the last look? Earlier interruptions are
 * those of an earlier process, or of an earlier daemon. */
static bool
is_interrupted(struct session *s, const struct transcript_parser *parser)
{
	int64_t count = transcript_parser_totals(parser)->interrupted;
	bool more = s->interrupted >= 0 && count > s->interrupted;
	bool ours = more && s->own_interrupt;

	s->interrupted = count;
	if (ours)
		s->own_interrupt = false;
	return more && !ours && s->record->busy &&
	    session_phase(s) == SESSION_UP;
}

/* Has a turn failed since the last look? Of an agent that has no hook for it.
 */
static bool
has_failed(struct session *s, const struct transcript_parser *parser,
    const char **ret_error, const char **ret_text)
{
	const struct transcript_totals *totals =
	    transcript_parser_totals(parser);
	/* At the first look, an old one counts if nothing came after it. */
	bool more =
	    s->failed >= 0 ? totals->failed > s->failed : totals->failing;

	s->failed = totals->failed;
	*ret_error = transcript_parser_failure(parser, ret_text);
	return more && s->record->busy && session_phase(s) == SESSION_UP;
}

static void
on_growth(const struct transcript_parser *parser, void *arg)
{
	struct session *s = arg;
	const char *error, *text;

	s->grew_ms = clock_mono_ms();
	if (is_interrupted(s, parser)) {
		s->record->busy = false;
		s->record->open_tools = 0;
		s->events.changed(s->arg);
		s->events.interrupted(s->arg);
	}
	if (has_failed(s, parser, &error, &text)) {
		s->record->busy = false;
		s->record->open_tools = 0;
		s->events.changed(s->arg);
		s->events.turn_failed(s->arg, error, text);
	}
	s->events.grew(s->arg, parser);
}

void
session_life_leave(struct session *s)
{
	if (s->transcript != NULL)
		s->events.left(s->arg, take_ptr(&s->transcript));
}

void
session_life_follow(struct session *s)
{
	session_life_leave(s);
	s->interrupted = s->failed = -1;
	s->own_interrupt = false;
	if (s->record->transcript != NULL)
		s->transcript = transcript_new(s->host->loop,
		    s->record->transcript, s->record->history_ms, on_growth, s);
}

/* --- its end --------------------------------------------------------- */

void
session_unwatch(struct session *s)
{
	loop_watch_free(take_ptr(&s->watch));
	procref_release(&s->pane);
	session_life_leave(s);
	json_object_put(take_ptr(&s->record->pane));
	s->record->ready = false;
	/* It has the environment, and an agent that never came up has not
	 * removed it. */
	if (s->launcher != NULL)
		unlink(s->launcher);
	s->events.changed(s->arg);
}

/* Each may free the session, or launch it again. */
static void
call_waiters(struct session *s)
{
	struct session_waiters waiters = TAILQ_HEAD_INITIALIZER(waiters);
	struct session_waiter *waiter;

	TAILQ_CONCAT(&waiters, &s->waiters, entry);
	while ((waiter = TAILQ_FIRST(&waiters)) != NULL) {
		TAILQ_REMOVE(&waiters, waiter, entry);
		waiter->fn(waiter->arg);
		free(waiter);
	}
}

static void
over(struct session *s)
{
	s->acting = s->ending = s->running = false;
	call_waiters(s);
}

static void
on_killed(const struct err *err, void *arg)
{
	(void)err; /* the session is gone, as intended */
	over(arg);
}

void
session_end_rest(struct session *s)
{
	session_unwatch(s);
	s->acting = true;
	if (s->keeps_screen)
		over(s);
	else
		tmux_kill(s->host->tmux, s->name, on_killed, s);
}

static void
on_over(const struct err *err, void *arg)
{
	struct session *s = arg;

	s->clearing = NULL;
	if (err != NULL) {
		s->left = *err;
		log_debug("%s: %s", s->worker, err->msg);
	}
	s->on_cleared(s);
}

void
session_clear_then(struct session *s, void (*fn)(struct session *s))
{
	orphans_free(take_ptr(&s->clearing));
	s->left = (struct err){ 0 };
	s->on_cleared = fn;
	if (s->host->workspace != NULL)
		s->clearing = orphans_end(
		    s->host->loop, s->host->workspace, s->worker, on_over, s);
	if (s->clearing == NULL)
		fn(s);
}

static void
on_cleared(struct session *s)
{
	bool early = !s->reported;
	struct err left = s->left;

	if (s->ending) {
		session_end_rest(s);
		return;
	}
	log_debug("%s: the agent exited on its own", s->worker);
	s->running = false;
	session_unwatch(s);
	if (left.code != 0)
		s->events.trouble(s->arg, SESSION_LEFT, &left);
	else
		s->events.exited(s->arg, early);
}

void
session_gone(struct session *s)
{
	s->record->open_tools = 0;
	session_stop_acting(s);
	loop_watch_free(take_ptr(&s->watch));
	session_clear_then(s, on_cleared);
}

void
session_check(struct session *s)
{
	if (s->clearing == NULL && s->pane.pid != 0 && !procref_alive(&s->pane))
		session_gone(s);
}
