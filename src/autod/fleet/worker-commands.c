/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "agent.h"
#include "buf.h"
#include "emit.h"
#include "json.h"
#include "mem.h"
#include "op-add.h"
#include "op-inspect.h"
#include "op-nuke.h"
#include "op-reset.h"
#include "op-start.h"
#include "prompt.h"
#include "rpc.h"
#include "serve.h"
#include "text.h"
#include "worker-commands.h"

/* The cleaned text of a request; false (and the call is refused) if nothing is
 * left. */
static bool
request_text(struct server_call *call, struct json_object *params,
    const char *key, struct buf *out)
{
	const char *text = json_string_or(params, key, "");

	if (prompt_clean(text, strlen(text), out))
		return true;
	serve_refuse(call, RPC_INVALID_PARAMS, "%s",
	    strlen(text) > PROMPT_MAX ? "the text is longer than 1 MiB" :
					"the text is empty");
	return false;
}

void
worker_commands_wrong_status(
    struct server_call *call, const struct worker *w, const char *wanted)
{
	serve_refuse(call, API_STATUS, "%s is %s%s%s; %s", w->name,
	    worker_status_name(w->status), w->reason != NULL ? ": " : "",
	    w->reason != NULL ? w->reason : "", wanted);
}

bool
worker_commands_prompt_under_way(struct agent *agent, struct server_call *call)
{
	if (agent->worker->session.step == PROMPT_NONE)
		return false;
	serve_refuse(call, API_BUSY,
	    "another prompt is on its way to it; try again in a moment");
	return true;
}

/* --- add, remove, reset ----------------------------------------------- */

static void
on_add(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	struct core *core = fleet->core;
	const char *name = json_string_or(params, "worker", "");

	if (!text_is_name(name)) {
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "a worker's name begins with a letter or digit, followed "
		    "by letters, digits, - and _, all lower case, at most 32 "
		    "characters");
	} else if (strncmp(name, "console", 7) == 0 ||
	    strcmp(name, "overseer") == 0) {
		/* Sessions with these names do not belong to workers. */
		serve_refuse(call, RPC_INVALID_PARAMS,
		    "names that begin with \"console\", and \"overseer\", are "
		    "reserved");
	} else if (state_find(&core->state, name) != NULL) {
		serve_refuse(
		    call, API_FAILED, "there is a worker %s already", name);
	} else {
		core_reload(core, NULL); /* it may have its own settings */
		op_add(fleet, name, call);
	}
}

static void
on_nuke(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)arg;
	(void)params;
	op_nuke(agent, call);
}

static void
on_reset(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const char *failed = json_string_or(params, "failed", NULL);

	(void)arg;
	if (failed != NULL)
		emit(agent->core,
		    &(struct event){ .kind = EVENT_ATTEMPT_FAILED,
			.worker = agent->worker->name,
			.reason = failed });
	op_reset(agent, call);
}

/* --- start ------------------------------------------------------------ */

/* Is it driven by hand, and can it get a task? Its session may still have to be
 * started. */
static bool
can_start(const struct agent *agent)
{
	return agent->op == NULL && worker_is_free(agent->worker) &&
	    !worker_is_auto(agent->worker->name);
}

/* The first free worker of the pool, by name. */
static struct agent *
choose(const struct fleet *fleet, const char *prefix)
{
	const struct state *state = &fleet->core->state;

	for (size_t i = 0; i < state->count; i++) {
		struct agent *agent =
		    fleet_find(fleet, state->workers[i]->name);

		if (agent != NULL && can_start(agent) &&
		    strncmp(agent->worker->name, prefix, strlen(prefix)) == 0 &&
		    !agent_flag(agent, "excluded_from_pool"))
			return agent;
	}
	return NULL;
}

/* Say for each candidate why it was not chosen. */
static void
refuse_none_free(
    const struct fleet *fleet, struct server_call *call, const char *prefix)
{
	const struct state *state = &fleet->core->state;
	cleanup_buf struct buf reason = BUF_INIT;
	size_t count = 0;

	buf_adds(&reason, "no worker is free: ");
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		const struct agent *agent = fleet_find(fleet, w->name);

		if (strncmp(w->name, prefix, strlen(prefix)) != 0)
			continue;
		buf_adds(&reason, count++ > 0 ? ", " : "");
		if (can_start(agent))
			buf_addf(&reason,
			    "%s is excluded from the pool (name it: llmc "
			    "start --worker %s)",
			    w->name, w->name);
		else
			buf_addf(&reason, "%s is %s", w->name,
			    worker_status_name(w->status));
	}
	if (state->count == 0)
		buf_adds(&reason,
		    "there are no workers yet; add one with: llmc add NAME");
	else if (count == 0)
		buf_addf(&reason, "no name of a worker begins with %s", prefix);
	serve_refuse(call, API_STATUS, "%s", reason.data);
}

static void
start(struct agent *agent, struct server_call *call, struct json_object *params)
{
	struct worker *w = agent->worker;
	cleanup_buf struct buf task = BUF_INIT;

	if (!request_text(call, params, "prompt", &task))
		return;
	xstrset(&w->reviewed, NULL);
	xstrset(&w->prompt, task.data);
	xstrset(
	    &w->prompt_command, json_string_or(params, "prompt_command", NULL));
	w->self_review = json_bool_or(
	    params, "self_review", agent_flag(agent, "self_review"));
	w->self_reviewed = false;
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		worker_commands_wrong_status(call, w, "it cannot start now");
	else
		op_start(agent, call);
}

