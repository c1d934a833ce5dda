/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "attempt.h"
#include "auto.h"
#include "landing.h"
#include "landing-record.h"
#include "loop.h"
#include "outcome.h"
#include "persist.h"
#include "plan-floor.h"
#include "review.h"
#include "task.h"
#include "team-private.h"

#define AGAIN_MS 1000 /* until a worker that is taken is looked at again */

static const char all_ended_text[] =
    "All agents that you spawned have ended, and your branch has been "
    "rebased onto what has landed. Look at the results (git log, the tools "
    "agent_status and mail_inbox), and finish your task.";

static const char go_on_text[] =
    "Go on without them, or end your turn to wait for the others.";

static bool
is_rebase_due(const struct task *t)
{
	return t->attempt.rebase_due;
}

static bool
has_news(const struct task *t)
{
	return strv_count(t->attempt.untold) > 0;
}

/* Is it not known just now who has not begun, and what mail there is? */
static bool
is_busy(const struct team_floor *floor)
{
	return floor->plan->state == PLAN_JOB;
}

bool
team_wait_waits(void *arg, struct agent *agent)
{
	struct team_floor *floor = arg;
	struct task *t = auto_task(agent);

	if (t == NULL)
		return false;
	if (is_busy(floor))
		return t->attempt.has_spawned;
	team_family_look(floor, t);
	return is_rebase_due(t) || has_news(t) ||
	    team_family_open(floor, t->id, NULL) > 0;
}

static bool
is_waiting(const struct agent *agent)
{
	return agent->worker->status == WORKER_WAITING &&
	    agent->worker->session.step == PROMPT_NONE &&
	    !agent_is_taken(agent) && !agent->core->stopping;
}

/* --- rebasing --------------------------------------------------------- */

/* One that cannot be rebased goes on without: its landing meets the same
 * conflict. */
static void
on_rebased(struct agent *agent, enum op_rebase_end end, const char *head,
    const struct err *err, struct server_call *call, void *arg)
{
	struct team_floor *floor = arg;
	struct task *t = auto_task(agent);

	(void)head;
	(void)err;
	(void)call;
	/* Also at the end of the daemon, when the floor is gone; otherwise the
	 * next patrol looks again. */
	if (end == OP_REBASE_CANCELLED)
		return;
	if (t != NULL) {
		t->attempt.rebase_due = false;
		persist_changed(floor->core);
	}
	team_floor_changed(floor);
}

/* --- looking ---------------------------------------------------------- */

/* It waits: is there anything for its next prompt? */
static void
consider(struct team_floor *floor, struct agent *agent)
{
	struct task *t = auto_task(agent);
	struct worker *w = agent->worker;
	cleanup_buf struct buf names = BUF_INIT, text = BUF_INIT;
	cleanup_free char *reason = NULL;
	size_t count;

	if (t == NULL) {
		outcome_clear_worker(agent); /* it has lost its task */
		return;
	}
	if (is_busy(floor))
		return;
	team_family_look(floor, t);
	count = team_family_open(floor, t->id, &names);
	reason = xasprintf("waits for %s", names.data);
	if (count > 0 && !text_is(w->reason, reason)) {
		xstrset(&w->reason, reason);
		persist_changed(floor->core);
	}
	if (is_rebase_due(t)) {
		/* One that an earlier daemon began starts over. */
		op_rebase(agent, true, NULL, on_rebased, floor);
		return;
	}
	if (has_news(t)) {
		buf_adds(&text, "Of the agents that you spawned:\n");
		for (char **news = t->attempt.untold; *news != NULL; news++)
			buf_addf(&text, "- %s\n", *news);
		buf_adds(&text, "\n");
	}
	if (!team_deliver_stop_words(floor, agent, &text)) {
		if (count > 0 && !has_news(t))
			return;
		buf_adds(&text, count > 0 ? go_on_text : all_ended_text);
	}
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return;
	t->attempt.by_mail = true;
	agent_prompt(agent, text.data, false, WORKER_WORKING);
	strv_clear(&t->attempt.untold);
	persist_changed(floor->core);
}

