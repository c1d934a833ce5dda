/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-card.h"
#include "agent-guard.h"
#include "agent.h"
#include "api.h"
#include "auto.h"
#include "event.h"
#include "guard.h"
#include "intake.h"
#include "plan-bind.h"
#include "plan-floor.h"
#include "plan-node.h"
#include "settings.h"
#include "task-run.h"
#include "task.h"
#include "team-private.h"
#include "tool-scope.h"

/* The tools of its task; NULL = it has none. */
static void
fill_tools(const struct agent *agent, const struct task_run *run,
    struct tool_scope *ret_tools)
{
	cleanup_agent_card struct agent_card *card = run == NULL ?
	    NULL :
	    agent_card_for(agent->core->settings, run->agent, run->role);

	*ret_tools = (struct tool_scope){ .all = true };
	if (run != NULL && tool_scope_of_run(card, run, ret_tools, NULL) < 0)
		log_debug("%s: its tools are not those of its card any more",
		    agent->worker->name);
}

static const struct task_run *
run_of(const struct agent *agent)
{
	const struct task *task = agent != NULL ? auto_task(agent) : NULL;

	return task != NULL ? task->run : NULL;
}

/* Is one of llmc's tools of use to the session? Goals or teams may be off, and
 * a worker that a person drives has no task to report about or to split. */
static bool
is_offered(
    const struct team_floor *floor, const struct agent *agent, const char *tool)
{
	static const struct {
		const char *tool;
		bool goals, team, task; /* what it needs */
	} needs[] = {
		{ "report_progress", .task = true },
		{ "report_completion", .task = true },
		{ "plan_review_needed", .goals = true, .task = true },
		{ "agent_spawn", .team = true, .task = true },
		{ "agent_status", .team = true, .task = true },
		{ "respond_orchestrator_request", .team = true, .task = true },
	};
	const struct settings *settings = floor->core->settings;
	bool goals = settings_bool(settings, "plan.enabled");
	bool has_task =
	    auto_task(agent) != NULL || auto_drives(floor->mode, agent);

	for (size_t i = 0; i < nitems(needs); i++)
		if (strcmp(needs[i].tool, tool) == 0)
			return (goals || !needs[i].goals) &&
			    (team_fleet_is_on(settings) || !needs[i].team) &&
			    (has_task || !needs[i].task);
	return goals;
}

void
team_guard_fill(void *arg, struct agent *agent, struct guard_policy *policy)
{
	struct team_floor *floor = arg;
	const struct task_run *run = run_of(agent);

	fill_tools(agent, run, &policy->tools);
	if (run != NULL && run->scope_paths != NULL)
		policy->scope_paths = strv_copy(strv_const(run->scope_paths));
	policy->llmc_scoped = true;
	for (const struct api_method *m = api_methods; m->name != NULL; m++)
		if ((m->flags & API_TOOL) &&
		    is_offered(floor, agent, strchr(m->name, '.') + 1))
			strv_add(&policy->llmc_tools, strchr(m->name, '.') + 1);
	team_reserve_fill(floor, agent, policy);
}

/* Why it has its own tools only; NULL = it is as free as its rank. */
static const char *
confined_by(const struct agent *agent, const struct task_run *run,
    const struct tool_scope *tools)
{
	if (worker_is_team(agent->worker->name) ||
	    (run != NULL && (run->parent != NULL || run->depth > 0)))
		return "works for another agent";
	if (run != NULL && run->scope_paths != NULL)
		return "has a task with a scope";
	return tool_scope_is_limited(tools) ? "has a task with limited tools" :
					      NULL;
}

int
team_guard_admits(void *arg, const char *worker,
    const struct api_method *method, struct err *err)
{
	const struct team_floor *floor = arg;
	const struct agent *agent = fleet_find(floor->fleet, worker);
	const struct task_run *run = run_of(agent);
	struct guard_policy policy = { 0 };
	cleanup_buf struct buf why = BUF_INIT;
	const char *limit;
	int r = 0;

	if (agent == NULL || (method->flags & API_OWN))
		return 0;
	fill_tools(agent, run, &policy.tools);
	if (method->flags & API_TOOL) {
		cleanup_free char *tool = xasprintf(
		    GUARD_LLMC_TOOLS "%s", strchr(method->name, '.') + 1);

		if (guard_tool(&policy, tool, &why) != GUARD_PASS)
			r = err_set(err, -EPERM, "%s", why.data);
	} else if ((limit = confined_by(agent, run, &policy.tools)) != NULL) {
		r = err_set(err, -EPERM,
		    "%s is refused: %s %s; use your tools, such as mail_send, "
		    "request_orchestrator and agent_spawn",
		    method->name, worker, limit);
	}
	guard_policy_release(&policy);
	return r;
}

void
team_guard_assigned(struct team_floor *floor, const struct event *event)
{
	struct task *task = state_task(&floor->core->state, event->task);
	struct plan_node *node = NULL;
	struct plan *plan = NULL;
	char **scope = NULL;

	if (task != NULL && task->run != NULL) {
		task->run->violations = 0;
		xstrset(&task->run->scope_checked, NULL);
	}
	if (task == NULL || !intake_is_planned(task) ||
	    floor->plan->state != PLAN_OPEN ||
	    plan_bind_find(
		plan_floor_set(floor->plan), task->key, &plan, &node, NULL) < 0)
		return;
	for (; scope == NULL && node != NULL; node = node->parent)
		scope = node->scope_paths;
	if (scope == NULL)
		return;
	strv_clear(&task_run_of(task)->scope_paths);
	task->run->scope_paths = strv_copy(strv_const(scope));
}

void
team_guard_refresh(void *arg)
{
	const struct team_floor *floor = arg;

	for (size_t i = 0; i < floor->fleet->count; i++)
		agent_guard_refresh(floor->fleet->agents[i]);
}

void
team_guard_patrol(const struct team_floor *floor)
{
	for (size_t i = 0; i < floor->fleet->count; i++)
		if (floor->fleet->agents[i]->unguarded)
			agent_guard_refresh(floor->fleet->agents[i]);
}
