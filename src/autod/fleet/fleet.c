/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "agent-kind.h"
#include "agent.h"
#include "box.h"
#include "emit.h"
#include "fleet-private.h"
#include "fleet.h"
#include "hold.h"
#include "life.h"
#include "loop.h"
#include "op-start.h"
#include "persist.h"
#include "preflight.h"
#include "serve.h"
#include "session-record.h"
#include "session.h"
#include "start-facts.h"
#include "tmux.h"
#include "watch.h"
#include "worker-op.h"

struct launch_block;

static struct launch_block *launch_block_new(struct fleet *fleet);
static void launch_block_free(struct launch_block *block);

struct hosts;

static struct hosts *hosts_new(struct fleet *fleet);
static void hosts_free(struct hosts *hosts);

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct waiters *waiters;
	struct server_call *call;
	char *worker;
	char *until; /* names of statuses, separated by commas */
	struct loop_timer *timer;
};

TAILQ_HEAD(waiter_list, waiter);

struct waiters {
	struct fleet *fleet;
	struct core *core;
	struct waiter_list list;
};

static void
waiter_free(struct waiter *waiter)
{
	TAILQ_REMOVE(&waiter->waiters->list, waiter, entry);
	loop_timer_free(waiter->timer);
	free(waiter->worker);
	free(waiter->until);
	free(waiter);
}

static void
answer(struct waiter *waiter, const char *status, bool reached)
{
	struct json_object *result = json_object_new_object();

	json_set_string(result, "worker", waiter->worker);
	json_set_string(result, "status", status);
	json_set_bool(result, "reached", reached);
	serve_reply(waiter->waiters->core, waiter->call, result);
	waiter_free(waiter);
}

static bool
wants(const struct waiter *waiter, const char *status)
{
	cleanup_free char *copy = xstrdup(waiter->until);
	char *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL)
		if (strcmp(word, status) == 0)
			return true;
	return false;
}

static void
on_timeout(void *arg)
{
	struct waiter *waiter = arg;
	const struct worker *w =
	    state_find(&waiter->waiters->core->state, waiter->worker);

	answer(
	    waiter, w != NULL ? worker_status_name(w->status) : "gone", false);
}

/* A worker has reached a status, or (NULL) is gone. */
static void
answer_reached(struct waiters *waiters, const char *worker, const char *status)
{
	struct waiter *waiter, *next;

	for (waiter = TAILQ_FIRST(&waiters->list); waiter != NULL;
	     waiter = next) {
		next = TAILQ_NEXT(waiter, entry);
		if (strcmp(waiter->worker, worker) != 0)
			continue;
		if (status == NULL)
			answer(waiter, "gone", false);
		else if (wants(waiter, status))
			answer(waiter, status, true);
	}
}

static void
waiters_on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_WORKER_MOVED)
		answer_reached(arg, event->worker, event->to);
	else if (event->kind == EVENT_WORKER_GONE)
		answer_reached(arg, event->worker, NULL);
}

static void
on_wait(void *arg, struct server_call *call, struct json_object *params)
{
	struct waiters *waiters = arg;
	const char *name = json_string_or(params, "worker", "");
	const struct worker *w = state_find(&waiters->core->state, name);
	struct waiter *waiter;

	if (w == NULL) {
		fleet_refuse_unknown(waiters->fleet, call, name);
		return;
	}
	waiter = xcalloc(1, sizeof *waiter);
	waiter->waiters = waiters;
	waiter->call = call;
	waiter->worker = xstrdup(name);
	waiter->until = xstrdup(json_string_or(params, "until", ""));
	waiter->timer = loop_after(waiters->core->loop,
	    json_int_or(params, "timeout_ms", 0), on_timeout, waiter);
	TAILQ_INSERT_TAIL(&waiters->list, waiter, entry);
	if (wants(waiter, worker_status_name(w->status)))
		answer(waiter, worker_status_name(w->status), true);
}

