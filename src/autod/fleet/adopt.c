/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "adopt.h"
#include "agent-launch.h"
#include "agent.h"
#include "clock.h"
#include "delivery.h"
#include "emit.h"
#include "errtext.h"
#include "failure.h"
#include "hooks.h"
#include "json.h"
#include "launch-block.h"
#include "life.h"
#include "loop.h"
#include "mem.h"
#include "op-reset.h"
#include "op-start.h"
#include "persist.h"
#include "session.h"
#include "tmux.h"

/* How long all workers wait for what one of them has left. A single request may
 * be about that one: remains.h gives up earlier. */
#define PATIENCE_MS 1000
#define ONESHOT_MS  60000

/* Its session is gone: what to do next depends on what it was doing. */
static void
lost_session(struct agent *agent)
{
	struct worker *w = agent->worker;

	json_object_put(take_ptr(&w->session.pane));
	w->session.ready = false;
	w->session.open_tools = 0;
	if (worker_in_turn(w->status)) {
		w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, NULL);
		/* So that the next session is told to continue. */
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (w->status == WORKER_IDLE ||
	    (w->status == WORKER_STARTING && w->session.step != PROMPT_NONE)) {
		agent_move(agent, WORKER_OFFLINE, NULL);
	}
	persist_changed(agent->core);
}

static void on_drained(void *arg);

/* Those whose session is known, and nothing is left of, go on: after the hooks
 * that fired while no daemon was running. */
static void
go_on(void *arg)
{
	struct fleet *fleet = arg;

	loop_timer_free(take_ptr(&fleet->patience));
	if (!fleet->core->stopping)
		hooks_drain_then(fleet->hooks, on_drained, fleet);
}

static void
on_cleared(void *arg)
{
	struct agent *agent = arg;
	struct fleet *fleet = agent->fleet;

	agent->clearing = false;
	/* Otherwise the others are waited for, a little. */
	if (--fleet->clearing == 0 || fleet->patience == NULL)
		go_on(fleet);
}

/* What it started may have survived it, and would go on in the worktree. */
static void
lose(struct agent *agent)
{
	lost_session(agent);
	agent->clearing = true;
	agent->fleet->clearing++;
	session_clear(agent->session, on_cleared, agent);
}

/* Was its task taken from it, and the daemon ended before its worktree was set
 * back? */
static bool
is_unsaved(const struct worker *w)
{
	return w->status == WORKER_OFFLINE && w->task == NULL &&
	    w->prompt == NULL && w->work_of != NULL && worker_is_quiet(w);
}

static void
adopt_one(struct agent *agent, const struct tmux_info *found)
{
	struct session_record *record = &agent->worker->session;

	/* Launched by an older version. */
	if (record->projects == NULL)
		record->projects = agent_projects(agent);
	if (found != NULL && !found->dead &&
	    found->generation == agent->worker->session.generation &&
	    session_adopt(agent->session, found->pane_pid,
		agent_duration(agent, "start_timeout")) == 0)
		emit(agent->core,
		    &(struct event){
			.kind = EVENT_ADOPTED, .worker = agent->worker->name });
	else
		lose(agent);
}

/* Continue what was in progress when the last daemon ended; landings are
 * continued by the floor above. */
static void
recover(struct agent *agent)
{
	struct worker *w = agent->worker;

	agent->adopting = false;
	if (agent->op != NULL)
		return; /* it began meanwhile, and says what comes next */
	if (session_left(agent->session) != NULL) {
		agent_give_up(agent, session_left(agent->session)->msg);
		return;
	}
	if (agent->unsaved) {
		agent->unsaved = false;
		op_reset(agent, NULL);
		return;
	}
	if (w->status == WORKER_STARTING && w->session.step == PROMPT_NONE &&
	    w->prompt != NULL)
		op_start(agent, NULL);
	delivery_recovered(&w->session, clock_wall_ms());
	agent_tick_later(agent, 1);
}

static const struct tmux_info *
find(const struct tmux_info *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

static void
on_drained(void *arg)
{
	struct fleet *fleet = arg;

	if (fleet->core->stopping)
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (!agent->adopting || agent->clearing)
			continue;
		recover(agent);
		if (fleet->begun)
			emit(fleet->core,
			    &(struct event){ .kind = EVENT_CLEARED,
				.worker = agent->worker->name });
	}
	if (fleet->begun)
		return;
	fleet->begun = true;
	launch_block_resume(fleet->block);
	life_floor_begun(fleet->core);
}

static void
on_sessions(const struct tmux_info *list, size_t count, const struct err *err,
    void *arg)
{
	struct fleet *fleet = arg;
	struct core *core = fleet->core;

	if (core->stopping)
		return; /* its sessions are being ended already */
	if (err != NULL) {
		fleet->sessions_unknown = true;
		failure_raise(core,
		    &(struct failure){
			.class = "tmux", .status = -1, .reason = err->msg });
		return;
	}
	fleet->patience = loop_after(core->loop,
	    core->options->oneshot ? ONESHOT_MS : PATIENCE_MS, go_on, fleet);
	fleet->clearing = 1;
	for (size_t i = 0; i < fleet->count; i++) {
		fleet->agents[i]->adopting = true;
		fleet->agents[i]->unsaved =
		    is_unsaved(fleet->agents[i]->worker);
		adopt_one(fleet->agents[i],
		    find(list, count, session_name(fleet->agents[i]->session)));
	}
	if (--fleet->clearing == 0)
		go_on(fleet);
}

void
adopt_begin(struct fleet *fleet)
{
	tmux_list(fleet->core->tmux, on_sessions, fleet);
}
