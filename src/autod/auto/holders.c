/* SPDX-License-Identifier: ISC */

/* Which worker has which task. */

#include "base.h"
#include "agent.h"
#include "auto-private.h"
#include "auto.h"
#include "state.h"
#include "worker-op.h"

bool
auto_drives(const struct auto_mode *mode, const struct agent *agent)
{
	return mode->active && worker_is_auto(agent->worker->name);
}

struct task *
auto_task(const struct agent *agent)
{
	return state_task(&agent->core->state, agent->worker->task);
}

bool
auto_is_held(const struct auto_mode *mode, const struct task *task)
{
	const struct state *state = &mode->core->state;

	for (size_t i = 0; i < state->count; i++) {
		const char *held = state->workers[i]->task;

		if (text_is(held, task->id))
			return true;
	}
	return false;
}

struct agent *
auto_holder(const struct auto_mode *mode, const struct task *t)
{
	struct agent *agent = fleet_find(mode->fleet, t->worker);

	return t->step == TASK_ASSIGNED && agent != NULL &&
		auto_task(agent) == t ?
	    agent :
	    NULL;
}

void
auto_clear_worker(struct agent *agent)
{
	agent_move(agent, WORKER_OFFLINE, NULL);
	agent_forget(agent);
	op_reset(agent, NULL);
}
