/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "attempt.h"
#include "contract.h"
#include "emit.h"
#include "id.h"
#include "intake.h"
#include "persist.h"
#include "plan-private.h"
#include "plan-progress.h"
#include "plan.h"
#include "settings.h"
#include "turn.h"

#define REASON_MAX 2000 /* bytes of why a node is blocked */

/* --- finding ---------------------------------------------------------- */

int
plan_bind_key(
    const char *key, char **ret_goal, char **ret_node, struct err *err)
{
	const char *slash = key != NULL ? strchr(key, '/') : NULL;

	if (slash == NULL)
		return err_set(err, -EINVAL, "the task names no node");
	*ret_goal = xstrndup(key, (size_t)(slash - key));
	*ret_node = xstrdup(slash + 1);
	return 0;
}

int
plan_bind_find(const struct plan_set *set, const char *key,
    struct plan **ret_plan, struct plan_node **ret_node, struct err *err)
{
	cleanup_free char *goal = NULL, *id = NULL;
	struct plan_node *node;
	struct plan *plan;
	int r = plan_bind_key(key, &goal, &id, err);

	if (r < 0)
		return r;
	plan = plan_set_plan(set, goal);
	node = plan != NULL ? plan_named(plan, id) : NULL;
	if (node == NULL)
		return err_set(err, -ENOENT, "there is no node %s", key);
	*ret_plan = plan;
	*ret_node = node;
	return 0;
}

struct plan_node *
plan_bind_of(const struct plan_floor *floor, const struct task *task)
{
	struct plan_node *node = NULL;
	struct plan *plan;

	if (!intake_is_planned(task) ||
	    plan_bind_find(
		plan_floor_set(floor), task->key, &plan, &node, NULL) < 0 ||
	    node == NULL || !text_is(node->work.task, task->id))
		return NULL;
	return node;
}

struct task *
plan_bind_task(const struct plan_floor *floor, const struct plan_node *node)
{
	struct task *t = node->work.task == NULL ?
	    NULL :
	    state_task(&floor->core->state, node->work.task);

	return t != NULL && plan_bind_of(floor, t) == node ? t : NULL;
}

bool
plan_bind_wants_worker(const struct plan_set *set, const struct plan_node *node)
{
	const struct plan_dispatch *d = plan_node_last_dispatch(node);

	return plan_node_is_assigned(node) && node->work.task == NULL &&
	    d != NULL && d->mode == DISPATCH_SPAWN &&
	    d->result == DISPATCH_PENDING &&
	    plan_set_plan(set, node->goal_id)->goal->status == GOAL_ACTIVE;
}

/* --- beginning -------------------------------------------------------- */

static int64_t
now_after(const struct plan_node *node)
{
	int64_t now = clock_wall_ms(), last = node->work.last_dispatch_ms;

	return now > last ? now : last + 1;
}

static int
check(const struct plan_floor *floor, const struct plan *plan,
    const struct plan_node *node, bool late, struct err *err)
{
	if (plan_node_is_assigned(node)) {
		const struct task *t = plan_bind_task(floor, node);

		/* Another task on the node may be about to end. */
		if (t != NULL &&
		    (t->step == TASK_SETTLING || t->step == TASK_LANDED))
			return err_set(
			    err, -EINPROGRESS, "%s is ending", t->id);
		return err_set(err, -ESTALE, "somebody has it");
	}
	if (!plan_node_leaf(node) || !node_status_open(node->status) ||
	    !goal_status_open(plan->goal->status))
		return err_set(err, -ESTALE, "its node is %s",
		    node_status_name(node->status));
	if (!late && node->status == NODE_BLOCKED)
		return err_set(err, -ESTALE,
		    "its node is blocked; type: llmc goal node unblock %s/%s",
		    node->goal_id, node->id);
	if (!late && !plan_node_ready(plan, node))
		return err_set(err, -ESTALE,
		    "its node is not ready; see: llmc why %s/%s", node->goal_id,
		    node->id);
	return 0;
}