static void
on_start(void *arg, struct server_call *call, struct json_object *params)
{
	struct fleet *fleet = arg;
	const char *name = json_string_or(params, "worker", NULL);
	const char *prefix = json_string_or(params, "prefix", "");
	struct agent *agent =
	    name != NULL ? fleet_find(fleet, name) : choose(fleet, prefix);

	if (agent == NULL && name != NULL)
		fleet_refuse_unknown(fleet, call, name);
	else if (agent == NULL)
		refuse_none_free(fleet, call, prefix);
	else if (worker_is_auto(agent->worker->name))
		worker_commands_wrong_status(call, agent->worker,
		    "auto workers get their tasks from the daemon");
	else if (agent_is_taken(agent) && worker_is_free(agent->worker))
		serve_refuse(call, API_BUSY,
		    "another operation on it is in progress; try again in a "
		    "moment");
	else if (!can_start(agent))
		worker_commands_wrong_status(call, agent->worker,
		    "only an idle worker can be given a task");
	else
		start(agent, call, params);
}

/* --- message, reject -------------------------------------------------- */

static void
answer_sent(struct agent *agent, struct server_call *call,
    enum worker_status before, struct json_object *result)
{

	json_set_string(result, "worker", agent->worker->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", worker_status_name(before));
	json_set_string(
	    result, "new_status", worker_status_name(agent->worker->status));
	serve_reply(agent->core, call, result);
}

/* The status a message leads to; COUNT = unchanged, its own = not allowed. */
static const enum worker_status message_leads_to[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = WORKER_IDLE,
	[WORKER_OFFLINE] = WORKER_OFFLINE,
	[WORKER_STARTING] = WORKER_STARTING,
	[WORKER_ACCEPTING] = WORKER_ACCEPTING,
	[WORKER_WORKING] = WORKER_STATUS_COUNT,
	[WORKER_REVIEWING] = WORKER_STATUS_COUNT,
	[WORKER_REJECTED] = WORKER_STATUS_COUNT,
	[WORKER_REBASING] = WORKER_STATUS_COUNT,
	[WORKER_NEEDS_REVIEW] = WORKER_REJECTED,
	[WORKER_NO_CHANGES] = WORKER_WORKING,
	[WORKER_PAUSED] = WORKER_STARTING,
	[WORKER_LIMITED] = WORKER_STARTING,
	[WORKER_ERROR] = WORKER_STARTING,
};

/* The status once the message is submitted. */
static enum worker_status
after_message(const struct worker *w, enum worker_status to)
{
	if (to == WORKER_STATUS_COUNT)
		return w->status;
	if (to != WORKER_STARTING)
		return to;
	return w->status != WORKER_ERROR &&
		(w->before == WORKER_REJECTED || w->before == WORKER_REBASING ||
		    w->before == WORKER_REVIEWING) ?
	    w->before :
	    WORKER_WORKING;
}

static void
on_message(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	const struct worker *w = agent->worker;
	enum worker_status before = w->status, to = message_leads_to[before];
	enum worker_status after = after_message(w, to);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *wanted = NULL;

	(void)arg;
	if (to == before) {
		wanted = xasprintf(
		    "%s has no task; give it one with: llmc start --worker %s",
		    w->name, w->name);
		worker_commands_wrong_status(call, w,
		    before == WORKER_IDLE || before == WORKER_OFFLINE ?
			wanted :
			"it cannot take a message now");
		return;
	}
	if (worker_commands_prompt_under_way(agent, call) ||
	    !request_text(call, params, "text", &text))
		return;
	if (to != WORKER_STATUS_COUNT && agent_move(agent, to, NULL) < 0) {
		worker_commands_wrong_status(
		    call, w, "it cannot take a message now");
		return;
	}
	agent_prompt(agent, text.data, false, after);
	answer_sent(agent, call, before, json_object_new_object());
}

static bool
may_reject(struct agent *agent, struct server_call *call)
{
	if (agent->worker->status == WORKER_NEEDS_REVIEW)
		return !worker_commands_prompt_under_way(agent, call);
	worker_commands_wrong_status(
	    call, agent->worker, "only finished work can be rejected");
	return false;
}

static void
reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	enum worker_status before = agent->worker->status;
	cleanup_buf struct buf feedback = BUF_INIT, text = BUF_INIT;
	struct json_object *result;

	(void)arg;
	if (!may_reject(agent, call) ||
	    !request_text(call, params, "text", &feedback))
		return;
	prompt_rejection(feedback.data, &text);
	agent_move(agent, WORKER_REJECTED, NULL);
	agent_prompt(agent, text.data, false, WORKER_REJECTED);
	result = json_object_new_object();
	json_set_string(
	    result, "commit_sha", json_string_or(params, "commit", NULL));
	answer_sent(agent, call, before, result);
}

static void
on_reject(void *arg, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	if (may_reject(agent, call))
		op_inspect(agent, call, params, 0, reject, arg);
}

void
worker_commands_register(struct fleet *fleet)
{
	serve_handle(fleet->core, "worker.add", on_add, fleet);
	serve_handle(fleet->core, "worker.start", on_start, fleet);
	fleet_handle(fleet, "worker.nuke", on_nuke, NULL);
	fleet_handle(fleet, "worker.reset", on_reset, NULL);
	fleet_handle(fleet, "worker.message", on_message, NULL);
	fleet_handle(fleet, "worker.reject", on_reject, NULL);
}
