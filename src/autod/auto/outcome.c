/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "attempt.h"
#include "auto-private.h"
#include "auto.h"
#include "book-history.h"
#include "contract.h"
#include "emit.h"
#include "failure.h"
#include "intake.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"
#include "outcome.h"
#include "park.h"
#include "persist.h"
#include "person.h"
#include "review.h"
#include "settings.h"

/* --- outcomes -------------------------------------------------------- */

static void
on_outcomes_written(void *arg)
{
	struct auto_mode *mode = arg;
	struct core *core = mode->core;
	struct err err = { 0 };
	int r;

	for (size_t i = core->state.task_count; i-- > 0;) {
		struct task *t = core->state.tasks[i];

		if (t->step != TASK_SETTLING ||
		    (review_is(t) && !t->attempt.announced) ||
		    (mode->hosts != NULL &&
			!mode->hosts->settles(mode->hosts_arg, t)))
			continue;
		r = intake_settle(mode, t, &err);
		if (r == -EINPROGRESS)
			continue;
		if (r == 0 && !review_is(t))
			POLICY_TELL(mode, team, files, t);
		if (r < 0) {
			/* The next patrol tries again; the work itself is
			 * safe. */
			EMIT(core, EVENT_TASK_NOT_TOLD, .task = t->id,
			    .reason = err.msg);
			continue;
		}
		if (!review_is(t))
			book_file_task(core->book, t);
		/* What nobody merges is not lost with its branch. */
		if (t->from != NULL && t->outcome != OUTCOME_LANDED &&
		    !review_is(t) &&
		    (t->outcome != OUTCOME_NO_CHANGES || t->pull != NULL))
			task_ref_salvage(mode, t, t->from);
		task_ref_drop(mode, t);
		state_remove_task(&core->state, t->id);
		persist_changed(core);
	}
	loop_call_request(mode->look);
}

void
outcome_settle_due(struct auto_mode *mode)
{
	if (intake_count(mode, TASK_SETTLING) > 0)
		persist_then(mode->core, mode, on_outcomes_written, mode);
}

/* It ended without success: if it was to fix a branch that still fails, nothing
 * can land, and that is a failure. */
static void
check_fix(struct auto_mode *mode, const struct task *t)
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

/* The task already has its outcome: count it, emit the event, do the rest. */
static void
outcome_settled(struct auto_mode *mode, const struct task *t)
{
	struct core *core = mode->core;
	const struct task *purse =
	    task_purse(core->state.tasks, core->state.task_count, t);
	cleanup_free char *event = t->outcome == OUTCOME_ABORTED ?
	    xasprintf("aborted/%s", t->id) :
	    NULL;
	bool good =
	    t->outcome == OUTCOME_LANDED || t->outcome == OUTCOME_NO_CHANGES;

	if (review_is(t)) {
		persist_changed(core);
		loop_call_request(mode->look); /* its author is told */
		return;
	}
	if (purse != NULL)
		task_family_ended(state_task(&core->state, purse->id), t);
	core->state.outcomes[t->outcome]++;
	core->state.last_task_completion_unix = clock_wall_ms() / 1000;
	if (good) {
		alike_clear(&mode->alike);
		mode->done++;
	} else {
		mode->failed++;
	}
	EMIT(core, EVENT_TASK_FINISHED, .task = t->id,
	    .outcome = task_outcome_name(t->outcome), .worker = t->worker,
	    .title = t->title, .commit = t->commit,
	    .reason = good ? NULL : t->reason);
	mode->worth_asking = true; /* it may have blocked another task */
	/* The plan decides what it means. */
	if (!good && !verification_is_parents(t) &&
	    (!intake_is_planned(t) || task_is_child(t)))
		person_tell(core,
		    &(struct notice){ .class = NOTICE_TASK,
			.id = event,
			.informs = t->dropped,
			.why = t->reason,
			.worker = t->worker,
			.task = t->id });
	if (!good)
		check_fix(mode, t);
	persist_changed(core);
	outcome_settle_due(mode);
}

void
outcome_settle(struct auto_mode *mode, struct task *t,
    enum task_outcome outcome, const char *reason)
{
	if (task_settle(t, outcome, reason, clock_wall_ms()) == 0)
		outcome_settled(mode, t);
}

