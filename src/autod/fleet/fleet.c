/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent-kind.h"
#include "agent.h"
#include "box.h"
#include "emit.h"
#include "fleet-private.h"
#include "fleet.h"
#include "life.h"
#include "loop.h"
#include "persist.h"
#include "preflight.h"
#include "serve.h"
#include "session-record.h"
#include "session.h"
#include "start-facts.h"
#include "tmux.h"
#include "watch.h"
#include "worker-op.h"

/* How long all workers wait for what one of them has left. A single request may
 * be about that one: orphans.h gives up earlier. */
#define PATIENCE_MS 1000
#define ONESHOT_MS  60000

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
	struct worker *w = agent->worker;

	/* Its session is gone: what to do next depends on what it was doing. */
	json_object_put(take_ptr(&w->session.pane));
	w->session.ready = false;
	w->session.open_tools = 0;
	if (worker_in_turn(w->status)) {
		w->after = w->status;
		agent_move(agent, WORKER_OFFLINE, NULL);
		/* So that the next session is asked to continue. */
		w->session.busy = w->session.step == PROMPT_NONE;
	} else if (w->status == WORKER_IDLE ||
	    (w->status == WORKER_STARTING && w->session.step != PROMPT_NONE)) {
		agent_move(agent, WORKER_OFFLINE, NULL);
	}
	persist_changed(agent->core);
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
			EMIT(fleet->core, EVENT_CLEARED,
			    .worker = agent->worker->name);
	}
	if (fleet->begun)
		return;
	fleet->begun = true;
	launch_block_resume(fleet);
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
		struct agent *agent;
		const struct tmux_info *found;
		struct session_record *record;

		fleet->agents[i]->adopting = true;
		fleet->agents[i]->unsaved =
		    is_unsaved(fleet->agents[i]->worker);
		agent = fleet->agents[i];
		found =
		    find(list, count, session_name(fleet->agents[i]->session));
		record = &agent->worker->session;
		/* Launched by an older version. */
		if (record->projects == NULL)
			record->projects = agent_projects(agent);
		if (found != NULL && !found->dead &&
		    found->generation == agent->worker->session.generation &&
		    session_adopt(agent->session, found->pane_pid,
			agent_start_timeout(agent)) == 0)
			AGENT_EMIT(agent, EVENT_ADOPTED);
		else
			lose(agent);
	}
	if (--fleet->clearing == 0)
		go_on(fleet);
}

static const struct fleet_policy by_hand; /* everything NULL */

struct agent *
fleet_find(const struct fleet *fleet, const char *name)
{
	for (size_t i = 0; name != NULL && i < fleet->count; i++)
		if (strcmp(fleet->agents[i]->worker->name, name) == 0)
			return fleet->agents[i];
	return NULL;
}

void
fleet_preface(struct agent *agent, const char *text, struct buf *out)
{

	agent_add_reminder(agent, out);
	POLICY_TELL(agent->fleet, policy, preface, agent, out);
	/* What was parked and not submitted may be part of the text. */
	if (out->len > 0 && strstr(text, out->data) != NULL)
		buf_clear(out);
	if (out->len > 0)
		buf_adds(out, "\n\n");
	buf_adds(out, text);
}

void
fleet_freed(const struct fleet *fleet)
{
	POLICY_TELL(fleet, policy, freed);
}

const char *
fleet_answers(const struct agent *agent)
{

	return POLICY_ASK(agent->fleet, policy, answers, agent);
}

bool
fleet_drives(const struct agent *agent)
{

	return POLICY_ASK(agent->fleet, policy, drives, agent);
}

void
fleet_set_policy(
    struct fleet *fleet, const struct fleet_policy *policy, void *arg)
{
	fleet->policy = policy != NULL ? policy : &by_hand;
	fleet->policy_arg = arg;
}

/* --- methods on one worker -------------------------------------------- */

void
fleet_refuse_unknown(
    const struct fleet *fleet, struct server_call *call, const char *name)
{
	const struct state *state = &fleet->core->state;
	cleanup_buf struct buf words = BUF_INIT;

	buf_addf(&words, "there is no worker %s", name);
	buf_adds(&words,
	    state->count == 0 ?
		", and there are no others; add one with: llmc add NAME" :
		"; the workers are:");
	for (size_t i = 0; i < state->count; i++)
		buf_addf(&words, " %s", state->workers[i]->name);
	serve_refuse(call, API_UNKNOWN, "%s", words.data);
}

