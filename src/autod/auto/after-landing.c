/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "backoff.h"
#include "emit.h"
#include "landing-record.h"
#include "landing.h"
#include "life.h"
#include "loop.h"
#include "outcome.h"
#include "persist.h"
#include "review.h"
#include "settings.h"
#include "turn-policy.h"
#include "work-record.h"

/* --- before the landing ---------------------------------------------- */

static void
emit_completed(const struct agent *agent, const struct task *t)
{
	AGENT_EMIT(agent, EVENT_TASK_COMPLETED, .task = t->id,
	    .result = worker_status_name(agent->worker->status));
}

/* What was verified or reviewed is what lands. NULL = nothing was. */
static const char *
verified_commit(const struct agent *agent, const struct task *t)
{
	return t->launch.contract != NULL || t->launch.scope_paths != NULL ||
		work_review_approved(t, agent->worker->commit) ?
	    agent->worker->commit :
	    NULL;
}

void
after_landing_begin(struct auto_mode *mode, struct agent *agent)
{
	struct task *t = auto_task(agent);

	if (t == NULL || !mode->active || mode->core->stopping)
		return;
	if (review_is(t)) {
		work_review_said(mode, agent);
		return;
	}
	if (agent->worker->status == WORKER_NO_CHANGES) {
		if (!turn_policy_verifies(mode, agent, NULL)) {
			struct worker *w = agent->worker;

			emit_completed(agent, t);
			outcome_without_commit(mode, t, t->last_words);
			agent_move(agent,
			    w->session.ready ? WORKER_IDLE : WORKER_OFFLINE,
			    NULL);
			xstrset(&w->task, NULL);
		}
		return;
	}
	if (agent->worker->status != WORKER_NEEDS_REVIEW ||
	    agent->worker->for_person || agent_is_taken(agent))
		return;
	if (mode->again != NULL && loop_timer_pending(mode->again))
		return; /* waiting for another git process */
	if (turn_policy_verifies(mode, agent, agent->worker->commit) ||
	    work_review_holds(mode, agent))
		return;
	emit_completed(agent, t);
	landing_begin(
	    mode->landings, agent, verified_commit(agent, t), false, NULL);
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
on_wait_over(void *arg)
{
	after_landing_resume(arg);
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
		EMIT(mode->core, EVENT_LANDING_WAITS,
		    .branch = core_branch(mode->core), .reason = end->err->msg);
		if (mode->again == NULL)
			mode->again = loop_after(
			    mode->core->loop, ms, on_wait_over, mode);
		else
			loop_timer_restart(mode->again, ms);
		return;
	}
	RAISE(mode->core, end->err->code == -EBUSY ? "git_lock" : "git",
	    .worker = end->agent != NULL ? end->agent->worker->name : NULL,
	    .task = end->task, .reason = end->err->msg);
}

/* Send the worker back with these words, unless its turns are used up: then the
 * attempt has failed. */
static bool
send_back(struct auto_mode *mode, struct agent *agent, const struct task *t,
    const char *words)
{
	if (task_attempt_turns(t) >=
	    settings_int(mode->core->settings, "auto.max_turns")) {
		outcome_attempt_failed(mode, agent, words);
		return false;
	}
	EMIT(mode->core, EVENT_SENT_BACK, .worker = agent->worker->name,
	    .task = t->id, .reason = words);
	return true;
}

/* The worker itself must change something before its work can land. */
static void
refused(struct auto_mode *mode, const struct landing_end *end)
{
	struct task *t = state_task(&mode->core->state, end->task);

	if (t == NULL || end->agent == NULL || t->step != TASK_ASSIGNED)
		return;
	if (send_back(mode, end->agent, t, end->err->msg)) {
		agent_move(end->agent, WORKER_REJECTED, NULL);
		agent_prompt(end->agent, end->err->msg, false, WORKER_REJECTED);
	}
}

/* It has another commit than the one that was verified or reviewed. */
static void
verify_again(struct auto_mode *mode, const struct landing_end *end)
{
	struct task *t = state_task(&mode->core->state, end->task);

	if (t == NULL || end->agent == NULL)
		return;
	if (t->attempt.verification == VERIFICATION_PASSED)
		t->attempt.verification = VERIFICATION_PENDING;
	if ((t->launch.contract != NULL || t->launch.scope_paths != NULL) &&
	    turn_policy_verifies(mode, end->agent, NULL))
		return;
	if (t->attempt.review == REVIEW_APPROVED) {
		xstrset(&end->agent->worker->commit, NULL);
		after_landing_begin(mode, end->agent);
	}
}

