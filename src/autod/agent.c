/* SPDX-License-Identifier: ISC */

/*
 * The life of a worker's session: ended, found dead, parked, and what comes
 * next. Its beginning is launch.c's affair, what is typed into it deliver.c's.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "clock.h"
#include "crash.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "setup.h"
#include "tmux.h"
#include "transcript.h"
#include "workspace.h"

#define TERM_GRACE_MS 5000
#define RESUMES_MAX   2 /* that end before they begin */
#define UNHEARD_MAX   3 /* sessions of auto mode that do not report */

static void agent_timer(void *arg);

int64_t
agent_duration(const struct agent *agent, const char *key)
{
	cleanup_buf struct buf path = BUF_INIT;

	settings_worker_path(
	    agent->daemon->settings, agent->worker->name, key, &path);
	return settings_duration(agent->daemon->settings, path.data);
}

struct agent *
agent_new(struct daemon *d, struct worker *worker)
{
	struct agent *agent = xcalloc(1, sizeof *agent);

	agent->daemon = d;
	agent->worker = worker;
	agent->session_name = tmux_session_name(worker->name);
	agent->pane.pidfd = -1;
	agent->hook_ms = clock_mono_ms();
	agent->stirred = true;
	d->agents = xreallocarray(
	    d->agents, d->agent_count + 1, sizeof(struct agent *));
	d->agents[d->agent_count++] = agent;
	return agent;
}

void
agent_unwatch(struct agent *agent)
{
	loop_watch_free(take_ptr(&agent->pane_watch));
	procref_release(&agent->pane);
	transcript_free(take_ptr(&agent->transcript));
}

void
agent_free(struct agent *agent)
{
	struct daemon *d = agent->daemon;

	daemon_forget(d, agent);
	landing_forget(agent);
	setup_free(agent->setup);
	verdict_release(agent);
	agent_unwatch(agent);
	loop_timer_free(agent->timer);
	free(agent->launcher);
	free(agent->park_reason);
	for (size_t i = 0; i < d->agent_count; i++) {
		if (d->agents[i] != agent)
			continue;
		d->agents[i] = d->agents[--d->agent_count];
		break;
	}
	free(agent->session_name);
	free(agent);
}

struct agent *
agent_find(const struct daemon *d, const char *name)
{
	for (size_t i = 0; i < d->agent_count; i++)
		if (strcmp(d->agents[i]->worker->name, name) == 0)
			return d->agents[i];
	return NULL;
}

int
agent_move(struct agent *agent, enum worker_status to, const char *reason)
{
	struct worker *w = agent->worker;
	enum worker_status from = w->status;
	struct err err = { 0 };
	int r;

	if (from == to)
		return 0;
	r = worker_transition(w, to, reason, clock_wall_ms(), &err);
	if (r < 0) {
		log_errorx("%s: %s", w->name, err.msg);
		return r;
	}
	agent->stirred = true;
	log_fields(LOG_LEVEL_INFO, "worker changes", "worker", w->name, "from",
	    worker_status_name(from), "to", worker_status_name(to), "reason",
	    reason, NULL);
	daemon_changed(agent->daemon);
	waiters_tell(agent->daemon, w);
	pilot_moved(agent, from);
	return 0;
}

void
agent_tick_later(struct agent *agent, int64_t ms)
{
	if (agent->timer == NULL)
		agent->timer =
		    loop_after(agent->daemon->loop, ms, agent_timer, agent);
	else if (!loop_timer_pending(agent->timer) ||
	    loop_timer_remaining(agent->timer, clock_mono_ms()) > ms)
		loop_timer_restart(agent->timer, ms);
}

static void
agent_timer(void *arg)
{
	agent_tick(arg);
}

static void
agent_grew(const struct transcript_parser *parser, void *arg)
{
	struct agent *agent = arg;

	(void)parser;
	agent->grew_ms = clock_mono_ms();
	spend_update(agent);
}

void
agent_follow(struct agent *agent)
{
	transcript_free(take_ptr(&agent->transcript));
	if (agent->worker->session.transcript != NULL)
		agent->transcript = transcript_new(agent->daemon->loop,
		    agent->worker->session.transcript, agent_grew, agent);
}

/* --- ending ---------------------------------------------------------- */