struct fleet_method {
	struct fleet *fleet;
	fleet_worker_fn *fn;
	void *arg;
	struct fleet_method *next;
};

static void
on_call(void *arg, struct server_call *call, struct json_object *params)
{
	const struct fleet_method *method = arg;
	const char *name = json_string_or(params, "worker", "");
	struct agent *agent = fleet_find(method->fleet, name);

	if (agent == NULL)
		fleet_refuse_unknown(method->fleet, call, name);
	else if (agent_is_taken(agent))
		serve_refuse(call, API_BUSY,
		    "another operation on it is in progress; try again in a "
		    "moment");
	else
		method->fn(method->arg, agent, call, params);
}

void
fleet_handle(
    struct fleet *fleet, const char *method, fleet_worker_fn *fn, void *arg)
{
	struct fleet_method *m = xcalloc(1, sizeof *m);

	m->fleet = fleet;
	m->fn = fn;
	m->arg = arg;
	m->next = fleet->methods;
	fleet->methods = m;
	serve_handle(fleet->core, method, on_call, m);
}

/* --- the floor -------------------------------------------------------- */

/* Calls life_floor_begun() when all sessions are known. If tmux fails, that is
 * a hard failure (life.h), and the sessions are left as they are. */
static void
floor_begin(void *self)
{
	struct fleet *fleet = self;

	tmux_list(fleet->core->tmux, on_sessions, fleet);
}

static void
floor_patrol(void *self, bool all)
{
	patrol_run(self, all);
}

/* End the sessions, keep the worktrees. Dead sessions too: tmux keeps their
 * last screen. */
static void
floor_stop(void *self)
{
	struct fleet *fleet = self;

	calls_stop(fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];

		if (agent->op != NULL)
			operation_cancel(
			    &agent->op->op, "the daemon is stopping");
	}
	if (fleet->sessions_unknown || fleet->core->replaced)
		return; /* they may be another's */
	for (size_t i = 0; i < fleet->count; i++)
		session_end(fleet->agents[i]->session, NULL, NULL);
}

static bool
floor_is_quiet(const void *self)
{
	const struct fleet *fleet = self;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->op != NULL ||
		    session_phase(fleet->agents[i]->session) != SESSION_NONE)
			return false;
	return true;
}

/* Keep what a worker was doing, but without a session it is not ready. */
static void
floor_close(void *self, bool now)
{
	struct fleet *fleet = self;

	for (size_t i = 0; i < fleet->count && !fleet->sessions_unknown; i++) {
		struct agent *agent = fleet->agents[i];

		if (now)
			session_kill(agent->session);
		if (session_phase(agent->session) == SESSION_NONE &&
		    agent->worker->status == WORKER_IDLE)
			agent_move(agent, WORKER_OFFLINE, NULL);
	}
}

/* --- what keeps a launch from working --------------------------------- */

/* The worker is the one whose socket it came in at. */
static void
on_refused(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	cleanup_free char *text =
	    xasprintf("%s:%d", json_string_or(params, "host", ""),
		(int)json_int_or(params, "port", 0));

	EMIT(fleet->core, EVENT_HOST_REFUSED,
	    .worker = json_string_or(params, "worker", ""), .text = text);
	serve_reply(fleet->core, call, NULL);
}

void
launch_block_reason(const struct agent *agent, struct buf *out)
{
	struct preflight_facts facts;
	struct preflight preflight;

	start_facts_agent(agent->core->workspace, agent->core->settings,
	    agent->worker->name, &facts);
	preflight_judge(&facts, &preflight);
	preflight_agent_reason(&preflight, out);
	preflight_release(&preflight);
	preflight_facts_release(&facts);
	if (out->len == 0 && agent->box_fault != NULL &&
	    box_mode_of(agent->core->settings, agent->worker->name) != BOX_OFF)
		buf_adds(out, agent->box_fault);
}

static bool
is_over(const struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	return reason.len == 0;
}

void
launch_block_look(void *arg)
{
	struct fleet *fleet = arg;

	for (size_t i = 0; i < fleet->count; i++) {
		struct agent *agent = fleet->agents[i];
		struct worker *w = agent->worker;

		if (!w->blocked || w->on_hold)
			continue;
		/* Nothing tells when its sandbox can be made: try. */
		if (agent->box_fault != NULL && agent->op == NULL)
			op_box(agent);
		if (!is_over(agent))
			continue;
		EMIT(fleet->core, EVENT_LAUNCH_UNBLOCKED, .worker = w->name);
		w->blocked = false;
		persist_changed(fleet->core);
		if (worker_holds(w) == 0)
			agent_move(agent, w->before, NULL);
		agent_tick_later(agent, 1);
	}
}

