/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "auto.h"
#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "landing-record.h"
#include "loop.h"
#include "mem.h"
#include "op-rebase.h"
#include "outcome.h"
#include "persist.h"
#include "plan-floor.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-family.h"
#include "team-floor.h"
#include "team-result.h"
#include "team-unbegun.h"
#include "team-wait.h"

#define AGAIN_MS 1000 /* until a worker that is taken is looked at again */

static void look(void *arg);

static const char all_ended_text[] =
    "All agents that you spawned have ended, and your branch has been "
    "rebased onto what has landed. Look at the results (git log, the tools "
    "agent_status and mail_inbox), and finish your task.";

static const char go_on_text[] =
    "Go on without them, or end your turn to wait for the others.";

struct team_wait {
	struct team_floor *floor;
	struct loop_call *look;
	struct loop_timer *timer; /* for the next run whose time is over */
};

static bool
is_rebase_due(const struct task *t)
{
	return t->run != NULL && t->run->rebase_due;
}

static bool
has_news(const struct task *t)
{
	return t->run != NULL && strv_count(t->run->untold) > 0;
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

	if (t == NULL || t->run == NULL)
		return false;
	if (is_busy(floor))
		return t->run->has_spawned;
	team_unbegun_look(floor, t);
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

int
team_wait_deliver(
    struct team_floor *floor, struct agent *agent, const char *text)
{
	struct task *t = auto_task(agent);

	if (!is_waiting(agent) || t == NULL || is_rebase_due(t)) {
		team_wait_look(floor);
		return -EAGAIN;
	}
	if (agent_move(agent, WORKER_STARTING, NULL) < 0)
		return -EAGAIN;
	task_run_of(t)->by_mail = true;
	agent_prompt(agent, text, false, WORKER_WORKING);
	return 0;
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
	if (t != NULL && t->run != NULL) {
		t->run->rebase_due = false;
		persist_changed(floor->core);
	}
	team_wait_look(floor);
}

/* --- looking ---------------------------------------------------------- */

static void
say_for_whom(struct agent *agent, const char *names)
{
	cleanup_free char *reason = xasprintf("waits for %s", names);
	struct worker *w = agent->worker;

	if (w->reason != NULL && strcmp(w->reason, reason) == 0)
		return;
	xstrset(&w->reason, reason);
	persist_changed(agent->core);
}

static bool
add_words(struct team_floor *floor, struct agent *agent, struct buf *out)
{
	const struct auto_mode *mode = floor->mode;

	return mode->team->stop_words != NULL &&
	    mode->team->stop_words(mode->team_arg, agent, out);
}

static void
add_news(const struct task *t, struct buf *out)
{
	if (!has_news(t))
		return;
	buf_adds(out, "Of the agents that you spawned:\n");
	for (char *const *news = t->run->untold; *news != NULL; news++)
		buf_addf(out, "- %s\n", *news);
	buf_adds(out, "\n");
}

/* It was told. */
static void
forget_news(struct team_floor *floor, struct task *t)
{
	if (!has_news(t))
		return;
	strv_clear(&t->run->untold);
	persist_changed(floor->core);
}

static void
consider(struct team_floor *floor, struct agent *agent)
{
	struct task *t = auto_task(agent);
	cleanup_buf struct buf names = BUF_INIT;
	cleanup_buf struct buf text = BUF_INIT;
	size_t count;

	if (t == NULL) {
		outcome_clear_worker(agent); /* it has lost its task */
		return;
	}
	if (is_busy(floor))
		return;
	team_unbegun_look(floor, t);
	count = team_family_open(floor, t->id, &names);
	if (count > 0)
		say_for_whom(agent, names.data);
	if (is_rebase_due(t)) {
		/* One that an earlier daemon began starts over. */
		op_rebase(agent, true, NULL, on_rebased, floor);
		return;
	}
	add_news(t, &text);
	if (!add_words(floor, agent, &text)) {
		if (count > 0 && !has_news(t))
			return;
		buf_adds(&text, count > 0 ? go_on_text : all_ended_text);
	}
	if (team_wait_deliver(floor, agent, text.data) == 0)
		forget_news(floor, t);
}

/* --- time limits ------------------------------------------------------ */

static bool
has_limit(const struct task *t)
{
	return t->run != NULL && t->run->timeout_s > 0;
}

/* Is its worker paused, and not by a person? */
static bool
is_paused(const struct worker *w)
{
	return w->status == WORKER_PAUSED && !w->on_hold;
}

/* Has it a time limit, and has it not finished its work? */
static bool
is_limited(
    const struct core *core, const struct agent *agent, const struct task *t)
{
	enum worker_status status = agent->worker->status;

	return t != NULL && has_limit(t) && t->step == TASK_ASSIGNED &&
	    landing_record_of_task(&core->state.landings, t->id) == NULL &&
	    (worker_in_turn(status) || status == WORKER_STARTING ||
		status == WORKER_OFFLINE || status == WORKER_WAITING ||
		status == WORKER_LIMITED || is_paused(agent->worker));
}

static int64_t
time_left(const struct task *t)
{
	return t->assigned_ms + t->run->timeout_s * INT64_C(1000) -
	    clock_wall_ms();
}

/* It is not tried again for a parent, which decides about that. agent: NULL =
 * no worker has it. */
static void
time_is_over(struct team_floor *floor, struct agent *agent, struct task *t)
{
	cleanup_free char *reason =
	    xasprintf("timeout: the run took longer than its %d seconds",
		t->run->timeout_s);

	t->run->timed_out = true;
	if (task_run_is_child(t))
		outcome_settle(floor->mode, t, OUTCOME_FAILED, reason);
	if (agent != NULL)
		outcome_attempt_failed(floor->mode, agent, reason);
}

/* The next look because of time, in ms; -1 = none. */
static int64_t
check_time(struct team_floor *floor, struct agent *agent)
{
	struct task *t = auto_task(agent);
	int64_t left;

	if (!is_limited(floor->core, agent, t))
		return -1;
	left = time_left(t);
	if (left > 0)
		return left;
	if (agent_is_taken(agent) || agent->adopting)
		return AGAIN_MS;
	time_is_over(floor, agent, t);
	return -1;
}

/* The same for one that no worker has, because it is over its budget. */
static int64_t
check_parked(struct team_floor *floor, struct task *t)
{
	int64_t left;

	if (t->step != TASK_PARKED || !task_run_is_child(t) || !has_limit(t))
		return -1;
	left = time_left(t);
	if (left > 0)
		return left;
	time_is_over(floor, NULL, t);
	return -1;
}

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void
check_times(struct team_wait *wait)
{
	struct team_floor *floor = wait->floor;
	const struct state *state = &floor->core->state;
	int64_t next = -1;

	for (size_t i = 0; i < floor->fleet->count; i++)
		next = sooner(next, check_time(floor, floor->fleet->agents[i]));
	for (size_t i = state->task_count; i-- > 0;)
		next = sooner(next, check_parked(floor, state->tasks[i]));
	if (next >= 0 && wait->timer == NULL)
		wait->timer = loop_after(floor->core->loop, next, look, wait);
	else if (next >= 0)
		loop_timer_restart(wait->timer, next);
}

/* --- all of them ------------------------------------------------------ */

static void
look_at(struct team_floor *floor, struct agent *agent)
{
	struct task *t = auto_task(agent);
	const struct worker *w = agent->worker;

	if (is_waiting(agent))
		consider(floor, agent);
	else if (t != NULL && task_run_is_child(t) && is_paused(w) &&
	    !agent_is_taken(agent))
		team_result_rests(
		    floor, t, w->reason != NULL ? w->reason : "it is paused");
}

static void
tell_parked(struct team_floor *floor)
{
	const struct state *state = &floor->core->state;

	for (size_t i = 0; i < state->task_count; i++) {
		const struct task *t = state->tasks[i];

		if (t->step == TASK_PARKED && task_run_is_child(t))
			team_result_rests(floor, t,
			    t->reason != NULL ? t->reason : "over budget");
	}
}

static void
look(void *arg)
{
	struct team_wait *wait = arg;
	struct team_floor *floor = wait->floor;

	if (!floor->begun || !floor->mode->begun || floor->core->stopping)
		return;
	/* Nobody goes on while all are paused. */
	for (size_t i = 0;
	     floor->core->state.paused == NULL && i < floor->fleet->count; i++)
		look_at(floor, floor->fleet->agents[i]);
	tell_parked(floor);
	check_times(wait);
}

void
team_wait_look(struct team_floor *floor)
{
	loop_call_request(floor->wait->look);
}

static void
on_event(const struct event *event, void *arg)
{
	const struct team_wait *wait = arg;

	if (event->kind == EVENT_WORKER_MOVED ||
	    event->kind == EVENT_TASK_ASSIGNED ||
	    event->kind == EVENT_TASK_FINISHED ||
	    event->kind == EVENT_CLEARED ||
	    (event->kind >= EVENT_GOAL_ACTIVE &&
		event->kind <= EVENT_NODE_CANCELLED))
		loop_call_request(wait->look);
}

struct team_wait *
team_wait_new(struct team_floor *floor)
{
	struct team_wait *wait = xcalloc(1, sizeof *wait);

	wait->floor = floor;
	wait->look = loop_call_new(floor->core->loop, look, wait);
	emit_subscribe(floor->core, on_event, wait);
	return wait;
}

void
team_wait_free(struct team_wait *wait)
{
	emit_unsubscribe(wait->floor->core, on_event, wait);
	loop_timer_free(wait->timer);
	loop_call_free(wait->look);
	free(wait);
}