static void
failed(struct auto_mode *mode, const struct landing_end *end)
{
	switch (end->err->code) {
	case -EPERM:
		refused(mode, end);
		break;
	case -ESTALE: /* the caller has the answer already */
		verify_again(mode, end);
		break;
	case -EACCES: /* a person decides */
	case -EUCLEAN: /* its worker is put aside */
		EMIT(mode->core, EVENT_WORKER_PARKED,
		    .worker =
			end->agent != NULL ? end->agent->worker->name : NULL,
		    .reason = end->err->msg);
		break;
	default:
		wait_for_git(mode, end);
		break;
	}
}

enum landing_return
after_landing_ejected(void *arg, struct agent *agent, const char *task,
    const char *from, bool conflict, const char *words)
{
	struct auto_mode *mode = arg;
	struct task *t = state_task(&mode->core->state, task);

	if (t != NULL && !conflict)
		POLICY_TELL(mode, watch, ejected, t, agent, words);
	if (t != NULL && t->step == TASK_QUEUED) {
		struct core *core = mode->core;

		/* Its worker was released: another one goes on with it. */
		if (task_attempt_turns(t) <
		    settings_int(core->settings, "auto.max_turns")) {
			task_send_back(t, from, words, clock_wall_ms());
			task_ref_keep(mode, t);
			EMIT(core, EVENT_SENT_BACK, .worker = t->worker,
			    .task = t->id, .reason = words);
		} else {
			task_ref_salvage(mode, t, from);
			outcome_task_failed(mode, t, words);
		}
		persist_changed(core);
		scheduler_look(mode);
		return LANDING_RETURN_TAKEN;
	}
	if (t == NULL || !mode->active || t->step != TASK_ASSIGNED)
		return LANDING_RETURN_PERSON;
	if (agent == NULL) {
		task_give_back(t, words, clock_wall_ms());
		persist_changed(mode->core);
		scheduler_look(mode);
		return LANDING_RETURN_TAKEN;
	}
	return send_back(mode, agent, t, words) ? LANDING_RETURN_AGENT :
						  LANDING_RETURN_TAKEN;
}

bool
after_landing_keeps(void *arg, const char *task)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, task);

	return t != NULL && (mode->active || t->step == TASK_QUEUED);
}

bool
after_landing_frees(void *arg, struct agent *agent, const char *task)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	struct task *t = state_task(&core->state, task);

	if (!mode->begun || core->stopping || core->state.paused != NULL ||
	    !auto_drives(mode, agent) || t == NULL || t->step != TASK_ASSIGNED)
		return false;
	if (!scheduler_wants_worker(
		mode, worker_is_team(agent->worker->name))) {
		scheduler_look(mode); /* the source may have a task for it */
		return false;
	}
	task_queue(t, clock_wall_ms());
	xstrset(&agent->worker->task, NULL);
	persist_changed(core);
	return true;
}

void
after_landing_blocked(void *arg, const char *class, const char *worker,
    const char *task, const char *reason)
{
	struct auto_mode *mode = arg;

	if (mode->active)
		RAISE(mode->core, class, .worker = worker, .task = task,
		    .reason = reason);
}

static void
stop_red(struct auto_mode *mode, const char *words)
{
	RAISE(mode->core, "red_branch", .reason = words);
}

/* Once for a tree: a fix that does not help leads to another tree. */
void
after_landing_red(void *arg, const char *tree, const char *words, bool trial)
{
	struct auto_mode *mode = arg;
	struct state *state = &mode->core->state;
	const char *action =
	    settings_string(mode->core->settings, "auto.on_red");
	int64_t now = clock_wall_ms();
	cleanup_free char *id = NULL;
	struct task *fix;

	if (!mode->active || state_task_by_key(state, "fix", tree) != NULL)
		return;
	if (trial) {
		pause_for_trial(mode, words);
		return;
	}
	if (strcmp(action, "stop") == 0) {
		stop_red(mode, words);
		return;
	}
	if (strcmp(action, "revert") == 0) {
		cleanup_free char *reason = NULL;

		if (red_revert_begin(mode->landings, words))
			return;
		reason = xasprintf("%s\nNothing is taken back: %s.", words,
		    lands_by_pull(mode->core->settings) ?
			"auto.land is pull-request, so it only follows "
			"origin" :
			"its newest commit was not landed by a task");
		stop_red(mode, reason);
		return;
	}
	id = state_task_id(state);
	fix = task_for_red(id, tree, words, now);
	task_take(fix, now); /* it comes from no source */
	auto_add_task(mode, fix);
}