static bool
is_begun(const struct task *t)
{
	return t->step != TASK_OFFERED && t->step != TASK_WAITING;
}

bool
plan_bind_was_taken(const struct task *t, const struct plan_node *node)
{
	return is_begun(t) && node->work.id != NULL &&
	    node->work.created_ms > t->created_ms &&
	    !text_is(node->work.task, t->id);
}

/* What was done was taken back, or is to be done again. */
static bool
reopens(const struct plan_node *node, const char *commit)
{
	return !plan_node_is_assigned(node) && node->status == NODE_DONE &&
	    commit != NULL;
}

int
plan_bind_again(
    const struct plan_floor *floor, const struct task *t, struct err *err)
{
	struct plan_node *node = NULL;
	struct plan *plan = NULL;

	if (plan_bind_find(plan_floor_set(floor), t->key, &plan, &node, NULL) <
	    0)
		return err_set(err, -ESTALE, "its node is gone");
	if (plan_bind_wants_worker(plan_floor_set(floor), node) ||
	    reopens(node, task_earlier_commit(t)))
		return 0;
	return check(floor, plan, node, false, err);
}

int
plan_bind(
    struct plan_floor *floor, const struct task *t, bool late, struct err *err)
{
	struct plan_node *node = NULL;
	struct plan *plan = NULL;
	int r;
	int64_t now;
	char ulid[ID_ULID_SIZE];
	cleanup_free char *id = NULL;
	const struct reconcile_facts none = { 0 };
	struct reconcile_config config;
	struct reconcile_result result;

	if (plan_bind_find(plan_floor_set(floor), t->key, &plan, &node, err) <
		0 ||
	    node == NULL)
		return err_set(err, -ESTALE, "its node is gone");
	if (plan_bind_was_taken(t, node))
		return err_set(err, -ESTALE, "somebody has had it since");
	/* A task that somebody has begun is the one that it was taken from. */
	if (!is_begun(t) &&
	    plan_bind_wants_worker(plan_floor_set(floor), node)) {
		xstrset(&node->work.task, t->id);
		plan_apply_work(floor, node);
		return 0;
	}
	if (reopens(node, t->landed_before) &&
	    plan_change_node(floor, node, plan_edit_reopen, "landing",
		t->reason != NULL ? t->reason : "taken back", err) < 0)
		return err_set(err, -ESTALE, "its node is done");
	r = check(floor, plan, node, late, err);
	if (r < 0)
		return r;
	now = clock_wall_ms();
	id_ulid(now, ulid);
	id = xasprintf("A_%s", ulid);
	plan_node_assign(node, id, now);
	xstrset(&node->work.task, t->id);
	if (t->text != NULL)
		plan_node_instruct(node, t->text);
	reconcile_config_read(floor->core->settings, &config);
	reconcile_now(plan_floor_set(floor), node, &none, &config,
	    now_after(node), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	if (t->worker != NULL)
		plan_bind_worker(floor, node, t);
	return 0;
}

void
plan_bind_worker(
    struct plan_floor *floor, struct plan_node *node, const struct task *t)
{
	struct plan_work *work = &node->work;
	struct plan_dispatch *d = plan_node_last_dispatch(node);
	cleanup_free char *run = NULL;
	struct reconcile_config config;