static void
agent_killed(const struct err *err, void *arg)
{
	struct agent *agent = arg;
	effect_fn *fn = agent->end_fn;

	(void)err; /* a session that is gone is what was wanted */
	agent->tmux_busy = false;
	agent->phase = AGENT_NONE;
	agent->end_fn = NULL;
	if (fn != NULL)
		fn(agent->end_arg);
	else
		agent_tick(agent);
}

static void
agent_end_session(struct agent *agent)
{
	struct worker *w = agent->worker;

	agent_unwatch(agent);
	json_object_put(take_ptr(&w->session.pane));
	w->session.ready = false;
	daemon_changed(agent->daemon);
	agent->tmux_busy = true;
	tmux_kill(
	    agent->daemon->tmux, agent->session_name, agent_killed, agent);
}

void
agent_end(struct agent *agent, effect_fn *fn, void *arg)
{
	agent->end_fn = fn;
	agent->end_arg = arg;
	if (agent->phase == AGENT_ENDING)
		return;
	agent->phase = AGENT_ENDING;
	if (procref_signal(&agent->pane, SIGTERM) < 0) {
		agent_end_session(agent);
		return;
	}
	procref_signal(&agent->pane, SIGCONT);
	agent->launched_ms = clock_mono_ms(); /* of the ending */
	agent_tick_later(agent, TERM_GRACE_MS);
}

/* It died by itself. Weather and wishes are no crashes; the rest is counted
 * and slowed down. */
static void
agent_crashed(struct agent *agent)
{
	struct worker *w = agent->worker;
	cleanup_free char *words = NULL;
	struct crash_verdict verdict =
	    crash_judge(w, pilot_drives(agent), clock_wall_ms());

	if (!verdict.counts)
		return;
	agent->retry_ms = clock_mono_ms() + verdict.pause_ms;
	log_fields(LOG_LEVEL_INFO, "the agent ended by itself", "worker",
	    w->name, "status", worker_status_name(w->status), NULL);
	if (verdict.give_up) {
		words = xasprintf("the agent ended %d times in a row; look "
				  "with: llmc peek %s, go on with: llmc reset "
				  "%s",
		    w->crashes, w->name, w->name);
		agent_move(agent, WORKER_ERROR, words);
		log_errorx("%s: %s", w->name, words);
		return;
	}
	if (worker_in_turn(w->status) || w->status == WORKER_STARTING) {
		if (w->status != WORKER_STARTING)
			w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy =
		    w->session.step == PROMPT_NONE; /* to be told to go on */
	} else if (w->status == WORKER_IDLE) {
		agent_move(agent, WORKER_OFFLINE, NULL);
	}
}

void
agent_resume_failed(struct agent *agent)
{
	struct worker *w = agent->worker;

	if (w->crashes + agent->start_failures < RESUMES_MAX)
		return;
	log_fields(LOG_LEVEL_INFO, "its conversation cannot be resumed",
	    "worker", w->name, "session", w->session.id, NULL);
	xstrset(&w->session.transcript, NULL);
}

static void
agent_pane_gone(struct agent *agent)
{
	struct worker *w = agent->worker;
	bool resuming = agent->phase == AGENT_LAUNCHING && agent->resume;

	if (agent->phase == AGENT_ENDING) {
		agent_end_session(agent);
		return;
	}
	agent_unwatch(agent);
	json_object_put(take_ptr(&w->session.pane));
	agent->phase = AGENT_NONE;
	w->session.ready = false;
	w->session.open_tools = 0;
	daemon_changed(agent->daemon);
	agent_crashed(agent);
	if (resuming)
		agent_resume_failed(agent);
	agent_tick_later(agent, 1);
}

void
agent_pane_event(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	agent_check_pane(arg);
}

void
agent_check_pane(struct agent *agent)
{
	if (!procref_alive(&agent->pane))
		agent_pane_gone(agent);
}

void
agent_restart(struct agent *agent)
{
	struct worker *w = agent->worker;

	if (w->status != WORKER_STARTING)
		w->after = w->status;
	agent_move(agent, WORKER_OFFLINE, NULL);
	w->session.busy = true; /* to be told to go on */
	agent_end(agent, NULL, NULL);
}

/* --- parking --------------------------------------------------------- */

