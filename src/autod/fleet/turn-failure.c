/* SPDX-License-Identifier: ISC */

#include "agent.h"
#include "clock.h"
#include "emit.h"
#include "mem.h"
#include "persist.h"
#include "person.h"
#include "session-limit.h"
#include "turn-failure.h"

static const char over_text[] =
    "The interruption is over. Continue the task from where it stopped.";

static void
limit_worker(struct agent *agent, const char *text, int64_t until)
{
	struct worker *w = agent->worker;

	w->session.busy = false;
	if (w->status != WORKER_LIMITED &&
	    agent_move(agent, WORKER_LIMITED, text) < 0)
		return;
	w->until_ms = until;
	persist_changed(agent->core);
	agent_tick_later(agent, 1);
}

/* The limit applies to the whole account: workers that would reach it next wait
 * too. Those in a turn learn of it from their agent. */
static void
limit_others(struct fleet *fleet, const char *text, int64_t until)
{
	for (size_t i = 0; i < fleet->count; i++) {
		enum worker_status status = fleet->agents[i]->worker->status;

		if (status == WORKER_STARTING || status == WORKER_LIMITED ||
		    status == WORKER_IDLE)
			limit_worker(fleet->agents[i], text, until);
	}
}

static void
limit(struct agent *agent, enum limit_class class, const char *text)
{
	struct fleet *fleet = agent->fleet;
	int64_t until =
	    session_limit_look_ms(class, text, agent->worker->limit_tries);

	agent->worker->limit_tries++; /* its own, not those of the others */
	limit_worker(agent, text, until);
	emit(agent->core,
	    &(struct event){ .kind = EVENT_WAITING,
		.worker = agent->worker->name,
		.reason = text,
		.until_unix = until / 1000 });
	person_tell(agent->core,
	    &(struct notice){
		.class = class == LIMIT_OUTAGE ? NOTICE_OUTAGE : NOTICE_LIMIT,
		.why = text,
		.worker = agent->worker->name,
		.task = agent->worker->task });
	if (fleet->policy->limited != NULL)
		fleet->policy->limited(fleet->policy_arg, agent,
		    class == LIMIT_OUTAGE, text, until);
	if (class == LIMIT_USAGE)
		limit_others(fleet, text, until);
}

void
turn_failure(struct agent *agent, const char *error, const char *text)
{
	const struct fleet *fleet = agent->fleet;
	enum limit_class class = limit_classify(error, text);
	cleanup_free char *reason = NULL;

	emit(agent->core,
	    &(struct event){ .kind = EVENT_TURN_FAILED,
		.worker = agent->worker->name,
		.error = error,
		.class = limit_class_name(class),
		.text = text });
	if (class == LIMIT_USAGE || class == LIMIT_OUTAGE) {
		limit(agent, class, text);
		return;
	}
	agent->worker->session.busy = false;
	persist_changed(agent->core);
	if (class != LIMIT_AUTH && fleet->policy->turn_error != NULL &&
	    fleet->policy->turn_error(fleet->policy_arg, agent, text))
		return;
	reason = xasprintf("%s%s%s%s",
	    text[0] != '\0' ? text : "the turn failed without a message",
	    class == LIMIT_AUTH ?
		"; log in with: claude auth login, then: llmc message " :
		"",
	    class == LIMIT_AUTH ? agent->worker->name : "",
	    class == LIMIT_AUTH ? " continue" : "");
	agent_move(agent, WORKER_PAUSED, reason);
	agent->login_lost = class == LIMIT_AUTH;
	emit(agent->core,
	    &(struct event){ .kind = class == LIMIT_AUTH ? EVENT_LOGIN_NEEDED :
							   EVENT_WORKER_PARKED,
		.worker = agent->worker->name,
		.reason = reason });
}

void
turn_failure_over(struct agent *agent)
{
	struct worker *w = agent->worker;
	enum worker_status before = w->before;

	emit(agent->core,
	    &(struct event){ .kind = EVENT_LIMIT_OVER, .worker = w->name });
	w->until_ms = 0;
	if (before == WORKER_IDLE || before == WORKER_NEEDS_REVIEW ||
	    before == WORKER_NO_CHANGES || before == WORKER_OFFLINE) {
		agent_move(agent, before, NULL);
		return;
	}
	agent_move(agent, WORKER_STARTING, NULL);
	if (w->session.step == PROMPT_NONE)
		agent_prompt(agent, over_text, false,
		    before == WORKER_STARTING ? w->after : before);
}