	if (t->worker == NULL || t->attempts == 0 || t->step != TASK_ASSIGNED ||
	    !plan_node_is_assigned(node))
		return;
	run = task_attempt_id(t);
	if (text_is(work->worker, t->worker) && text_is(work->run_id, run))
		return;
	reconcile_config_read(floor->core->settings, &config);
	if (t->attempts > 1) {
		node->attempts++;
		plan_book_record(floor, BOOK_NODE, node->goal_id, node->id);
	}
	xstrset(&work->worker, t->worker);
	xstrset(&work->run_id, run);
	work->last_dispatch_ms = clock_wall_ms();
	work->updated_ms = work->last_dispatch_ms;
	work->expected_update_ms = work->last_dispatch_ms +
	    (work->idle_after_ms > 0 ? work->idle_after_ms :
				       config.idle_after_ms);
	if (d != NULL && d->mode == DISPATCH_SPAWN &&
	    d->result == DISPATCH_PENDING)
		plan_dispatch_ended(floor, node, d, DISPATCH_ACCEPTED, NULL);
	plan_apply_work(floor, node);
}

/* --- waiting for a person --------------------------------------------- */

void
plan_bind_move_node(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, enum node_status to, const char *why)
{
	const struct plan_node_move move = { .to = to,
		.reason = to == NODE_BLOCKED ? why : NULL };
	struct plan_changes changes = { 0 };
	int64_t now = clock_wall_ms();

	plan_node_move(node, &move, now, NULL);
	plan_changed(&changes, node);
	plan_rollup_from(plan, node, now, &changes);
	plan_book_changes(floor, plan, &changes);
	plan_changes_release(&changes);
	emit(floor->core,
	    &(struct event){
		.kind = (enum event_kind)(EVENT_NODE_TODO + node->status),
		.goal = node->goal_id,
		.node = node->id,
		.to = node_status_name(node->status),
		.reason = why });
}

/* Without the words that every place says before them. */
static const char *
parked_why(const struct task *t)
{
	static const char said[] = TURN_BLOCKED ": ";

	/* Other agents can read why a node is blocked, and the question is for
	 * a person. */
	if (t->ask == ASK_QUESTION)
		return TASK_ASKS;
	if (t->reason == NULL)
		return "it waits for a person";
	return text_begins(t->reason, said) ? t->reason + strlen(said) :
					      t->reason;
}

void
plan_bind_parked(
    struct plan_floor *floor, struct plan_node *node, struct task *t)
{
	struct plan *plan = plan_set_plan(plan_floor_set(floor), node->goal_id);
	bool blocked =
	    node->work.status == ASSIGNMENT_BLOCKED && !node->work.escalated;
	int attempts;

