/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "json.h"
#include "landing-commands.h"
#include "landing.h"
#include "mem.h"
#include "op-inspect.h"
#include "op-review.h"
#include "persist.h"
#include "pick.h"
#include "queue-view.h"
#include "revert.h"
#include "serve.h"
#include "worker-commands.h"

static bool
may_accept(struct agent *agent, struct server_call *call, bool force)
{
	const struct worker *w = agent->worker;

	if (w->status == WORKER_NEEDS_REVIEW ||
	    (force && w->status == WORKER_NO_CHANGES) ||
	    (force && w->status == WORKER_PAUSED))
		return !worker_commands_prompt_under_way(agent, call);
	worker_commands_wrong_status(
	    call, w, "only finished work can be accepted");
	return false;
}

static void
accept_seen(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct worker *w = agent->worker;
	const char *seen = json_string_or(params, "commit", NULL);
	bool force = json_bool_or(params, "force", false);

	if (!may_accept(agent, call, force))
		return;
	if (seen != NULL)
		xstrset(&w->commit, seen);
	/* Forced: uncommitted changes are part of it. */
	landing_begin(
	    landings, agent, force ? NULL : seen, force || seen != NULL, call);
}

static void
command_accept(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	bool force = json_bool_or(params, "force", false);

	if (may_accept(agent, call, force))
		op_inspect(agent, call, params,
		    OP_INSPECT_BRANCH | (force ? 0 : OP_INSPECT_CLEAN),
		    accept_seen, landings);
}

static void
command_rebase(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)params;
	if (agent->worker->status != WORKER_NEEDS_REVIEW)
		worker_commands_wrong_status(
		    call, agent->worker, "only finished work can be rebased");
	else
		landing_rebase(landings, agent, call);
}

static void
command_review(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct core *core = agent->core;
	struct worker *w = agent->worker;
	const char *status = worker_status_name(w->status);
	struct json_object *result;

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !json_bool_or(params, "force", false)) {
		worker_commands_wrong_status(
		    call, w, "it has nothing to review yet");
		return;
	}
	xstrset(&core->state.last_reviewed, w->name);
	xstrset(&w->reviewed, NULL); /* until it is shown */
	persist_changed(core);
	if (w->status == WORKER_NEEDS_REVIEW) {
		landing_review(landings, agent, call);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "worker", w->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", status);
	json_set_string(result, "new_status", status);
	op_review(agent, call, result);
}

static void
pick_seen(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	pick_begin(
	    landings, agent, json_string_or(params, "commit", NULL), call);
}

static void
command_pick(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	op_inspect(agent, call, params, 0, pick_seen, landings);
}

static void
on_list(void *landings, struct server_call *call, struct json_object *params)
{
	(void)params;
	queue_view_answer(landings, call);
}

static void
on_revert(void *landings, struct server_call *call, struct json_object *params)
{
	revert_begin(landings, json_string_or(params, "commit", ""), call);
}

void
landing_commands_register(struct landings *landings, struct fleet *fleet)
{
	fleet_handle(fleet, "worker.accept", command_accept, landings);
	fleet_handle(fleet, "worker.rebase", command_rebase, landings);
	fleet_handle(fleet, "worker.review", command_review, landings);
	fleet_handle(fleet, "worker.pick", command_pick, landings);
	serve_handle(landings->core, "landing.list", on_list, landings);
	serve_handle(landings->core, "landing.revert", on_revert, landings);
}