/* A person decides about it. */
static void
park(struct auto_mode *mode, struct task *t, const char *reason)
{
	struct core *core = mode->core;
	cleanup_free char *event =
	    xasprintf("failed/%s-%d", t->id, t->attempts);

	task_park(t, ASK_FAILURE, NULL, reason, clock_wall_ms());
	EMIT(core, EVENT_TASK_PARKED, .task = t->id, .worker = t->worker,
	    .reason = reason);
	person_tell(core,
	    &(struct notice){ .class = NOTICE_TASK,
		.id = event,
		.why = reason,
		.worker = t->worker,
		.task = t->id });
	persist_changed(core);
}

/* What becomes of it when no attempt is left. */
static enum auto_next
next_of(const struct auto_mode *mode, const struct task *t)
{
	if (intake_is_planned(t))
		return POLICY_ASK(mode, policy, used_up, t);
	if (t->launch.recovery == NULL ||
	    strcmp(t->launch.recovery, "retry") == 0)
		return AUTO_END;
	/* Without a plan, it is a person who plans it anew. */
	return strcmp(t->launch.recovery, "reassign") == 0 && t->avoid == NULL ?
	    AUTO_REASSIGN :
	    AUTO_ASK;
}

/* No attempt at it is left. False: it is to be settled. */
static bool
goes_on(struct auto_mode *mode, struct task *t, const char *why)
{
	enum auto_next next = next_of(mode, t);
	cleanup_free char *reason = xstrdup(why);

	t->dropped |= next == AUTO_REPLACED;
	if (next == AUTO_END || next == AUTO_REPLACED ||
	    !task_attempt_failed(t, reason, INT_MAX, clock_wall_ms()))
		return false;
	if (next == AUTO_ASK) {
		park(mode, t, reason);
		return true;
	}
	xstrset(&t->avoid, t->worker);
	task_note(t, "given to another worker than", t->avoid, clock_wall_ms());
	EMIT(mode->core, EVENT_TASK_RETRY, .worker = t->worker, .task = t->id,
	    .reason = reason, .attempt = t->attempts);
	return true;
}

bool
outcome_is_believed(const struct task *t)
{
	cleanup_said struct said said = { 0 };

	if (t->held_by != NULL || verification_has_result(t))
		return true;
	if (intake_is_planned(t))
		return false;
	said_of_task(t, &said);
	return t->step == TASK_LANDED || said.what == SAID_NO_CHANGE;
}

/* Its own word is not enough: what is neither on the branch nor explained was
 * not done. */
void
outcome_without_commit(
    struct auto_mode *mode, struct task *t, const char *words)
{
	cleanup_buf struct buf reason = BUF_INIT;

	if (t->held_by == NULL && verification_gave_up(t, NULL, &reason)) {
		outcome_settle(mode, t, OUTCOME_FAILED, reason.data);
		return;
	}
	if (outcome_is_believed(t)) {
		outcome_settle(mode, t, OUTCOME_NO_CHANGES, words);
		return;
	}
	buf_adds(&reason, "it ended without a change");
	if (intake_is_planned(t))
		buf_addf(&reason,
		    "; if none is needed, type: llmc goal node done %s --reason WHY",
		    t->key);
	else
		buf_adds(&reason, " and did not say why none is needed");
	if (words != NULL)
		buf_addf(&reason, " (its worker says: %s)", words);
	if (!goes_on(mode, t, reason.data))
		outcome_settle(mode, t, OUTCOME_FAILED, reason.data);
}

/* --- attempts -------------------------------------------------------- */

static int
max_attempts(const struct auto_mode *mode)
{
	return (int)settings_int(mode->core->settings, "auto.max_attempts");
}

static void
fail(struct auto_mode *mode, struct task *t, const char *reason, int max)
{
	/* Its author counts its reviewers. */
	max = review_is(t) ? t->attempts : max + t->attempts_allowed;
	if (t->attempts >= max && goes_on(mode, t, reason))
		return;
	if (!task_attempt_failed(t, reason, max, clock_wall_ms())) {
		outcome_settled(mode, t);
		return;
	}
	EMIT(mode->core, EVENT_TASK_RETRY, .worker = t->worker, .task = t->id,
	    .reason = reason, .attempt = t->attempts);
}

void
outcome_task_failed(struct auto_mode *mode, struct task *t, const char *reason)
{
	if (!review_is(t) && pause_task_failed(mode, t, reason))
		task_give_back(t, reason, clock_wall_ms());
	else
		fail(mode, t, reason, max_attempts(mode));
}

void
outcome_undone(struct auto_mode *mode, struct task *t, const char *reason)
{
	fail(mode, t, reason, max_attempts(mode));
}

void
outcome_attempt_stuck(
    struct auto_mode *mode, struct agent *agent, const char *reason)
{
	struct task *t = auto_task(agent);

