/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>

#include "loop.h"
#include "orphans.h"
#include "server.h"
#include "session-private.h"
#include "session.h"
#include "tmux.h"
#include "transcript.h"

#define TERM_GRACE_MS 5000
#define POLL_MS       100 /* if the kernel does not report its exit */

static void tick(void *arg);

/* --- default callbacks ------------------------------------------------ */

static void
nothing(void *arg)
{
	(void)arg;
}

static bool
always(void *arg)
{
	(void)arg;
	return true;
}

static void
no_text(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static void
no_judgement(void *arg, struct server_call *call, const char *last_words)
{
	(void)arg;
	(void)last_words;
	if (call != NULL)
		server_reply(call, NULL);
}

static bool
no_answer(void *arg, struct server_call *call)
{
	(void)arg;
	(void)call;
	return false;
}

static void
no_failure(void *arg, const char *error, const char *text)
{
	(void)arg;
	(void)error;
	(void)text;
}

static void
no_growth(void *arg, const struct transcript_parser *parser)
{
	(void)arg;
	(void)parser;
}

static void
no_interest(void *arg, struct transcript *transcript)
{
	(void)arg;
	transcript_free(transcript);
}

static void
no_exit(void *arg, bool early)
{
	(void)arg;
	(void)early;
}

static void
no_trouble(void *arg, enum session_trouble trouble, const struct err *err)
{
	(void)arg;
	(void)trouble;
	(void)err;
}

static void
no_work(void *arg, bool heard)
{
	(void)arg;
	(void)heard;
}

#define FILL(events, member, fn)                 \
	do {                                     \
		if ((events)->member == NULL)    \
			(events)->member = (fn); \
	} while (0)

static void
fill_events(struct session_events *events)
{
	FILL(events, changed, nothing);
	FILL(events, may_type, always);
	FILL(events, ready, no_text);
	FILL(events, compacted, no_answer);
	FILL(events, submitted, no_text);
	FILL(events, typed, no_text);
	FILL(events, works, no_work);
	FILL(events, progressed, nothing);
	FILL(events, turn_ended, no_judgement);
	FILL(events, turn_failed, no_failure);
	FILL(events, interrupted, nothing);
	FILL(events, asks_permission, nothing);
	FILL(events, grew, no_growth);
	FILL(events, left, no_interest);
	FILL(events, exited, no_exit);
	FILL(events, trouble, no_trouble);
}

/* --- the object ------------------------------------------------------- */

struct session *
session_new(const struct session_host *host, const char *name, const char *role,
    struct session_record *record, const struct session_events *events,
    void *arg)
{
	struct session *s = xcalloc(1, sizeof *s);

	s->host = host;
	s->events = *events;
	fill_events(&s->events);
	s->arg = arg;
	s->record = record;
	s->worker = xstrdup(name);
	s->name = tmux_session_name(name);
	s->role = xstrdup(role);
	s->tools = strcmp(role, "worker") == 0;
	s->held_ms = -1;
	s->pane = (struct procref)PROCREF_INIT;
	s->hook_ms = s->grew_ms = s->tool_ms = s->cpu_ms = -1;
	TAILQ_INIT(&s->waiters);
	TAILQ_INIT(&s->looks);
	s->timer = loop_after(host->loop, 1, tick, s);
	return s;
}

static void
drop_waiters(struct session *s)
{
	struct session_waiter *waiter;

	while ((waiter = TAILQ_FIRST(&s->waiters)) != NULL) {
		TAILQ_REMOVE(&s->waiters, waiter, entry);
		free(waiter);
	}
}

void
session_free(struct session *s)
{
	struct session_look *look;

	if (s == NULL)
		return;
	session_stop_acting(s);
	drop_waiters(s);
	while ((look = TAILQ_FIRST(&s->looks)) != NULL) {
		TAILQ_REMOVE(&s->looks, look, entry);
		tmux_forget(s->host->tmux, look);
		free(look);
	}
	orphans_free(take_ptr(&s->clearing));
	loop_watch_free(s->watch);
	loop_timer_free(s->timer);
	transcript_free(s->transcript);
	procref_release(&s->pane);
	free(s->worker);
	free(s->name);
	free(s->role);
	free(s->cwd);
	free(s->launcher);
	free(s);
}

const char *
session_name(const struct session *s)
{
	return s->name;
}

void
session_poke(struct session *s)
{
	session_tick_later(s, 1);
}

/* --- the end --------------------------------------------------------- */

static void
add_waiter(struct session *s, void (*fn)(void *fn_arg), void *fn_arg)
{
	struct session_waiter *waiter = xcalloc(1, sizeof *waiter);

	waiter->fn = fn;
	waiter->arg = fn_arg;
	TAILQ_INSERT_TAIL(&s->waiters, waiter, entry);
}

void
session_clear(struct session *s, void (*fn)(void *fn_arg), void *fn_arg)
{
	add_waiter(s, fn, fn_arg);
	s->ending = s->keeps_screen = true;
	session_clear_then(s, session_end_rest);
}

void
session_end(struct session *s, void (*fn)(void *fn_arg), void *fn_arg)
{
	if (fn != NULL)
		add_waiter(s, fn, fn_arg);
	s->keeps_screen = false;
	if (s->ending)
		return;
	session_stop_acting(s);
	s->ending = true;
	s->since_ms = clock_mono_ms();
	if (s->clearing != NULL)
		return; /* its process is gone already */
	if (procref_signal(&s->pane, SIGTERM) < 0) {
		session_clear_then(s, session_end_rest);
		return;
	}
	procref_signal(&s->pane, SIGCONT); /* a stopped process does not act on
					    * signals */
	session_tick_later(s, s->watch != NULL ? TERM_GRACE_MS : POLL_MS);
}

static void
on_kill_sent(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
}

void
session_kill(struct session *s)
{
	session_stop_acting(s);
	orphans_free(take_ptr(&s->clearing));
	drop_waiters(s);
	procref_signal(&s->pane, SIGKILL);
	tmux_kill(s->host->tmux, s->name, on_kill_sent, NULL);
	s->ending = s->running = false;
	session_unwatch(s);
}

static void
tick_ending(struct session *s)
{
	int64_t wait = s->since_ms + TERM_GRACE_MS - clock_mono_ms();

	if (s->acting || s->pane.pid == 0)
		return;
	if (!procref_alive(&s->pane)) {
		session_gone(s);
		return;
	}
	if (wait <= 0)
		procref_signal(&s->pane, SIGKILL);
	session_tick_later(
	    s, s->watch != NULL && wait > POLL_MS ? wait : POLL_MS);
}

static void
tick(void *arg)
{
	struct session *s = arg;

	if (s->clearing != NULL)
		return;
	switch (session_phase(s)) {
	case SESSION_ENDING:
		tick_ending(s);
		break;
	case SESSION_LAUNCHING:
		session_launch_tick(s);
		break;
	case SESSION_UP:
		session_deliver_tick(s);
		break;
	case SESSION_NONE:
	case SESSION_PHASE_COUNT:
		break;
	}
}

/* --- the screen ------------------------------------------------------ */

static void
on_screen(const char *text, const struct err *err, void *arg)
{
	struct session_look look = *(struct session_look *)arg, *self = arg;

	TAILQ_REMOVE(&look.session->looks, self, entry);
	free(self);
	look.fn(err == NULL ? text : NULL, look.arg);
}

void
session_screen(
    struct session *s, void (*fn)(const char *text, void *fn_arg), void *fn_arg)
{
	struct session_look *look = xcalloc(1, sizeof *look);

	look->session = s;
	look->fn = fn;
	look->arg = fn_arg;
	TAILQ_INSERT_TAIL(&s->looks, look, entry);
	tmux_capture(s->host->tmux, s->name, 0, on_screen, look);
}

const struct err *
session_left(const struct session *s)
{
	return s->left.code != 0 ? &s->left : NULL;
}

#define CPU_WORTH_MS 200 /* between two checks: less counts as idle */

static void
look_at_cpu(struct session *s, const struct proctree *tree)
{
	int64_t total = proctree_cpu_ms(tree, &s->pane);

	if (total < 0)
		return;
	if (llabs(total - s->cpu_total_ms) > CPU_WORTH_MS)
		s->cpu_ms = clock_mono_ms();
	s->cpu_total_ms = total;
}

static int64_t
age(int64_t at_ms)
{
	return at_ms < 0 ? INT64_MAX : clock_mono_ms() - at_ms;
}

void
session_life(struct session *s, const struct proctree *tree,
    struct session_life *ret_life)
{
	if (tree != NULL)
		look_at_cpu(s, tree);
	*ret_life = (struct session_life){
		.quiet_ms =
		    age(s->hook_ms > s->grew_ms ? s->hook_ms : s->grew_ms),
		.tool_ms = age(s->tool_ms),
		.cpu_ms = age(s->cpu_ms),
		.process = s->pane.pid != 0 && procref_alive(&s->pane),
		.tool_open = s->record->open_tools > 0 || s->background,
	};
}

bool
session_is_watched(const struct session *s)
{
	return s->watch != NULL;
}

const struct transcript_parser *
session_transcript(const struct session *s)
{
	return s->transcript != NULL ? transcript_parser_of(s->transcript) :
				       NULL;
}