static void
agent_screen(const char *text, const struct err *err, void *arg)
{
	struct agent *agent = arg;
	cleanup_free char *dir = NULL, *name = NULL, *file = NULL,
			  *reason = NULL;
	char stamp[CLOCK_STAMP_SIZE];

	agent->tmux_busy = false;
	clock_format_compact(clock_wall_ms(), stamp);
	dir = workspace_path(agent->daemon->workspace, "logs/screens");
	name = xasprintf("%s-%s.txt", agent->worker->name, stamp);
	file = file_join(dir, name);
	if (err == NULL && file_mkdirs(dir, 0700, NULL) == 0 &&
	    file_replace(file, text, strlen(text), 0600, NULL) == 0)
		reason = xasprintf(
		    "%s; its screen is in %s", agent->park_reason, file);
	agent_move(
	    agent, WORKER_PAUSED, reason != NULL ? reason : agent->park_reason);
	log_fields(LOG_LEVEL_WARN, "a worker waits for a person", "worker",
	    agent->worker->name, "reason",
	    reason != NULL ? reason : agent->park_reason, NULL);
	free(take_ptr(&agent->park_reason));
	agent_end(agent, NULL, NULL);
}

void
agent_park(struct agent *agent, const char *why)
{
	if (agent->park_reason != NULL)
		return;
	agent->park_reason = xstrdup(why);
	agent->tmux_busy = true;
	tmux_capture(
	    agent->daemon->tmux, agent->session_name, 0, agent_screen, agent);
}

/* --- the next thing -------------------------------------------------- */

static bool
wants_session(const struct agent *agent)
{
	const struct worker *w = agent->worker;

	return w->status != WORKER_PAUSED && w->status != WORKER_ERROR &&
	    w->status != WORKER_LIMITED && w->status != WORKER_ACCEPTING &&
	    w->worktree != NULL && file_is_dir(w->worktree);
}

static void
tick_none(struct agent *agent)
{
	int64_t wait = agent->retry_ms - clock_mono_ms();

	if (!wants_session(agent))
		return;
	if (wait > 0)
		agent_tick_later(agent, wait);
	else
		agent_launch(agent);
}

static void
tick_launching(struct agent *agent)
{
	int64_t wait = agent->launched_ms +
	    agent_duration(agent, "start_timeout") - clock_mono_ms();

	if (agent->tmux_busy)
		return;
	if (wait > 0) {
		agent_tick_later(agent, wait);
	} else if (pilot_drives(agent) &&
	    ++agent->start_failures < UNHEARD_MAX) {
		/* Nobody is there to look, and a hook may get lost. */
		log_fields(LOG_LEVEL_INFO,
		    "the start of its session was not reported: another one "
		    "is begun",
		    "worker", agent->worker->name, NULL);
		agent_end(agent, NULL, NULL);
	} else {
		agent_park(agent,
		    "the agent did not report the start of its session: a "
		    "dialog may be open (about trust: run llmc trust)");
	}
}

static void
tick_ending(struct agent *agent)
{
	int64_t wait = agent->launched_ms + TERM_GRACE_MS - clock_mono_ms();

	if (agent->tmux_busy || agent->pane.pid == 0)
		return;
	if (!procref_alive(&agent->pane))
		agent_pane_gone(agent);
	else if (wait > 0)
		agent_tick_later(agent, wait);
	else if (procref_signal(&agent->pane, SIGKILL) == 0)
		agent_tick_later(agent, 100);
}

void
agent_tick(struct agent *agent)
{
	struct worker *w = agent->worker;
	int64_t wait;

	if (agent->daemon->oneshot)
		return;
	if (agent->phase == AGENT_ENDING) {
		tick_ending(agent);
		return;
	}
	if (agent->daemon->stopping || agent->operating)
		return;
	if (w->status == WORKER_LIMITED) {
		wait = w->until_ms - clock_wall_ms();
		if (wait > 0) {
			agent_tick_later(agent, wait);
			return;
		}
		finish_limit_over(agent);
	}
	if (agent->phase == AGENT_NONE)
		tick_none(agent);
	else if (agent->phase == AGENT_LAUNCHING)
		tick_launching(agent);
	else
		deliver_tick(agent);
}
