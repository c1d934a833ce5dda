/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "agent.h"
#include "hierarchy.h"
#include "intake.h"
#include "json.h"
#include "mem.h"
#include "plan-bind.h"
#include "plan-floor.h"
#include "plan.h"
#include "run-status.h"
#include "settings.h"
#include "task-run.h"
#include "team-floor.h"
#include "team-kin.h"
#include "team-mail.h"
#include "team-request.h"
#include "team-row.h"

static void
set(struct json_object *row, const char *key, const char *text)
{
	if (text != NULL && *text != '\0')
		json_set_string(row, key, text);
}

/* What its last report says of its end. */
static void
add_reports(struct json_object *row, const struct task_run *run)
{
	struct json_object *completion;

	if (run->verification != VERIFICATION_NONE)
		json_set_string(row, "verification",
		    verification_state_words[run->verification]);
	if (run->progress != NULL)
		json_set(row, "progress", json_object_get(run->progress));
	if (run->report == NULL)
		return;
	completion = json_object_new_object();
	set(completion, "status", json_string_or(run->report, "status", NULL));
	set(completion, "confidence",
	    json_string_or(run->report, "confidence", NULL));
	json_set(row, "completion", completion);
}

static void
add_worker(struct json_object *row, struct agent *agent)
{
	const struct worker *worker = agent->worker;

	json_set_string(row, "worker", worker->name);
	json_set_string(
	    row, "workerStatus", worker_status_name(worker->status));
	set(row, "session_id", worker->session.id);
}

static void
add_status(const struct team_floor *floor, const char *actor, bool words,
    struct run_facts *facts, struct json_object *row)
{
	cleanup_free char *asks =
	    team_requests_reason(floor->requests, actor, words);
	const char *reason = NULL;
	enum run_status status;

	facts->pending = team_requests_pending(floor->requests, actor);
	facts->pending_reason = asks;
	status = run_status(facts, &reason);
	json_set_string(row, "runStatus", run_status_words[status]);
	json_set_int(row, "pendingRequestCount", (int64_t)facts->pending);
	set(row, "blockedReason", reason);
}

static struct agent *
agent_of(const struct team_floor *floor, const struct task *task)
{
	struct agent *agent = task != NULL && task->worker != NULL ?
	    fleet_find(floor->fleet, task->worker) :
	    NULL;

	return agent != NULL && agent->worker->task != NULL &&
		strcmp(agent->worker->task, task->id) == 0 ?
	    agent :
	    NULL;
}

static void
know_worker(struct run_facts *facts, const struct agent *agent)
{
	if (agent == NULL)
		return;
	facts->worker = agent->worker->status;
	facts->worker_reason = agent->worker->reason;
}

struct json_object *
team_row_kin(struct team_floor *floor, const struct team_kin *kin, bool words)
{
	const struct task_run *run = kin->run;
	struct json_object *row = json_object_new_object();
	struct agent *agent = agent_of(floor, kin->task);
	struct run_facts facts = { .task = kin->task,
		.filed = kin->outcome,
		.filed_reason = kin->reason,
		.worker = WORKER_STATUS_COUNT,
		.node = kin->node->status,
		.node_reason = kin->node->blocked_reason };

	json_set_string(row, "actor_id", run->actor);
	set(row, "parent_actor_id", run->parent_actor);
	json_set_int(row, "depth", run->depth);
	json_set_int(row, "max_depth", run->max_depth);
	json_set_int(row, "local_max_depth", run->local_max_depth);
	set(row, "role", run->role);
	set(row, "label", run->label);
	set(row, "agent", run->agent);
	set(row, "title", kin->node->name);
	set(row, "goal", kin->plan->goal->id);
	set(row, "node", kin->node->id);
	set(row, "task", kin->task != NULL ? kin->task->id : NULL);
	if (agent != NULL)
		add_worker(row, agent);
	know_worker(&facts, agent);
	add_status(floor, run->actor, words, &facts, row);
	add_reports(row, run);
	return row;
}

/* Its node, if its task is one of a plan. */
static void
add_node(struct json_object *row, const struct team_floor *floor,
    const struct task *task)
{
	struct plan *plan = NULL;
	struct plan_node *node = NULL;

	if (floor->plan->state != PLAN_OPEN || !intake_is_planned(task) ||
	    plan_bind_find(
		plan_floor_set(floor->plan), task->key, &plan, &node, NULL) < 0)
		return;
	set(row, "goal", plan->goal->id);
	set(row, "node", node->id);
}

struct json_object *
team_row_root(
    struct team_floor *floor, struct agent *agent, const struct task *task)
{
	struct json_object *row = json_object_new_object();
	int max = (int)settings_int(floor->core->settings, "team.max_depth");
	const struct hierarchy_place place = hierarchy_root_worker(max);
	cleanup_free char *actor =
	    task != NULL ? task_run_actor(task) : team_mail_actor(agent);
	struct run_facts facts = { .task = task,
		.worker = WORKER_STATUS_COUNT,
		.node = NODE_STATUS_COUNT };

	json_set_string(row, "actor_id", actor);
	json_set_string(row, "parent_actor_id", ACTOR_OVERSEER);
	json_set_int(row, "depth", place.depth);
	json_set_int(row, "max_depth", place.max_depth);
	json_set_int(row, "local_max_depth", place.local_max_depth);
	if (task != NULL) {
		set(row, "title", task->title);
		set(row, "task", task->id);
		add_node(row, floor, task);
	} else if (agent != NULL) {
		set(row, "title", agent->worker->prompt_command);
	}
	if (agent != NULL)
		add_worker(row, agent);
	know_worker(&facts, agent);
	add_status(floor, actor, false, &facts, row);
	if (task != NULL && task->run != NULL)
		add_reports(row, task->run);
	return row;
}
