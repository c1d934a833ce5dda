/* SPDX-License-Identifier: ISC */

#include <errno.h>

#include "after-landing.h"
#include "agent.h"
#include "auto.h"
#include "backoff.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "failure.h"
#include "fleet.h"
#include "landing.h"
#include "loop.h"
#include "mem.h"
#include "outcome.h"
#include "persist.h"
#include "post-accept.h"
#include "scheduler.h"

/* --- waiting --------------------------------------------------------- */

static void
on_wait_over(void *arg)
{
	after_landing_resume(arg);
}

static void
wait_ms(struct auto_mode *mode, int64_t ms)
{
	if (mode->again == NULL)
		mode->again =
		    loop_after(mode->core->loop, ms, on_wait_over, mode);
	else
		loop_timer_restart(mode->again, ms);
}

static int64_t
dirty_wait_ms(const struct core *core)
{
	return core->state.source_repo_dirty_retry_after_unix * 1000 -
	    clock_wall_ms();
}

static void
forget_dirt(struct core *core)
{
	core->state.source_repo_dirty_retry_after_unix = 0;
	core->state.source_repo_dirty_backoff_secs = 0;
	core->state.source_repo_dirty_retry_count = 0;
	persist_changed(core);
}

/* --- before the landing ---------------------------------------------- */

static void
emit_completed(const struct agent *agent, const struct task *t)
{
	emit(agent->core,
	    &(struct event){ .kind = EVENT_TASK_COMPLETED,
		.worker = agent->worker->name,
		.task = t->id,
		.result = worker_status_name(agent->worker->status) });
}

static void
end_without_changes(struct auto_mode *mode, struct agent *agent, struct task *t)
{
	struct worker *w = agent->worker;

	emit_completed(agent, t);
	forget_dirt(mode->core);
	outcome_settle(mode, t, OUTCOME_NO_CHANGES, t->last_words);
	agent_move(
	    agent, w->session.ready ? WORKER_IDLE : WORKER_OFFLINE, NULL);
	xstrset(&w->task, NULL);
}

void
after_landing_begin(struct auto_mode *mode, struct agent *agent)
{
	struct task *t = auto_task(agent);

	if (t == NULL || !mode->active || mode->core->stopping)
		return;
	if (agent->worker->status == WORKER_NO_CHANGES) {
		end_without_changes(mode, agent, t);
		return;
	}
	if (agent->worker->status != WORKER_NEEDS_REVIEW ||
	    agent_is_taken(agent))
		return;
	if (dirty_wait_ms(mode->core) > 0) {
		wait_ms(mode, dirty_wait_ms(mode->core));
		return;
	}
	if (mode->again != NULL && loop_timer_pending(mode->again))
		return; /* waiting for another git process */
	emit_completed(agent, t);
	landing_begin(mode->landings, agent, NULL);
}

void
after_landing_resume(struct auto_mode *mode)
{
	for (size_t i = 0; i < mode->fleet->count; i++) {
		struct agent *agent = mode->fleet->agents[i];

		if (auto_drives(mode, agent) && !agent_is_taken(agent) &&
		    agent->worker->session.step == PROMPT_NONE)
			after_landing_begin(mode, agent);
	}
}

/* --- when it cannot land --------------------------------------------- */

static void
wait_for_checkout(struct auto_mode *mode, const struct landing_end *end)
{
	struct core *core = mode->core;
	struct state *state = &core->state;
	cleanup_free char *reason = NULL;
	int64_t ms = 0;

	if (!backoff_next(
		&backoff_dirty, state->source_repo_dirty_retry_count, &ms)) {
		failure_raise(core,
		    &(struct failure){ .class = "dirty_checkout",
			.worker = end->agent->worker->name,
			.task = end->task,
			.status = -1,
			.reason = end->err->msg });
		return;
	}
	state->source_repo_dirty_retry_count++;
	state->source_repo_dirty_backoff_secs = ms / 1000;
	state->source_repo_dirty_retry_after_unix =
	    (clock_wall_ms() + ms) / 1000;
	persist_changed(core);
	reason = xasprintf("Source repository has uncommitted changes. Will "
			   "retry in %lld seconds (attempt %d/%d). %s",
	    (long long)(ms / 1000), state->source_repo_dirty_retry_count,
	    backoff_dirty.tries_max, end->err->msg);
	emit(core,
	    &(struct event){ .kind = EVENT_WAITING,
		.reason = reason,
		.until_unix = state->source_repo_dirty_retry_after_unix });
	wait_ms(mode, ms);
}

/* A lock file of another git process goes away; anything else needs a person or
 * a repair. */
static void
wait_for_git(struct auto_mode *mode, const struct landing_end *end)
{
	int64_t ms = 0;

	if (end->err->code == -EBUSY &&
	    backoff_next(&backoff_git, mode->git_tries, &ms)) {
		mode->git_tries++;
		emit(mode->core,
		    &(struct event){ .kind = EVENT_LANDING_WAITS,
			.worker = end->agent->worker->name,
			.reason = end->err->msg });
		wait_ms(mode, ms);
		return;
	}
	failure_raise(mode->core,
	    &(struct failure){
		.class = end->err->code == -EBUSY ? "git_lock" : "git",
		.worker = end->agent->worker->name,
		.task = end->task,
		.status = -1,
		.reason = end->err->msg });
}

/* --- after the landing ----------------------------------------------- */

void
after_landing_published(
    struct auto_mode *mode, struct agent *agent, const char *commit)
{
	struct task *t = auto_task(agent);

	if (t == NULL)
		return;
	task_landed(t, commit, clock_wall_ms());
	forget_dirt(mode->core);
	mode->git_tries = 0;
	/* The landing may have removed what the others waited for. */
	if (mode->again != NULL && loop_timer_pending(mode->again))
		loop_timer_restart(mode->again, 1);
}

static void
landed(struct auto_mode *mode, const struct landing_end *end)
{
	struct task *t = state_task(&mode->core->state, end->task);

	xstrset(&end->agent->worker->task, NULL);
	persist_changed(mode->core);
	scheduler_look(mode);
	if (t == NULL || t->step != TASK_LANDED)
		return;
	if (t->commit == NULL)
		outcome_settle(mode, t, OUTCOME_NO_CHANGES, NULL);
	else
		post_accept_begin(mode, t);
}

void
after_landing_ended(struct auto_mode *mode, const struct landing_end *end)
{
	if (end->task == NULL)
		return;
	if (end->result == LANDING_LANDED) {
		landed(mode, end);
		return;
	}
	if (!mode->active)
		return;
	switch (end->result) {
	case LANDING_DIRTY:
		wait_for_checkout(mode, end);
		break;
	case LANDING_STUCK:
		failure_raise(mode->core,
		    &(struct failure){ .class = "conflicts",
			.worker = end->agent->worker->name,
			.task = end->task,
			.status = -1,
			.reason = end->err->msg });
		break;
	case LANDING_FAILED:
		wait_for_git(mode, end);
		break;
	case LANDING_LANDED:
	case LANDING_CONFLICT:
	case LANDING_CANCELLED:
		break;
	}
}