	xstrset(&t->avoid, t->worker);
	outcome_undone(mode, t, reason);
	auto_clear_worker(agent);
	loop_call_request(mode->look);
}

bool
outcome_is_last(const struct auto_mode *mode, const struct task *t)
{
	return !review_is(t) &&
	    t->attempts - t->attempts_allowed >= max_attempts(mode) &&
	    !outcome_is_handed_on(mode, t);
}

bool
outcome_is_handed_on(const struct auto_mode *mode, const struct task *t)
{
	enum auto_next next = next_of(mode, t);

	return next == AUTO_REPLACED || next == AUTO_REASSIGN;
}

void
outcome_hand_on(struct auto_mode *mode, struct agent *agent, const char *reason)
{
	struct task *t = auto_task(agent);

	fail(mode, t, reason, t->attempts - t->attempts_allowed);
	auto_clear_worker(agent);
	loop_call_request(mode->look);
}

/* A task that has landed in the meantime did not fail. */
void
outcome_attempt_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason)
{
	struct task *t = auto_task(agent);

	if (t != NULL && t->step == TASK_ASSIGNED)
		outcome_task_failed(mode, t, reason);
	auto_clear_worker(agent);
	loop_call_request(mode->look);
}

/* Other tasks have other trees: it does not count as a failure alike. */
void
outcome_tree_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason)
{
	struct task *t = auto_task(agent);
	cleanup_free char *kept = agent_put_aside(agent);
	cleanup_free char *words = kept != NULL ?
	    xasprintf("%s; its worktree cannot be used and is kept in %s",
		reason != NULL ? reason : "git has failed", kept) :
	    xasprintf("%s; its worktree cannot be used",
		reason != NULL ? reason : "git has failed");

	agent->spoilt = false;
	if (t != NULL && t->step == TASK_ASSIGNED)
		outcome_undone(mode, t, words);
	auto_clear_worker(agent);
	loop_call_request(mode->look);
}

void
outcome_contract_failed(struct auto_mode *mode, struct agent *agent, bool again)
{
	struct task *t = auto_task(agent);
	cleanup_buf struct buf reason = BUF_INIT;

	verification_reason(t, &reason);
	if (again)
		fail(mode, t, reason.data, t->attempts + 1);
	else if (!goes_on(mode, t, reason.data))
		outcome_settle(mode, t, OUTCOME_FAILED, reason.data);
	auto_clear_worker(agent);
	loop_call_request(mode->look);
}

/* What is in the landing queue lands or comes back by itself. */
void
outcome_worker_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason)
{
	const struct landing_record *record = &mode->core->state.landings;
	struct task *t = auto_task(agent);

	if (t == NULL || t->step != TASK_ASSIGNED ||
	    landing_record_of_task(record, t->id) != NULL)
		return;
	outcome_task_failed(mode, t, reason);
	xstrset(&agent->worker->task, NULL);
	persist_changed(mode->core);
}

void
outcome_worker_lost(
    struct auto_mode *mode, struct agent *agent, const char *reason)
{
	const struct landing_record *record = &mode->core->state.landings;
	struct task *t = auto_task(agent);
	int64_t now = clock_wall_ms();

	if (t == NULL)
		return;
	/* The queue still has its work, because the branch is moving with it or
	 * its check has failed: it lands or comes back without this worker. */
	if (t->step == TASK_ASSIGNED &&
	    landing_record_of_task(record, t->id) != NULL)
		task_queue(t, now);
	else if (t->step == TASK_ASSIGNED)
		task_give_back(t, reason, now);
	xstrset(&agent->worker->task, NULL);
	persist_changed(mode->core);
	loop_call_request(mode->look);
}

/* May it be taken out of everybody's hands? As outcome_drop() says. */
static int
may_stop(const struct auto_mode *mode, const struct task *t,
    const struct agent *held, struct err *err)
{
	const struct landing_item *item =
	    landing_record_of_task(&mode->core->state.landings, t->id);

	if (t->step == TASK_LANDED)
		return err_set(err, -EALREADY, "it has landed already");
	if (t->step == TASK_SETTLING)
		return err_set(err, -EALREADY, "it has ended already: %s",
		    task_outcome_name(t->outcome));
	if (held != NULL && agent_is_taken(held))
		return err_set(err, -EBUSY,
		    "another operation on its worker is in progress; "
		    "try again in a moment");
	if (item != NULL && item->step == ITEM_QUEUED && item->commit != NULL)
		return err_set(err, -EINPROGRESS,
		    "its work is landing, and a branch that moves is not "
		    "stopped; look at it with: llmc landing");
	return 0;
}