/* Its folder, the home directory, always exists. */
static void
watch_file(const struct agent *agent)
{
	struct fleet *fleet = agent->fleet;
	const struct agent_kind *kind =
	    agent_kind_of(agent->core->settings, agent->worker->name, NULL);
	cleanup_free char *file =
	    kind->state_file != NULL ? kind->state_file() : NULL;

	if (fleet->launch_watch == NULL && file != NULL)
		watch_new(fleet->core->loop, file, launch_block_look, fleet,
		    &fleet->launch_watch, NULL);
}

bool
launch_block_check(struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	if (reason.len == 0 || agent->worker->blocked)
		return reason.len > 0;
	watch_file(agent);
	agent_move(agent, WORKER_PAUSED, reason.data);
	agent->worker->blocked = true;
	persist_changed(agent->core);
	AGENT_EMIT(agent, EVENT_LOGIN_NEEDED, .reason = reason.data);
	return true;
}

void
launch_block_resume(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->worker->blocked)
			watch_file(fleet->agents[i]);
	launch_block_look(fleet);
}

static void
on_event(const struct event *event, void *arg)
{
	struct fleet *fleet = arg;
	struct agent *agent = fleet_find(fleet, event->worker);

	switch (event->kind) {
	case EVENT_SETTINGS_READ:
		launch_block_look(fleet);
		for (size_t i = 0; i < fleet->count; i++)
			box_refresh(fleet->core->workspace,
			    fleet->core->settings,
			    fleet->agents[i]->worker->name);
		break;
	case EVENT_SOCKET_GONE:
		/* With its folder its policy is gone, too. */
		if (agent != NULL)
			agent_guard_refresh(agent);
		break;
	case EVENT_WORKER_MOVED:
		calls_moved(fleet, event->worker, event->to);
		loop_call_request(fleet->settle);
		break;
	case EVENT_WORKER_GONE:
		calls_moved(fleet, event->worker, NULL);
		break;
	default:
		break;
	}
}

/* --- the object ------------------------------------------------------- */

static void
then(void *arg, void *owner, void (*fn)(void *), void *fn_arg)
{
	persist_then(arg, owner, fn, fn_arg);
}

static void
forget(void *arg, const void *owner)
{
	persist_forget(arg, owner);
}

struct fleet *
fleet_new(struct core *core)
{
	struct fleet *fleet = xcalloc(1, sizeof *fleet);

	fleet->core = core;
	fleet->policy = &by_hand;
	fleet->host = (struct session_host){
		.loop = core->loop,
		.tmux = core->tmux,
		.workspace = core->workspace,
		.llmc = core->llmc,
		.then = then,
		.forget = forget,
		.arg = core,
	};
	fleet->floor = (struct core_floor){
		.self = fleet,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
		.close = floor_close,
	};
	fleet->hooks = hooks_new(fleet);
	/* An earlier version gave none. */
	if (state_give_indexes(&core->state))
		persist_changed(core);
	for (size_t i = 0; i < core->state.count; i++)
		agent_new(fleet, core->state.workers[i]);
	emit_subscribe(core, on_event, fleet);
	serve_handle(core, "sandbox.refused", on_refused, fleet);
	calls_register(fleet);
	hold_register(fleet);
	worker_commands_register(fleet);
	core_add_floor(core, &fleet->floor);
	return fleet;
}

void
fleet_free(struct fleet *fleet)
{
	struct fleet_method *m;

	if (fleet == NULL)
		return;
	while (fleet->count > 0)
		agent_free(fleet->agents[0]);
	free(fleet->agents);
	loop_timer_free(fleet->patience);
	calls_stop(fleet);
	emit_unsubscribe(fleet->core, on_event, fleet);
	loop_call_free(fleet->settle);
	loop_call_free(fleet->look);
	while (!LIST_EMPTY(&fleet->looks))
		look_free(LIST_FIRST(&fleet->looks));
	watch_free(fleet->launch_watch);
	hooks_free(fleet->hooks);
	while ((m = fleet->methods) != NULL) {
		fleet->methods = m->next;
		free(m);
	}
	free(fleet);
}
