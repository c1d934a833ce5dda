/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "claude.h"
#include "client.h"
#include "clock.h"
#include "delivery.h"
#include "errtext.h"
#include "id.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "overseer.h"
#include "procref.h"
#include "prompt.h"
#include "repair-session.h"
#include "server.h"
#include "session-record.h"
#include "settings.h"
#include "tmux.h"

#define NAME     "overseer"
#define GRACE_MS 5000
#define GATE_CAP 20

struct session {
	struct overseer *overseer;
	const struct session_events *events;
	void *arg;
	struct session_record record; /* never saved: ends with us */
	struct server *server;
	char *socket, *launcher, *name, *cwd;
	struct procref pane;
	struct loop_watch *watch;
	struct loop_timer *timer;
	int64_t launched_ms, end_ms;
	uint64_t receipts;
	bool busy; /* a tmux command is under way */
	bool ending;
};

static void session_tick(void *arg);

static void
tick_later(struct session *s, int64_t ms)
{
	if (s->timer == NULL)
		s->timer = loop_after(s->overseer->loop, ms, session_tick, s);
	else
		loop_timer_restart(s->timer, ms);
}

/* --- its end --------------------------------------------------------- */

static void
killed(const struct err *err, void *arg)
{
	struct session *s = arg;

	(void)err; /* a session that is gone is what was wanted */
	s->busy = false;
	s->events->ended(s->arg);
}

static void
pane_gone(struct session *s)
{
	loop_watch_free(take_ptr(&s->watch));
	procref_release(&s->pane);
	s->record.ready = false;
	if (!s->ending) {
		s->events->died(s->arg,
		    "the session of the repairing agent "
		    "ended by itself");
		return;
	}
	s->busy = true;
	tmux_kill(s->overseer->tmux, s->name, killed, s);
}

static void
pane_event(int fd, unsigned what, void *arg)
{
	struct session *s = arg;

	(void)fd;
	(void)what;
	if (!procref_alive(&s->pane))
		pane_gone(s);
}

void
session_end(struct session *s)
{
	if (s->ending)
		return;
	s->ending = true;
	s->end_ms = clock_mono_ms() + GRACE_MS;
	if (procref_signal(&s->pane, SIGTERM) < 0) {
		pane_gone(s);
		return;
	}
	procref_signal(&s->pane, SIGCONT);
	tick_later(s, GRACE_MS);
}

static void
nothing(const struct err *err, void *arg)
{
	(void)err;
	(void)arg;
}

void
session_free(struct session *s)
{
	if (s == NULL)
		return;
	if (s->pane.pid != 0) {
		procref_signal(&s->pane, SIGKILL);
		tmux_kill(s->overseer->tmux, s->name, nothing, NULL);
	}
	loop_watch_free(s->watch);
	loop_timer_free(s->timer);
	procref_release(&s->pane);
	server_free(s->server);
	session_record_release(&s->record);
	free(s->socket);
	free(s->launcher);
	free(s->name);
	free(s->cwd);
	free(s);
}

void
session_sweep(struct overseer *o)
{
	cleanup_free char *name = tmux_session_name(NAME);

	tmux_kill(o->tmux, name, nothing, NULL);
}

/* --- prompts --------------------------------------------------------- */

static void
sent(const struct err *err, void *arg)
{
	struct session *s = arg;

	if (err != NULL)
		log_debug("session: tmux: %s", err->msg);
	s->busy = false;
	tick_later(s, 1);
}

static void
deliver(struct session *s)
{
	static const char *const enter[] = { "Enter", NULL };
	struct tmux *tmux = s->overseer->tmux;
	cleanup_buf struct buf text = BUF_INIT;
	int64_t wait = -1;
	enum delivery_action action =
	    delivery_next(&s->record, true, clock_wall_ms(), &wait);

	if (action == DELIVERY_WAIT) {
		if (wait >= 0)
			tick_later(s, wait);
		return;
	}
	if (action == DELIVERY_RESTART) {
		s->events->died(s->arg, "the session does not take its prompt");
		return;
	}
	delivery_did(&s->record, action, clock_wall_ms());
	s->busy = true;
	if (action == DELIVERY_PASTE) {
		prompt_with_receipt(
		    s->record.receipt, s->record.pending, &text);
		tmux_paste(tmux, s->name, text.data, true, sent, s);
	} else {
		tmux_keys(tmux, s->name, enter, sent, s);
	}
}

void
session_prompt(struct session *s, const char *text)
{
	cleanup_free char *receipt =
	    xasprintf("o%llu", (unsigned long long)++s->receipts);
	cleanup_buf struct buf clean = BUF_INIT;

	if (!prompt_clean(text, strlen(text), &clean))
		return;
	delivery_park(&s->record, clean.data, receipt, false, clock_wall_ms());
	tick_later(s, 1);
}

void
session_interrupt(struct session *s)
{
	static const char *const escape[] = { "Escape", NULL };

	s->record.busy = false;
	tmux_keys(s->overseer->tmux, s->name, escape, nothing, NULL);
}

static void
session_tick(void *arg)
{
	struct session *s = arg;
	int64_t left = s->launched_ms +
	    settings_duration(s->overseer->settings, "defaults.start_timeout") -
	    clock_mono_ms();

	if (s->ending) {
		if (s->pane.pid == 0 || s->busy)
			return;
		procref_signal(&s->pane, SIGKILL);
		if (s->watch == NULL)
			pane_gone(s); /* nobody tells: no pidfd */
		return;
	}
	if (s->busy)
		return;
	if (s->record.ready)
		deliver(s);
	else if (left > 0)
		tick_later(s, left);
	else
		s->events->died(s->arg,
		    "the repairing agent did not report "
		    "the start of its session: a dialog "
		    "may be open (look with: llmc attach "
		    "overseer)");
}