/* Registers the method and subscribes to status changes. */
static struct waiters *
waiters_new(struct fleet *fleet)
{
	struct waiters *waiters = xcalloc(1, sizeof *waiters);

	waiters->fleet = fleet;
	waiters->core = fleet->core;
	TAILQ_INIT(&waiters->list);
	emit_subscribe(fleet->core, waiters_on_event, waiters);
	serve_handle(fleet->core, "worker.wait", on_wait, waiters);
	return waiters;
}

/* The daemon stops: answer all of them. */
static void
waiters_stop(struct waiters *waiters)
{
	struct waiter *waiter;

	while ((waiter = TAILQ_FIRST(&waiters->list)) != NULL) {
		serve_refuse(
		    waiter->call, API_FAILED, "the daemon is stopping");
		waiter_free(waiter);
	}
}

static void
waiters_free(struct waiters *waiters)
{
	if (waiters == NULL)
		return;
	waiters_stop(waiters);
	emit_unsubscribe(waiters->core, waiters_on_event, waiters);
	free(waiters);
}

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
			emit(agent->core,
			    &(struct event){ .kind = EVENT_ADOPTED,
				.worker = agent->worker->name });
		else
			lose(agent);
	}
	if (--fleet->clearing == 0)
		go_on(fleet);
}

/* Calls life_floor_begun() when all sessions are known. If tmux fails, that is
 * a hard failure (life.h), and the sessions are left as they are. */
static void
adopt_begin(struct fleet *fleet)
{
	tmux_list(fleet->core->tmux, on_sessions, fleet);
}

static const struct fleet_policy by_hand; /* everything NULL */

struct agent *
fleet_find(const struct fleet *fleet, const char *name)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (strcmp(fleet->agents[i]->worker->name, name) == 0)
			return fleet->agents[i];
	return NULL;
}

void
fleet_preface(struct agent *agent, const char *text, struct buf *out)
{
	const struct fleet *fleet = agent->fleet;

	agent_add_reminder(agent, out);
	if (fleet->policy->preface != NULL)
		fleet->policy->preface(fleet->policy_arg, agent, out);
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
	if (fleet->policy->freed != NULL)
		fleet->policy->freed(fleet->policy_arg);
}

const char *
fleet_answers(const struct agent *agent)
{
	const struct fleet *fleet = agent->fleet;

	return fleet->policy->answers == NULL ?
	    NULL :
	    fleet->policy->answers(fleet->policy_arg, agent);
}

