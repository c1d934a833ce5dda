/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "emit.h"
#include "fleet-private.h"
#include "loop.h"
#include "persist.h"
#include "serve.h"

static const char continue_text[] =
    "You were paused by a person and may continue now. Look at the state of "
    "the worktree (git status, git log) and continue the task from where it "
    "stopped.";

static const char budget_text[] =
    "You were paused because a budget was used up; it has been raised. "
    "Continue the task from where it stopped.";

static const char hours_text[] =
    "You were paused because the working hours were over; they have begun "
    "again. Continue the task from where it stopped.";

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
	    w->status == WORKER_LIMITED || w->status == WORKER_WAITING ||
	    is_in_progress(w);
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

/* Workers on hold that have become idle, or wait for others. */
static void
settle(void *arg)
{
	const struct fleet *fleet = arg;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		enum worker_status status = agent->worker->status;

		if (agent->worker->on_hold &&
		    (status == WORKER_IDLE || status == WORKER_WAITING))
			pause_worker(agent, "paused");
	}
}

/* --- continuing ------------------------------------------------------- */

static const char *
text_for(const struct worker *w)
{
	return w->over_budget ? budget_text :
	    w->off_hours      ? hours_text :
				continue_text;
}

/* A person has something to say: in front of its next prompt. */
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

/* In its session if it has one; otherwise the next one is asked to continue. */
static void
continue_turn(struct agent *agent, enum worker_status status, const char *note)
{
	struct worker *w = agent->worker;
	const char *text = text_for(w);

	if (w->session.step == PROMPT_NONE)
		w->after = worker_in_turn(status) ? status : WORKER_WORKING;
	if (note != NULL)
		add_note(agent, text, note);
	else if (w->session.step == PROMPT_NONE && text != continue_text)
		agent_prompt(agent, text, false, w->after);
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
	bool busy = w->session.busy; /* the next session is asked to continue */

	if (session_phase(agent->session) == SESSION_UP && !busy) {
		agent_move(agent, WORKER_IDLE, NULL);
	} else {
		agent_move(agent, WORKER_OFFLINE, NULL);
		w->session.busy = busy;
	}
}

static void
continue_from(struct agent *agent, enum worker_status before, const char *note)
{
	if (worker_in_turn(before) || before == WORKER_STARTING)
		continue_turn(agent, before, note);
	else if (before == WORKER_IDLE || before == WORKER_OFFLINE)
		continue_idle(agent);
	else
		agent_move(agent, before, NULL);
}

/* For fewer reasons than before. */
static void
stay(struct agent *agent, unsigned left, const char *reason, const char *note)
{
	struct worker *w = agent->worker;

	if (note != NULL)
		add_note(agent, text_for(w), note);
	w->over_budget = (left & WORKER_HOLD_BUDGET) != 0;
	w->off_hours = (left & WORKER_HOLD_HOURS) != 0;
	if (reason != NULL)
		agent_move(agent, WORKER_PAUSED, reason);
}

bool
hold_resume(struct agent *agent, unsigned may, const char *note,
    struct hold_change *ret_change)
{
	struct worker *w = agent->worker;
	unsigned holds = worker_holds(w);
	unsigned left = holds & ~may & ~(unsigned)WORKER_HOLD_TRUST;
	bool paused = w->status == WORKER_PAUSED;
	cleanup_buf struct buf launch = BUF_INIT;

	if (w->blocked)
		launch_block_reason(agent, &launch);
	if (launch.len > 0)
		left |= WORKER_HOLD_TRUST;
	*ret_change = (struct hold_change){ holds & ~left, left };
	w->on_hold = (left & WORKER_HOLD_PERSON) != 0;
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
	if (paused && left == 0)
		continue_from(agent, w->before, note);
	else if (paused)
		stay(agent, left, launch.len > 0 ? launch.data : NULL, note);
	return ret_change->cleared != 0 || (paused && left == 0);
}

/* --- worker.pause ----------------------------------------------------- */

static void
on_pause(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const struct state *state = &fleet->core->state;
	const char *name = json_string_or(params, "worker", NULL);
	struct json_object *result, *list;
	cleanup_buf struct buf text = BUF_INIT;

	if (name != NULL && fleet_find(fleet, name) == NULL) {
		fleet_refuse_unknown(fleet, call, name);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < state->count; i++) {
		struct worker *w = state->workers[i];
		unsigned others;
		const char *what;

		if (name != NULL && strcmp(name, w->name) != 0)
			continue;
		hold_begin(fleet_find(fleet, w->name), false);
		json_object_array_add(list, json_object_new_string(w->name));
		others = worker_holds(w) & ~(unsigned)WORKER_HOLD_PERSON;
		what = "takes no new task";
		if (w->status == WORKER_PAUSED)
			what = "is paused";
		else if (is_in_progress(w))
			what = "pauses at the end of its turn";
		buf_addf(
		    &text, "%s%s %s", text.len > 0 ? "\n" : "", w->name, what);
		if (others != 0)
			buf_adds(&text, ", and was already for: ");
		worker_add_holds(others, &text);
		buf_addc(&text, '.');
	}
	result = json_object_new_object();
	json_set(result, "paused", list);
	json_set_string(result, "message",
	    text.len > 0 ? text.data : "There are no workers.");
	serve_reply(fleet->core, call, result);
}

void
hold_register(struct fleet *fleet)
{
	fleet->settle = loop_call_new(fleet->core->loop, settle, fleet);
	serve_handle(fleet->core, "worker.pause", on_pause, fleet);
}