	if (!plan_node_is_assigned(node))
		return;
	if (t->step == TASK_PARKED && !blocked) {
		const char *why = parked_why(t);
		cleanup_free char *reason =
		    xstrndup(why, text_cut(why, strlen(why), REASON_MAX));

		node->work.escalated = false;
		plan_node_move_work(node,
		    &(struct plan_work_move){
			.to = ASSIGNMENT_BLOCKED, .reason = reason },
		    clock_wall_ms());
		plan_apply_work(floor, node);
		plan_bind_move_node(floor, plan, node, NODE_BLOCKED, reason);
		return;
	}
	if (!blocked ||
	    (t->step == TASK_PARKED && node->status == NODE_BLOCKED))
		return;
	if (t->step == TASK_PARKED) {
		task_unpark(
		    t, plan_unblocked_why(plan, node->id), clock_wall_ms());
		persist_changed(floor->core);
	}
	attempts = node->attempts;
	plan_node_move_work(node,
	    &(struct plan_work_move){ .to = ASSIGNMENT_ACTIVE },
	    clock_wall_ms());
	plan_apply_work(floor, node);
	if (node->status == NODE_BLOCKED)
		plan_node_move(node,
		    &(struct plan_node_move){ .to = NODE_QUEUED },
		    clock_wall_ms(), NULL);
	plan_bind_move_node(floor, plan, node, NODE_IN_PROGRESS, NULL);
	node->attempts = attempts; /* this is none; the next worker's may be */
}

/* --- ending ----------------------------------------------------------- */

static const char *
result_words(const struct task *t)
{
	return t->attempt.children_landed ?
	    "agents that it asked for have landed its work" :
	    "its agent has reported that it is complete";
}

static void
read_evidence(const struct plan_floor *floor, const struct task *t,
    char *const *files, struct plan_evidence *evidence)
{
	const char *check =
	    settings_string(floor->core->settings, "auto.check_command");
	cleanup_free char *words = NULL;

	if (t->commit == NULL) {
		words = xasprintf("task %s: %s", t->id,
		    t->outcome == OUTCOME_LANDED ? "landed by hand" :
			t->held_by != NULL ? "the branch had its work already" :
			verification_is_met(t) ? "its contract is met" :
			verification_has_result(t) ?
						 result_words(t) :
						 "nothing had to be changed");
		strv_add(&evidence->external_refs, words);
		if (t->held_by != NULL)
			strv_add(&evidence->commits, t->held_by);
		return;
	}
	strv_add(&evidence->commits, t->commit);
	for (size_t i = 0; files != NULL && files[i] != NULL; i++)
		strv_add(&evidence->files_touched, files[i]);
	if (check[0] != '\0') {
		words = xasprintf("%s: passed", check);
		strv_add(&evidence->tests_run, words);
	}
}

void
plan_bind_end(struct plan_floor *floor, struct plan_node *node,
    const struct task *t, char *const *files)
{
	/* A worker's word closes nothing: a commit on the branch does, or a
	 * result without one. */
	bool good = (t->outcome == OUTCOME_LANDED ||
			t->outcome == OUTCOME_NO_CHANGES) &&
	    (t->commit != NULL || t->held_by != NULL ||
		verification_has_result(t));
	struct plan_evidence evidence = { 0 };
	cleanup_said struct said said = { 0 };
	struct reconcile_facts facts = { .accepted = good,
		.accepted_by = t->commit != NULL ? "landing" : "report",
		.failed = !good,
		.dropped = t->outcome == OUTCOME_ABORTED,
		.failed_why = t->reason };
	struct reconcile_config config;
	struct reconcile_result result;
	cleanup_free char *words = NULL;

	if (!good && task_is_child(t)) {
		/* Whoever asked for it is told, and decides: the plan goes
		 * on without it. */
		plan_change_node(
		    floor, node, plan_edit_cancel, "task", t->reason, NULL);
		plan_bind_release(floor, node, t->reason);
		return;
	}
	reconcile_config_read(floor->core->settings, &config);
	if (t->outcome == OUTCOME_FAILED || t->outcome == OUTCOME_DEAD_LETTER) {
		cleanup_buf struct buf out = BUF_INIT;

		/* For the planner: why its task has failed, and what its agent
		 * said. */
		buf_adds(&out,
		    t->reason != NULL ? t->reason : "every attempt failed");
		if (t->last_words != NULL && t->last_words[0] != '\0')
			buf_addf(&out, "\nThe last message of its agent:\n%s",
			    t->last_words);
		words = buf_take(&out);
	}
	if (words != NULL)
		facts.failed_why = words;
	if (good)
		read_evidence(floor, t, files, &evidence);
	if (good)
		said_of_task(t, &said);
	facts.update = said.update;
	facts.evidence = &evidence;
	reconcile_now(plan_floor_set(floor), node, &facts, &config,
	    now_after(node), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	plan_evidence_release(&evidence);
	plan_bind_release(floor, node, "its task has ended");
}

void
plan_bind_queue_again(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, const char *why)
{
	if (node->attempts > 0)
		node->attempts--;
	plan_bind_move_node(floor, plan, node, NODE_QUEUED, why);
}

void
plan_bind_release(
    struct plan_floor *floor, struct plan_node *node, const char *why)
{
	const char *from = assignment_status_name(node->work.status);

	if (!plan_node_is_assigned(node) ||
	    plan_node_move_work(node,
		&(struct plan_work_move){ .to = ASSIGNMENT_CANCELLED },
		clock_wall_ms()) < 0)
		return;
	plan_apply_work(floor, node);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_CANCELLED,
		.goal = node->goal_id,
		.node = node->id,
		.assignment = node->work.id,
		.task = node->work.task,
		.from = from,
		.to = assignment_status_name(node->work.status),
		.reason = why });
	if (node->status == NODE_IN_PROGRESS)
		plan_bind_queue_again(floor,
		    plan_set_plan(plan_floor_set(floor), node->goal_id), node,
		    why);
}
