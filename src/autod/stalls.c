/* SPDX-License-Identifier: ISC */

/* A worker with a task that gives no sign of life: interrupted and told to go
 * on, then started again, then given up. */
#include "agent.h"
#include "clock.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "stall.h"
#include "tmux.h"

static const char go_on[] =
    "There was no sign of life for a long time, so you were interrupted. Do "
    "not wait for what hung: find another way, and go on with the task from "
    "where it stopped.";

static void
interrupted(const struct err *err, void *arg)
{
	(void)err; /* a session that takes no key is started again next time */
	(void)arg;
}

static void
interrupt_now(void *arg)
{
	struct agent *agent = arg;
	const char *const keys[] = { "Escape", NULL };

	tmux_keys(
	    agent->daemon->tmux, agent->session_name, keys, interrupted, agent);
}

static void
act(struct agent *agent, enum stall_action action)
{
	struct worker *w = agent->worker;

	w->stalls++;
	agent->stall_ms = clock_mono_ms();
	w->session.open_tools = 0;
	daemon_changed(agent->daemon);
	if (action == STALL_INTERRUPT) {
		w->session.busy = false;
		daemon_then(agent->daemon, agent, interrupt_now, agent);
		/* One that waits to be told something is told that. */
		if (w->session.step == PROMPT_NONE)
			agent_prompt(agent, go_on, false,
			    w->status == WORKER_STARTING ? w->after :
							   w->status);
	} else if (action == STALL_RESTART) {
		agent_restart(agent);
	} else {
		log_fields(LOG_LEVEL_WARN,
		    "no sign of life, although it was interrupted and started "
		    "again: the attempt is given up",
		    "worker", w->name, "task", w->task, NULL);
		pilot_attempt_failed(agent, "no sign of life");
	}
}

void
stalls_judge(struct agent *agent)
{
	struct daemon *d = agent->daemon;
	const struct worker *w = agent->worker;
	int64_t now = clock_mono_ms();
	struct stall_facts facts = {
		.hook_ms = now - agent->hook_ms,
		.transcript_ms = now - agent->grew_ms,
		.step_ms =
		    agent->stall_ms > 0 ? now - agent->stall_ms : INT64_MAX,
		.tool_open = w->session.open_tools > 0,
		.stage = w->stalls,
	};
	enum stall_action action = stall_judge(&facts,
	    settings_duration(d->settings, "auto.worker_stall_timeout"));

	if (action == STALL_WAIT || agent->operating)
		return;
	log_fields(LOG_LEVEL_INFO, "no sign of life", "worker", w->name, "task",
	    w->task, "action", stall_action_name(action), NULL);
	record(d, LOG_LEVEL_INFO, "stall", "worker_name", w->name, "task",
	    w->task, "action", stall_action_name(action), NULL);
	act(agent, action);
}

/* A tool or a turn ended; that it took a prompt is not enough. */
void
stalls_sign_of_life(struct agent *agent)
{
	agent->stall_ms = 0;
	if (agent->worker->stalls == 0)
		return;
	agent->worker->stalls = 0;
	daemon_changed(agent->daemon);
}