/* --- what it reports ------------------------------------------------- */

void
session_answer(struct server_call *call, const char *reason)
{
	struct json_object *result = NULL;

	if (call == NULL)
		return;
	if (reason != NULL) {
		result = json_object_new_object();
		json_set_string(result, "decision", "block");
		json_set_string(result, "reason", reason);
	}
	server_reply(call, result);
}

static void
session_started(struct session *s, struct json_object *data)
{

	if (strcmp(json_string_or(data, "source", ""), "compact") == 0)
		return;
	xstrset(&s->record.transcript,
	    json_string_or(data, "transcript_path", NULL));
	delivery_session_started(&s->record, false, clock_wall_ms());
	tick_later(s, 1);
}

static bool
has_background(struct json_object *data)
{
	struct json_object *tasks = NULL;

	return json_object_object_get_ex(data, "background_tasks", &tasks) &&
	    json_object_is_type(tasks, json_type_array) &&
	    json_object_array_length(tasks) > 0;
}

/* True when the call has been, or will be, answered by another. */
static bool
take_event(struct session *s, struct server_call *call, const char *event,
    struct json_object *data)
{
	if (strcmp(event, "SessionStart") == 0) {
		session_started(s, data);
	} else if (strcmp(event, "UserPromptSubmit") == 0) {
		if (delivery_submitted(
			&s->record, json_string_or(data, "prompt", "")))
			s->record.busy = true;
	} else if (strcmp(event, "Stop") == 0 && !has_background(data)) {
		s->record.busy = false;
		s->events->stopped(s->arg, call, data);
		return true;
	} else if (strcmp(event, "StopFailure") == 0) {
		s->record.busy = false;
		server_reply(call, NULL);
		s->events->failed(s->arg, json_string_or(data, "error", ""),
		    json_string_or(data, "last_assistant_message", ""));
		return true;
	}
	return false;
}

static void
called(struct server_call *call, const char *method, struct json_object *params,
    void *arg)
{
	struct session *s = arg;
	struct json_object *data = NULL;

	if (strcmp(method, "hook.event") != 0) {
		server_fail(call, -32601, "only hooks are heard here", NULL);
		return;
	}
	json_object_object_get_ex(params, "data", &data);
	if (s->ending ||
	    strcmp(json_string_or(params, "worker", ""), NAME) != 0 ||
	    (uint64_t)json_int_or(params, "generation", 0) !=
		s->record.generation ||
	    !take_event(s, call, json_string_or(params, "event", ""), data))
		server_reply(call, NULL);
}

/* --- its beginning --------------------------------------------------- */

static void
started(pid_t pid, const struct err *err, void *arg)
{
	struct session *s = arg;

	s->busy = false;
	if (err != NULL || procref_set(&s->pane, pid) < 0) {
		if (s->ending)
			pane_gone(s);
		else
			s->events->died(s->arg,
			    err != NULL ? err->msg :
					  "the repairing agent ended at once");
		return;
	}
	if (s->pane.pidfd >= 0)
		s->watch = loop_watch_new(
		    s->overseer->loop, s->pane.pidfd, LOOP_READ, pane_event, s);
	tick_later(s, 1);
}

static void
old_gone(const struct err *err, void *arg)
{
	struct session *s = arg;
	struct overseer *o = s->overseer;
	const char *const argv[] = { o->llmc, "pane", s->launcher, NULL };
	struct tmux_session session = {
		.name = s->name,
		.role = NAME,
		.worker = NAME,
		.generation = s->record.generation,
		.cwd = s->cwd,
		.argv = argv,
	};

	if (err != NULL || s->ending) {
		started(0, err, s);
		return;
	}
	tmux_start(o->tmux, &session, started, s);
}

static int
prepare(struct session *s, struct err *err)
{
	struct overseer *o = s->overseer;
	char id[ID_UUID_SIZE];
	struct claude_launch launch = {
		.workspace = &o->workspace,
		.settings = o->settings,
		.worker = NAME,
		.cwd = s->cwd,
		.generation = s->record.generation,
		.session = id,
		.llmc = o->llmc,
		.socket = s->socket,
		.max_turns = GATE_CAP,
	};

	id_uuid(id);
	xstrset(&s->record.id, id);
	return claude_prepare(&launch, &s->launcher, err);
}

/* What is to be repaired may be that nothing can be made in .llmc. */
static int
listen_to(struct session *s, struct err *err)
{
	struct overseer *o = s->overseer;

	s->socket = client_overseer_socket(&o->workspace);
	if (server_new(o->loop, s->socket, called, s, &s->server, NULL) == 0)
		return 0;
	free(s->socket);
	s->socket = client_overseer_socket_outside(&o->workspace);
	return server_new(o->loop, s->socket, called, s, &s->server, err);
}

int
session_begin(struct overseer *o, const char *cwd, const char *prompt,
    const struct session_events *events, void *arg,
    struct session **ret_session, struct err *err)
{
	struct session *s = xcalloc(1, sizeof *s);
	int r;

	s->overseer = o;
	s->events = events;
	s->arg = arg;
	s->pane.pidfd = -1;
	s->cwd = xstrdup(cwd);
	s->name = tmux_session_name(NAME);
	s->record.generation = (uint64_t)clock_wall_ms();
	s->launched_ms = clock_mono_ms();
	r = listen_to(s, err);
	if (r == 0)
		r = prepare(s, err);
	if (r < 0) {
		session_free(s);
		return r;
	}
	session_prompt(s, prompt);
	s->busy = true;
	tmux_kill(o->tmux, s->name, old_gone, s);
	*ret_session = s;
	return 0;
}

const char *
session_transcript(const struct session *s)
{
	return s->record.transcript;
}
