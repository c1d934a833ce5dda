/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "adopt.h"
#include "agent.h"
#include "buf.h"
#include "hold.h"
#include "hooks.h"
#include "hosts.h"
#include "json.h"
#include "launch-block.h"
#include "loop.h"
#include "mem.h"
#include "patrol.h"
#include "persist.h"
#include "serve.h"
#include "start-queue.h"
#include "waiters.h"
#include "worker-commands.h"
#include "worker-op.h"

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
	hosts_free(fleet->hosts);
	launch_block_free(fleet->block);
	hooks_free(fleet->hooks);
	while ((m = fleet->methods) != NULL) {
		fleet->methods = m->next;
		free(m);
	}
	free(fleet);
}
