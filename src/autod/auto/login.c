/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "auto.h"
#include "failure.h"
#include "login.h"
#include "worker.h"

/* Claude Code lacks its login, or something else that only a person can give
 * (launch-block.h). */
static bool
lacks_login(const struct auto_mode *mode, const struct agent *agent)
{
	return (agent->login_lost || agent->worker->blocked) &&
	    agent->worker->status == WORKER_PAUSED && auto_drives(mode, agent);
}

/* The first worker that waits for a login while no other has a task. */
static const struct agent *
find_last(const struct auto_mode *mode)
{
	const struct agent *found = NULL;

	for (size_t i = 0; i < mode->fleet->count; i++) {
		const struct agent *agent = mode->fleet->agents[i];

		if (lacks_login(mode, agent))
			found = found != NULL ? found : agent;
		else if (auto_drives(mode, agent) &&
		    agent->worker->task != NULL)
			return NULL;
	}
	return found;
}

void
login_look(struct auto_mode *mode)
{
	const struct agent *agent = find_last(mode);

	if (agent == NULL || mode->failing)
		return;
	failure_raise(mode->core,
	    &(struct failure){ .class = "login",
		.worker = agent->worker->name,
		.task = agent->worker->task,
		.status = -1,
		.reason = agent->worker->reason });
}