int
outcome_drop(
    struct auto_mode *mode, struct task *t, const char *reason, struct err *err)
{
	struct agent *held = auto_holder(mode, t);
	const struct landing_item *item =
	    landing_record_of_task(&mode->core->state.landings, t->id);
	cleanup_free char *work = NULL; /* that no worker has */
	int r = may_stop(mode, t, held, err);

	if (r < 0)
		return r;
	if (item != NULL && held == NULL)
		work = xstrdup(item->head);
	if (!landings_withdraw(mode->landings, t->id))
		return err_set(
		    err, -EBUSY, "its work is landing; try again in a moment");
	if (work != NULL)
		xstrset(&t->from, work);
	if (held != NULL)
		auto_clear_worker(held);
	t->dropped = true;
	outcome_settle(mode, t, OUTCOME_ABORTED, reason);
	return 0;
}

int
outcome_hold(struct auto_mode *mode, struct task *t, const char *reason)
{
	struct agent *held = auto_holder(mode, t);
	const struct landing_item *item =
	    landing_record_of_task(&mode->core->state.landings, t->id);
	cleanup_free char *work = item != NULL ? xstrdup(item->head) : NULL;
	int64_t now = clock_wall_ms();
	int r = may_stop(mode, t, held, NULL);

	if (r < 0)
		return r;
	if (t->step == TASK_QUEUED && item == NULL)
		return -EALREADY; /* it is a pull request */
	/* What it waits for is asked first; a check that runs ends first. */
	if (t->step == TASK_PARKED || task_asks(t) ||
	    (held != NULL && item == NULL &&
		!worker_in_turn(held->worker->status)) ||
	    !landings_withdraw(mode->landings, t->id))
		return -EBUSY;
	t->answered = false;
	if (held != NULL && work == NULL) {
		op_park_task(mode, held, ASK_APPROVAL, reason);
		return 0;
	}
	if (t->step == TASK_QUEUED)
		task_send_back(t, work, reason, now);
	r = task_park(t, ASK_APPROVAL, work, reason, now);
	if (r < 0)
		return -EBUSY;
	if (work != NULL)
		task_ref_keep(mode, t);
	EMIT(mode->core, EVENT_TASK_PARKED, .task = t->id, .worker = t->worker,
	    .reason = reason);
	if (held != NULL)
		auto_clear_worker(held);
	persist_changed(mode->core);
	loop_call_request(mode->look);
	return 0;
}

int
outcome_take_back(struct auto_mode *mode, struct task *t, const char *reason)
{
	struct agent *held = auto_holder(mode, t);
	const struct landing_item *item =
	    landing_record_of_task(&mode->core->state.landings, t->id);
	cleanup_free char *work =
	    item != NULL && held == NULL ? xstrdup(item->head) : NULL;
	int64_t now = clock_wall_ms();
	int r = may_stop(mode, t, held, NULL);

	if (r < 0)
		return r;
	if (!landings_withdraw(mode->landings, t->id))
		return -EBUSY;
	if (work != NULL)
		task_ref_salvage(mode, t, work);
	if (held != NULL)
		auto_clear_worker(held);
	if (t->step == TASK_PARKED)
		task_move(t, TASK_WAITING, now, NULL);
	else
		task_give_back(t, reason, now);
	xstrset(&t->from, NULL);
	persist_changed(mode->core);
	loop_call_request(mode->look);
	return 0;
}

void
outcome_pull_back(
    struct auto_mode *mode, struct task *t, const char *words, const char *asks)
{
	int64_t now = clock_wall_ms();

	if (task_send_back(t, t->from, words, now) < 0)
		return;
	t->turns_allowed = t->turns_before + t->turns;
	EMIT(mode->core, EVENT_SENT_BACK, .worker = t->worker, .task = t->id,
	    .reason = words);
	if (asks != NULL && task_park(t, ASK_APPROVAL, NULL, asks, now) == 0)
		EMIT(mode->core, EVENT_TASK_PARKED, .task = t->id,
		    .worker = t->worker, .reason = asks);
	persist_changed(mode->core);
	loop_call_request(mode->look);
}

void
outcome_landed_elsewhere(
    struct auto_mode *mode, struct agent *agent, const char *commit)
{
	struct task *t = auto_task(agent);

	if (t == NULL)
		return;
	xstrset(&t->held_by, commit);
	if (commit != NULL || !intake_is_planned(t))
		outcome_settle(mode, t, OUTCOME_LANDED, "landed by hand");
	else
		outcome_without_commit(mode, t, NULL);
}