bool
fleet_drives(const struct agent *agent)
{
	const struct fleet *fleet = agent->fleet;

	return fleet->policy->drives != NULL &&
	    fleet->policy->drives(fleet->policy_arg, agent);
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

static void
floor_begin(void *self)
{
	adopt_begin(self);
}

static void
floor_patrol(void *self, bool all)
{
	const struct fleet *fleet = self;

	patrol_run(fleet->patrol, all);
}

/* End the sessions, keep the worktrees. Dead sessions too: tmux keeps their
 * last screen. */
static void
floor_stop(void *self)
{
	struct fleet *fleet = self;

	waiters_stop(fleet->waiters);
	start_queue_stop(fleet->starts);
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
	fleet->block = launch_block_new(fleet);
	fleet->hosts = hosts_new(fleet);
	fleet->patrol = patrol_new(fleet);
	fleet->waiters = waiters_new(fleet);
	fleet->starts = start_queue_new(fleet);
	fleet->hold = hold_new(fleet);
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
	hold_free(fleet->hold);
	start_queue_free(fleet->starts);
	waiters_free(fleet->waiters);
	patrol_free(fleet->patrol);
	agent_reminders_free(fleet);
	hosts_free(fleet->hosts);
	launch_block_free(fleet->block);
	hooks_free(fleet->hooks);
	while ((m = fleet->methods) != NULL) {
		fleet->methods = m->next;
		free(m);
	}
	free(fleet);
}

struct hosts {
	struct fleet *fleet;
};

static void
hosts_on_event(const struct event *event, void *arg)
{
	const struct hosts *hosts = arg;
	const struct fleet *fleet = hosts->fleet;

	if (event->kind != EVENT_SETTINGS_READ)
		return;
	for (size_t i = 0; i < fleet->count; i++)
		box_refresh(fleet->core->workspace, fleet->core->settings,
		    fleet->agents[i]->worker->name);
}

/* The worker is the one whose socket it came in at. */
static void
on_refused(void *arg, struct server_call *call, struct json_object *params)
{
	const struct hosts *hosts = arg;
	cleanup_free char *text =
	    xasprintf("%s:%d", json_string_or(params, "host", ""),
		(int)json_int_or(params, "port", 0));

	emit(hosts->fleet->core,
	    &(struct event){ .kind = EVENT_HOST_REFUSED,
		.worker = json_string_or(params, "worker", ""),
		.text = text });
	serve_reply(hosts->fleet->core, call, NULL);
}

static struct hosts *
hosts_new(struct fleet *fleet)
{
	struct hosts *hosts = xcalloc(1, sizeof *hosts);

	hosts->fleet = fleet;
	emit_subscribe(fleet->core, hosts_on_event, hosts);
	serve_handle(fleet->core, "sandbox.refused", on_refused, hosts);
	return hosts;
}

static void
hosts_free(struct hosts *hosts)
{
	emit_unsubscribe(hosts->fleet->core, hosts_on_event, hosts);
	free(hosts);
}

struct launch_block {
	struct fleet *fleet;
	struct watch *watch; /* on the agent's file; NULL = not needed yet */
};

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

static void
look(void *arg)
{
	struct launch_block *block = arg;
	struct fleet *fleet = block->fleet;

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
		emit(fleet->core,
		    &(struct event){
			.kind = EVENT_LAUNCH_UNBLOCKED, .worker = w->name });
		w->blocked = false;
		persist_changed(fleet->core);
		if (worker_holds(w) == 0)
			agent_move(agent, w->before, NULL);
		agent_tick_later(agent, 1);
	}
}

static void
on_event(const struct event *event, void *arg)
{
	if (event->kind == EVENT_SETTINGS_READ)
		look(arg);
}

static struct launch_block *
launch_block_new(struct fleet *fleet)
{
	struct launch_block *block = xcalloc(1, sizeof *block);

	block->fleet = fleet;
	emit_subscribe(fleet->core, on_event, block);
	return block;
}

static void
launch_block_free(struct launch_block *block)
{
	emit_unsubscribe(block->fleet->core, on_event, block);
	watch_free(block->watch);
	free(block);
}

/* Its folder, the home directory, always exists. */
static void
watch_file(struct launch_block *block, const struct agent *agent)
{
	const struct agent_kind *kind =
	    agent_kind_of(agent->core->settings, agent->worker->name, NULL);
	cleanup_free char *file =
	    kind->state_file != NULL ? kind->state_file() : NULL;

	if (block->watch == NULL && file != NULL)
		watch_new(block->fleet->core->loop, file, look, block,
		    &block->watch, NULL);
}

bool
launch_block_check(struct agent *agent)
{
	cleanup_buf struct buf reason = BUF_INIT;

	launch_block_reason(agent, &reason);
	if (reason.len == 0 || agent->worker->blocked)
		return reason.len > 0;
	watch_file(agent->fleet->block, agent);
	agent_move(agent, WORKER_PAUSED, reason.data);
	agent->worker->blocked = true;
	persist_changed(agent->core);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_LOGIN_NEEDED,
		.worker = agent->worker->name,
		.reason = reason.data });
	return true;
}

void
launch_block_look(struct launch_block *block)
{
	look(block);
}

void
launch_block_resume(struct launch_block *block)
{
	const struct fleet *fleet = block->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->agents[i]->worker->blocked)
			watch_file(block, fleet->agents[i]);
	look(block);
}