void
after_landing_unfixed(struct auto_mode *mode, const struct task *t)
{
	const char *red = mode->core->state.landings.red_told;
	cleanup_free char *words = NULL;

	if (!mode->active || strcmp(t->source, "fix") != 0 ||
	    !text_is(red, t->key))
		return;
	words = xasprintf("%s fails auto.check_command by itself, and the task "
			  "that was to fix it has failed: %s",
	    core_branch(mode->core), t->reason != NULL ? t->reason : "");
	RAISE(mode->core, "red_branch", .task = t->id, .reason = words);
}

void
after_landing_not_reverted(
    void *arg, const struct landing_item *item, const char *words)
{
	struct auto_mode *mode = arg;
	cleanup_free char *reason = NULL;

	if (item->undoes == 0) {
		post_accept_not_reverted(mode, item->head, words);
		return;
	}
	reason = xasprintf(
	    "%s\nTaking commits back does not help: %s", item->why, words);
	stop_red(mode, reason);
}

int
after_landing_priority(void *arg, const char *task)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, task);

	return (int)(t != NULL ? t->priority : PRIORITY_NORMAL);
}

bool
after_landing_proposes(
    void *arg, const struct landing_item *item, const char **ret_wait)
{
	const struct auto_mode *mode = arg;
	const struct task *t = state_task(&mode->core->state, item->task);
	bool proposes = t != NULL && mode->pulls != NULL &&
	    mode->pulls->proposes(mode->pulls_arg, t, ret_wait);

	if (*ret_wait == NULL && t != NULL && mode->feed_lost != NULL)
		*ret_wait = mode->feed_lost(mode->feed_arg, t->id);
	return proposes;
}

void
after_landing_propose(void *arg, const struct landing_item *item)
{
	struct auto_mode *mode = arg;
	struct task *t = state_task(&mode->core->state, item->task);
	struct agent *agent = fleet_find(mode->fleet, item->worker);

	if (t->step == TASK_ASSIGNED)
		task_queue(t, clock_wall_ms());
	if (agent != NULL && auto_task(agent) == t)
		xstrset(&agent->worker->task, NULL);
	xstrset(&t->from, item->commit);
	task_ref_keep(mode, t);
	mode->pulls->propose(mode->pulls_arg, t, item);
	persist_changed(mode->core);
}

/* --- after the landing ----------------------------------------------- */

void
after_landing_published(struct auto_mode *mode, const struct event *event)
{
	struct task *t = state_task(&mode->core->state, event->task);

	if (t == NULL)
		return;
	if (task_landed(t, event->commit, clock_wall_ms()) == 0) {
		xstrset(&t->move, event->to);
		xstrset(&t->held_by, event->ref);
		t->place = (int)event->count;
	}
	mode->git_tries = 0;
}

void
after_landing_ended(struct auto_mode *mode, const struct landing_end *end)
{
	if (end->task == NULL)
		return;
	if (end->result == LANDING_END_LANDED) {
		struct task *t = state_task(&mode->core->state, end->task);

		if (end->agent != NULL)
			xstrset(&end->agent->worker->task, NULL);
		persist_changed(mode->core);
		scheduler_look(mode);
		if (t == NULL || t->step != TASK_LANDED)
			return;
		if (t->commit == NULL)
			outcome_without_commit(mode, t, NULL);
		else
			post_accept_due(mode);
		return;
	}
	if (end->result == LANDING_END_PROPOSED)
		scheduler_look(mode);
	if (!mode->active)
		return;
	switch (end->result) {
	case LANDING_END_STUCK:
		RAISE(mode->core, "conflicts",
		    .worker = end->agent->worker->name, .task = end->task,
		    .reason = end->err->msg);
		break;
	case LANDING_END_FAILED:
		failed(mode, end);
		break;
	case LANDING_END_LANDED:
	case LANDING_END_PROPOSED:
	case LANDING_END_CONFLICT:
	case LANDING_END_EJECTED:
	case LANDING_END_CANCELLED:
		break;
	}
}
