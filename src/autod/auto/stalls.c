/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "auto-private.h"
#include "auto.h"
#include "emit.h"
#include "landing.h"
#include "op-park-task.h"
#include "outcome.h"
#include "persist.h"
#include "settings.h"
#include "silence.h"

static const char continue_text[] =
    "There was no sign of life for a long time, so you were interrupted. Do "
    "not wait for the command that hung: find another way, and continue the "
    "task from where it stopped.";

static void
act(struct auto_mode *mode, struct agent *agent, enum progress_step step)
{
	static const char reason[] = "no sign of life";
	struct worker *w = agent->worker;

	w->stalls++;
	agent->stall_ms = clock_mono_ms();
	w->session.open_tools = 0;
	persist_changed(mode->core);
	if (step == STEP_REDIRECT) {
		w = agent->worker;
		w->session.busy = false;
		agent_interrupt(agent);
		/* If another prompt is on its way, that one is enough. */
		if (w->session.step == PROMPT_NONE)
			agent_prompt(agent, continue_text, false,
			    w->status == WORKER_STARTING ? w->after :
							   w->status);
	} else if (step == STEP_RESTART) {
		agent_restart(agent);
	} else {
		emit(mode->core,
		    &(struct event){ .kind = EVENT_STALL_GIVEN_UP,
			.worker = w->name,
			.task = w->task });
		if (outcome_is_last(mode, auto_task(agent)))
			op_park_task(mode, agent, ASK_FAILURE, reason);
		else
			outcome_attempt_failed(mode, agent, reason);
	}
}

/* Does it wait for somebody's answer? */
static bool
asks(const struct auto_mode *mode, const struct agent *agent)
{
	return mode->team->asks != NULL &&
	    mode->team->asks(mode->team_arg, agent);
}

bool
stalls_silence(void *arg, struct agent *agent, const struct session_life *life)
{
	struct auto_mode *mode = arg;
	const struct worker *w = agent->worker;
	const struct settings *settings = mode->core->settings;
	struct silence_limits limits = silence_limits(
	    settings_duration(settings, "auto.worker_stall_timeout"),
	    settings_duration(settings, "overseer.stall_timeout"));
	struct silence_facts facts = {
		.quiet_ms = life->quiet_ms,
		.step_ms = agent->stall_ms > 0 ?
		    clock_mono_ms() - agent->stall_ms :
		    INT64_MAX,
		.tool_open = life->tool_open,
		.stage = w->stalls,
	};
	enum progress_step step;

	if (w->task == NULL || !auto_drives(mode, agent))
		return false;
	if (asks(mode, agent))
		return true;
	step = silence_next(&facts, &limits);
	if (step == STEP_NONE || agent_is_taken(agent))
		return true;
	emit(mode->core,
	    &(struct event){ .kind = EVENT_STALL,
		.worker = w->name,
		.task = w->task,
		.action = progress_step_words[step] });
	act(mode, agent, step);
	return true;
}

void
stalls_progressed(void *arg, struct agent *agent)
{
	(void)arg;
	agent->stall_ms = 0;
}

static int64_t
sign_of(const struct agent *agent, int64_t now)
{
	struct session_life life;
	int64_t sign;

	if (agent->op != NULL)
		return now; /* it has a deadline of its own */
	session_life(agent->session, NULL, &life);
	sign = life.quiet_ms < now ? now - life.quiet_ms : 0;
	return sign > agent->stall_ms ? sign : agent->stall_ms;
}

int64_t
stalls_sign_ms(const struct auto_mode *mode)
{
	int64_t now = clock_mono_ms(), latest = 0, sign;

	if (mode->post != NULL || landings_checking(mode->landings))
		return now; /* check_timeout and post_accept_timeout end them */
	for (size_t i = 0; i < mode->fleet->count; i++) {
		const struct agent *agent = mode->fleet->agents[i];

		if (agent->worker->task == NULL || !auto_drives(mode, agent))
			continue;
		sign = asks(mode, agent) ? now : sign_of(agent, now);
		if (sign > latest)
			latest = sign;
	}
	return latest;
}
