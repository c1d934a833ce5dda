/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "buf.h"
#include "emit.h"
#include "hold.h"
#include "json.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "serve.h"

static const char continue_text[] =
    "You were paused by a person and may continue now. Look at the state of "
    "the worktree (git status, git log) and continue the task from where it "
    "stopped.";

static const char look_again_text[] =
    "You were paused because of how the work went, and may continue now. Look "
    "at the state of the worktree (git status, git log) and think about what "
    "to do differently.";

struct hold {
	struct fleet *fleet;
	struct loop_call *settle;
};

/* --- pausing ---------------------------------------------------------- */

static void
pause_worker(struct agent *agent, const char *verb)
{
	cleanup_free char *reason =
	    xasprintf("%s by a person; continue with: llmc resume %s", verb,
		agent->worker->name);

	agent_move(agent, WORKER_PAUSED, reason);
}

static bool
is_in_progress(const struct worker *w)
{
	return worker_in_turn(w->status) || w->status == WORKER_STARTING ||
	    (w->status == WORKER_OFFLINE && !worker_is_quiet(w));
}

/* A decision, a landing and a repair can be waited for on hold as well. */
static bool
can_pause(const struct worker *w)
{
	return w->status == WORKER_IDLE || w->status == WORKER_OFFLINE ||
	    w->status == WORKER_LIMITED || is_in_progress(w);
}

void
hold_begin(struct agent *agent, bool now)
{
	struct worker *w = agent->worker;

	w->on_hold = true;
	persist_changed(agent->core);
	if (can_pause(w) && (now || !is_in_progress(w)))
		pause_worker(agent, now ? "stopped" : "paused");
}

bool
hold_turn_ended(struct agent *agent, const char *text)
{
	enum worker_status status = agent->worker->status;

	if (!agent->worker->on_hold)
		return false;
	pause_worker(agent, "paused");
	agent_prompt(agent, text, false, status);
	return true;
}

bool
hold_for_oversight(struct agent *agent, const char *reason, const char *words)
{
	struct worker *w = agent->worker;
	enum worker_status status = w->status;
	bool busy = w->session.busy;

	if (!worker_in_turn(status) ||
	    agent_move(agent, WORKER_PAUSED, reason) < 0)
		return false;
	w->oversight = true;
	w->session.busy = false;
	persist_changed(agent->core);
	if (busy)
		agent_interrupt(agent);
	if (words != NULL)
		agent_prompt(agent, words, false, status);
	return true;
}

/* Workers on hold that have become idle. */
static void
settle(void *arg)
{
	const struct hold *hold = arg;

	for (size_t i = 0; i < hold->fleet->count; i++) {
		struct agent *agent = hold->fleet->agents[i];

		if (agent->worker->on_hold &&
		    agent->worker->status == WORKER_IDLE)
			pause_worker(agent, "paused");
	}
}

static void
on_event(const struct event *event, void *arg)
{
	const struct hold *hold = arg;

	if (event->kind == EVENT_WORKER_MOVED)
		loop_call_request(hold->settle);
}

/* --- continuing ------------------------------------------------------- */

/* A person has something to say: in front of what it would be told anyway. */
static void
add_note(struct agent *agent, const char *text, const char *note)
{
	struct worker *w = agent->worker;
	cleanup_free char *words = xasprintf("A person says: %s\n\n%s", note,
	    w->session.step != PROMPT_NONE && w->session.pending != NULL ?
		w->session.pending :
		text);

	agent_prompt(agent, words, false, w->after);
}

/* In its session if it has one; otherwise the next one is told to continue. */
static void
continue_turn(struct agent *agent, enum worker_status status, const char *note)
{
	struct worker *w = agent->worker;
	const char *text = w->oversight ? look_again_text : continue_text;

	if (w->session.step == PROMPT_NONE)
		w->after = worker_in_turn(status) ? status : WORKER_WORKING;
	if (note != NULL)
		add_note(agent, text, note);
	if (session_phase(agent->session) != SESSION_UP) {
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (agent_move(agent, WORKER_STARTING, NULL) == 0 &&
	    w->session.step == PROMPT_NONE) {
		agent_prompt(agent, text, false, w->after);
	}
}

static void
continue_idle(struct agent *agent)
{
	struct worker *w = agent->worker;
	bool busy = w->session.busy; /* the next session is told to continue */

	if (session_phase(agent->session) == SESSION_UP && !busy) {
		agent_move(agent, WORKER_IDLE, NULL);
	} else {
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy = busy;
	}
}

bool
hold_resume(struct agent *agent, const char *note)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;
	bool was = w->on_hold;

	w->on_hold = false;
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
	if (w->status != WORKER_PAUSED || w->over_budget)
		return was;
	if (worker_in_turn(before) || before == WORKER_STARTING)
		continue_turn(agent, before, note);
	else if (before == WORKER_IDLE || before == WORKER_OFFLINE)
		continue_idle(agent);
	else
		agent_move(agent, before, NULL);
	return true;
}

/* --- worker.pause ----------------------------------------------------- */

static void
describe(const struct worker *w, struct buf *out)
{
	const char *what = "takes no new task";

	if (w->status == WORKER_PAUSED)
		what = "is paused";
	else if (is_in_progress(w))
		what = "pauses at the end of its turn";
	buf_addf(out, "%s%s %s.", out->len > 0 ? "\n" : "", w->name, what);
}

static void
on_pause(void *arg, struct server_call *call, struct json_object *params)
{
	const struct hold *hold = arg;
	const struct state *state = &hold->fleet->core->state;
	const char *name = json_string_or(params, "worker", NULL);
	struct json_object *result, *list;
	cleanup_buf struct buf text = BUF_INIT;

	if (name != NULL && fleet_find(hold->fleet, name) == NULL) {
		fleet_refuse_unknown(hold->fleet, call, name);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < state->count; i++) {
		struct worker *w = state->workers[i];

		if (name != NULL && strcmp(name, w->name) != 0)
			continue;
		hold_begin(fleet_find(hold->fleet, w->name), false);
		json_object_array_add(list, json_object_new_string(w->name));
		describe(w, &text);
	}
	result = json_object_new_object();
	json_set(result, "paused", list);
	json_set_string(result, "message",
	    text.len > 0 ? text.data : "There are no workers.");
	serve_reply(hold->fleet->core, call, result);
}

struct hold *
hold_new(struct fleet *fleet)
{
	struct hold *hold = xcalloc(1, sizeof *hold);

	hold->fleet = fleet;
	hold->settle = loop_call_new(fleet->core->loop, settle, hold);
	emit_subscribe(fleet->core, on_event, hold);
	serve_handle(fleet->core, "worker.pause", on_pause, hold);
	return hold;
}

void
hold_free(struct hold *hold)
{
	if (hold == NULL)
		return;
	emit_unsubscribe(hold->fleet->core, on_event, hold);
	loop_call_free(hold->settle);
	free(hold);
}
