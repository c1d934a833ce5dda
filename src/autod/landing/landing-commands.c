/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "json.h"
#include "landing-commands.h"
#include "landing.h"
#include "mem.h"
#include "persist.h"
#include "pick.h"
#include "serve.h"
#include "worker-commands.h"

static void
command_accept(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	struct worker *w = agent->worker;
	bool force = json_bool_or(params, "force", false);

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !(force && w->status == WORKER_NO_CHANGES) &&
	    !(force && w->status == WORKER_PAUSED)) {
		worker_commands_wrong_status(
		    call, w, "only finished work can be accepted");
		return;
	}
	if (worker_commands_prompt_under_way(agent, call))
		return;
	w->accept = ACCEPT_NONE; /* start from the beginning */
	landing_begin(landings, agent, call);
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
	const struct worker *w = agent->worker;
	const char *status = worker_status_name(w->status);
	struct json_object *result;

	if (w->status != WORKER_NEEDS_REVIEW &&
	    !json_bool_or(params, "force", false)) {
		worker_commands_wrong_status(
		    call, w, "it has nothing to review yet");
		return;
	}
	xstrset(&core->state.last_reviewed, w->name);
	persist_changed(core);
	if (w->status == WORKER_NEEDS_REVIEW) {
		landing_rebase(landings, agent, call);
		return;
	}
	result = json_object_new_object();
	json_set_string(result, "worker", w->name);
	json_set_bool(result, "message_sent", true);
	json_set_string(result, "previous_status", status);
	json_set_string(result, "new_status", status);
	serve_reply(core, call, result);
}

static void
command_pick(void *landings, struct agent *agent, struct server_call *call,
    struct json_object *params)
{
	(void)params;
	pick_begin(landings, agent, call);
}

void
landing_commands_register(struct landings *landings, struct fleet *fleet)
{
	fleet_handle(fleet, "worker.accept", command_accept, landings);
	fleet_handle(fleet, "worker.rebase", command_rebase, landings);
	fleet_handle(fleet, "worker.review", command_review, landings);
	fleet_handle(fleet, "worker.pick", command_pick, landings);
}