/* --- time limits ------------------------------------------------------ */

static bool
has_limit(const struct task *t)
{
	return t->launch.timeout_s > 0;
}

/* Is its worker paused, and not by a person? */
static bool
is_paused(const struct worker *w)
{
	return w->status == WORKER_PAUSED && !w->on_hold;
}

/* Has it a time limit, and has it not finished its work? Not a reviewer that
 * waits for a usage limit, a budget or an hour. */
static bool
is_limited(
    const struct core *core, const struct agent *agent, const struct task *t)
{
	const struct worker *w = agent->worker;
	enum worker_status status = w->status;

	if (t != NULL && review_is(t) &&
	    (status == WORKER_LIMITED || w->over_budget || w->off_hours))
		return false;
	return t != NULL && has_limit(t) && t->step == TASK_ASSIGNED &&
	    landing_record_of_task(&core->state.landings, t->id) == NULL &&
	    (worker_in_turn(status) || status == WORKER_STARTING ||
		status == WORKER_OFFLINE || status == WORKER_WAITING ||
		status == WORKER_LIMITED || is_paused(w));
}

/* The next look because of time, in ms; -1 = none. agent: NULL = no worker has
 * it, because it is over its budget. */
static int64_t
check_time(struct team_floor *floor, struct agent *agent, struct task *t)
{
	int64_t left, since;
	cleanup_free char *reason = NULL;

	if (agent != NULL ?
		!is_limited(floor->core, agent, t) :
		t->step != TASK_PARKED || !task_is_child(t) || !has_limit(t))
		return -1;
	/* What a reviewer waited for does not count. */
	since = agent != NULL && review_is(t) ? agent->worker->since_ms :
						t->assigned_ms;
	left = since + t->launch.timeout_s * INT64_C(1000) - clock_wall_ms();
	if (left > 0)
		return left;
	if (agent != NULL && (agent_is_taken(agent) || agent->adopting))
		return AGAIN_MS;
	/* It is not tried again for a parent, which decides about that. agent:
	 * NULL = no worker has it. */
	reason = xasprintf("timeout: the run took longer than its %d seconds",
	    t->launch.timeout_s);
	t->attempt.timed_out = true;
	if (task_is_child(t))
		outcome_settle(floor->mode, t, OUTCOME_FAILED, reason);
	if (agent != NULL)
		outcome_attempt_failed(floor->mode, agent, reason);
	return -1;
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void
on_time(void *floor)
{
	team_floor_changed(floor);
}

static void
check_times(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;
	int64_t next = -1;

	for (size_t i = 0; i < floor->fleet->count; i++) {
		struct agent *agent = floor->fleet->agents[i];

		next = sooner(next, check_time(floor, agent, auto_task(agent)));
	}
	for (size_t i = state->task_count; i-- > 0;)
		next = sooner(next, check_time(floor, NULL, state->tasks[i]));
	if (next >= 0 && floor->late == NULL)
		floor->late =
		    loop_after(floor->core->loop, next, on_time, floor);
	else if (next >= 0)
		loop_timer_restart(floor->late, next);
}

/* --- all of them ------------------------------------------------------ */

void
team_wait_look(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;

	if (!floor->begun || !floor->mode->begun || floor->core->stopping)
		return;
	/* No worker goes on while all are paused. */
	for (size_t i = 0; state->paused == NULL && i < floor->fleet->count;
	     i++) {
		struct agent *agent = floor->fleet->agents[i];
		const struct worker *w = agent->worker;
		const struct task *t = auto_task(agent);

		if (is_waiting(agent))
			consider(floor, agent);
		else if (t != NULL && task_is_child(t) && is_paused(w) &&
		    !agent_is_taken(agent))
			team_family_rests(floor, t,
			    w->reason != NULL ? w->reason : "it is paused");
	}
	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		if (t->step == TASK_PARKED && task_is_child(t))
			team_family_rests(floor, t,
			    t->ask == ASK_QUESTION ? TASK_ASKS :
				t->reason != NULL  ? t->reason :
						     "over budget");
	}
	check_times(floor);
}
