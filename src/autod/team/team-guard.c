/* SPDX-License-Identifier: ISC */

#include "agent-card.h"
#include "agent-guard.h"
#include "agent.h"
#include "auto.h"
#include "event.h"
#include "guard.h"
#include "intake.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "plan-bind.h"
#include "plan-floor.h"
#include "plan-node.h"
#include "plan-set.h"
#include "settings.h"
#include "state-auto.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-guard.h"
#include "team-reserve.h"
#include "tool-scope.h"

void
team_guard_fill(struct team_floor *floor, const struct agent *agent,
    struct guard_policy *policy)
{
	const struct settings *settings = floor->core->settings;
	const struct task *task = auto_task(agent);
	const struct task_run *run = task != NULL ? task->run : NULL;
	cleanup_agent_card struct agent_card *card = run == NULL ?
	    NULL :
	    agent_card_for(settings, run->agent, run->role);

	/* A card that has lost a tool since then leaves it with none. */
	if (run != NULL &&
	    tool_scope_of_run(card, run, &policy->tools, NULL) < 0)
		log_debug("%s: its tools are not those of its card any more",
		    agent->worker->name);
	if (run != NULL && run->scope_paths != NULL)
		policy->scope_paths = strv_copy(strv_const(run->scope_paths));
	if (!settings_bool(settings, "plan.enabled")) {
		policy->llmc_scoped = true;
		strv_add(&policy->llmc_tools, "report_progress");
		strv_add(&policy->llmc_tools, "report_completion");
	}
	team_reserve_fill(floor, agent, policy);
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
team_guard_changed(struct team_floor *floor)
{
	loop_call_request(floor->guard);
}

void
team_guard_refresh(void *arg)
{
	const struct team_floor *floor = arg;

	for (size_t i = 0; i < floor->fleet->count; i++)
		agent_guard_refresh(floor->fleet->agents[i]);
}
