/* SPDX-License-Identifier: ISC */

#include "json.h"
#include "plan-call.h"
#include "plan-floor.h"
#include "plan-tick.h"
#include "reconcile.h"
#include "serve.h"
#include "tick-commands.h"

static struct json_object *
decision_json(const struct reconcile_decision *d)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "kind", reconcile_kind_words[d->kind]);
	json_set_string(json, "code", d->code != NULL ? d->code : "");
	json_set_string(json, "reason", d->reason != NULL ? d->reason : "");
	json_set_string(json, "goal", d->goal_id);
	json_set_string(json, "node", d->node_id);
	json_set_string(json, "assignment", d->assignment_id);
	json_set_string(json, "worker", d->worker);
	json_set_string(json, "dispatch", d->dispatch_id);
	json_set_string(json, "text", d->text);
	return json;
}

static void
on_ticked(const struct reconcile_result *result, void *arg)
{
	struct json_object *json = json_object_new_object();
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < result->decision_count; i++)
		json_object_array_add(
		    list, decision_json(&result->decisions[i]));
	json_set_string(json, "gate", reconcile_gate_reason(result->gate));
	json_set(json, "decisions", list);
	plan_call_reply(arg, json);
}

static void
on_tick(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	bool dry_run = json_bool_or(params, "dry_run", false);

	if (dry_run ? plan_call_begin(floor, call) :
		      plan_call_begin_change(floor, call))
		plan_tick_now(floor, "asked for by a person", dry_run,
		    on_ticked, plan_call_hold(floor, call));
}

static void
on_wake(void *arg, struct server_call *call, struct json_object *params)
{
	struct plan_floor *floor = arg;

	(void)params;
	if (!plan_call_begin(floor, call))
		return;
	plan_tick_wake(floor->tick, "woken by a person");
	serve_reply(floor->core, call, NULL);
}

void
tick_commands_register(struct plan_floor *floor)
{
	serve_handle(floor->core, "overseer.tick", on_tick, floor);
	serve_handle(floor->core, "overseer.wake", on_wake, floor);
}
