/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-guard.h"
#include "agent.h"
#include "emit.h"
#include "guard.h"
#include "policy-file.h"

int
agent_guard_write(struct agent *agent, struct err *err)
{
	const struct fleet *fleet = agent->fleet;
	const struct worker *w = agent->worker;
	struct guard_policy policy = { .tools.all = true };
	cleanup_free char *file = NULL;
	int r;

	policy.tree = w->worktree != NULL ? realpath(w->worktree, NULL) : NULL;
	if (fleet->policy->guard != NULL)
		fleet->policy->guard(fleet->policy_arg, agent, &policy);
	r = policy_file_save(agent->core->workspace, w->name, &policy, err);
	guard_policy_release(&policy);
	if (r < 0) {
		file = policy_file_path(agent->core->workspace, w->name);
		unlink(file);
	}
	return r;
}

void
agent_guard_refresh(struct agent *agent)
{
	bool before = agent->unguarded;
	struct err err = { 0 };

	agent->unguarded = session_phase(agent->session) != SESSION_NONE &&
	    agent_guard_write(agent, &err) < 0;
	if (agent->unguarded && !before) {
		cleanup_free char *reason = xasprintf(
		    "its policy cannot be written, and no tool may be used "
		    "until it can: %s",
		    err.msg);

		/* It is denied everything meanwhile, so somebody should
		 * know. */
		emit(agent->core,
		    &(struct event){ .kind = EVENT_GUARD_DENIED,
			.worker = agent->worker->name,
			.task = agent->worker->task,
			.class = guard_kind_words[GUARD_UNKNOWN],
			.reason = reason });
	}
}
