/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-message.h"
#include "agent.h"

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
	[WORKER_WAITING] = WORKER_WORKING,
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

bool
agent_message_fits(const struct agent *agent)
{
	enum worker_status status = agent->worker->status;

	return message_leads_to[status] != status;
}

int
agent_message(struct agent *agent, const char *text)
{
	enum worker_status to = message_leads_to[agent->worker->status];
	enum worker_status after = after_message(agent->worker, to);

	if (!agent_message_fits(agent) ||
	    (to != WORKER_STATUS_COUNT && agent_move(agent, to, NULL) < 0))
		return -EINVAL;
	agent_prompt(agent, text, false, after);
	return 0;
}
