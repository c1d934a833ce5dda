/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "contract.h"
#include "emit.h"
#include "id.h"
#include "intake.h"
#include "persist.h"
#include "plan-private.h"
#include "plan-ready.h"
#include "plan-set.h"
#include "said.h"
#include "settings.h"
#include "task-run.h"
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

bool
plan_bind_is_for(const struct task *task, const struct plan_assignment *a)
{
	cleanup_free char *key = NULL;

	if (!intake_is_planned(task) || task->key == NULL || a->task == NULL ||
	    strcmp(a->task, task->id) != 0)
		return false;
	key = xasprintf("%s/%s", a->goal_id, a->node_id);
	return strcmp(task->key, key) == 0;
}

struct plan_assignment *
plan_bind_of(const struct plan_floor *floor, const struct task *task)
{
	const struct plan_set *set = plan_floor_set(floor);

	for (size_t i = set->assignment_count; i-- > 0;)
		if (plan_bind_is_for(task, set->assignments[i]))
			return set->assignments[i];
	return NULL;
}

bool
plan_bind_wants_worker(
    const struct plan_set *set, const struct plan_assignment *a)
{
	const struct plan_dispatch *d = plan_assignment_last(a);
	const struct plan *plan = plan_set_plan(set, a->goal_id);

	return assignment_status_open(a->status) && a->task == NULL &&
	    d != NULL && d->mode == DISPATCH_SPAWN &&
	    d->result == DISPATCH_PENDING && plan != NULL &&
	    plan->goal->status == GOAL_ACTIVE;
}

/* --- beginning -------------------------------------------------------- */

static int64_t
now_after(const struct plan_assignment *a)
{
	int64_t now = clock_wall_ms();

	return now > a->last_dispatch_ms ? now : a->last_dispatch_ms + 1;
}

/* What was done was taken back. */
static int
reopen(struct plan_floor *floor, struct plan *plan,
    const struct plan_node *node, const struct task *t, struct err *err)
{
	enum goal_status before = plan->goal->status;
	struct plan_changes changes = { 0 };
	const struct plan_edit edit = { .plan = plan,
		.actor = "landing",
		.why = t->reason != NULL ? t->reason : "taken back",
		.now_ms = clock_wall_ms(),
		.changes = &changes };
	int r = plan_edit_reopen(&edit, node->id, err);

	if (r == 0)
		plan_apply_edit(floor, plan, &changes, before);
	plan_changes_release(&changes);
	return r;
}

static int
check(const struct plan_floor *floor, const struct plan *plan,
    const struct plan_node *node, bool late, struct err *err)
{
	if (node->assignment != NULL) {
		const struct task *t = plan_tasks_of(floor, node->assignment);

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
	if (!late && !plan_node_ready(plan, node))
		return err_set(err, -ESTALE, "its node is not ready");
	return 0;
}

static struct plan_assignment *
add_assignment(struct plan_floor *floor, const struct plan_node *node,
    const struct task *t)
{
	int64_t now = clock_wall_ms();
	char ulid[ID_ULID_SIZE];
	cleanup_free char *id = NULL;
	struct plan_assignment *a;

	id_ulid(now, ulid);
	id = xasprintf("A_%s", ulid);
	a = plan_assignment_new(id, node->goal_id, node->id, now);
	xstrset(&a->task, t->id);
	if (t->text != NULL)
		plan_assignment_instruct(a, t->text);
	if (plan_set_add_assignment(plan_floor_set(floor), a, NULL) < 0) {
		plan_assignment_free(a);
		return NULL;
	}
	return a;
}

static void
dispatch_first(struct plan_floor *floor, struct plan_assignment *a)
{
	const struct reconcile_facts none = { .assignment_id = a->id };
	struct reconcile_config config;
	struct reconcile_result result;

	reconcile_config_read(floor->core->settings, &config);
	reconcile_now(
	    plan_floor_set(floor), a, &none, &config, now_after(a), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
}

int
plan_bind(
    struct plan_floor *floor, const struct task *t, bool late, struct err *err)
{
	struct plan_assignment *a;
	struct plan_node *node = NULL;
	struct plan *plan = NULL;
	int r;

	if (plan_bind_find(plan_floor_set(floor), t->key, &plan, &node, err) <
		0 ||
	    node == NULL)
		return err_set(err, -ESTALE, "its node is gone");
	if (node->assignment != NULL &&
	    plan_bind_wants_worker(plan_floor_set(floor), node->assignment)) {
		xstrset(&node->assignment->task, t->id);
		plan_apply_assignment(floor, node->assignment);
		return 0;
	}
	if (node->assignment == NULL && node->status == NODE_DONE &&
	    t->landed_before != NULL && reopen(floor, plan, node, t, err) < 0)
		return err_set(err, -ESTALE, "its node is done");
	r = check(floor, plan, node, late, err);
	if (r < 0)
		return r;
	a = add_assignment(floor, node, t);
	if (a == NULL)
		return err_set(err, -ESTALE, "somebody has it");
	dispatch_first(floor, a);
	if (t->worker != NULL)
		plan_bind_worker(floor, a, t);
	return 0;
}

void
plan_bind_worker(
    struct plan_floor *floor, struct plan_assignment *a, const struct task *t)
{
	struct plan_dispatch *d = plan_assignment_last(a);
	cleanup_free char *run = NULL;
	struct reconcile_config config;
	struct plan_node *node;

	if (t->worker == NULL || t->attempts == 0 || t->step != TASK_ASSIGNED ||
	    !assignment_status_open(a->status))
		return;
	run = task_run_id(t);
	if (a->worker != NULL && strcmp(a->worker, t->worker) == 0 &&
	    a->run_id != NULL && strcmp(a->run_id, run) == 0)
		return;
	reconcile_config_read(floor->core->settings, &config);
	node = plan_set_node_of(plan_floor_set(floor), a);
	if (node != NULL && t->attempts > 1) {
		node->attempts++;
		plan_book_record(floor, BOOK_NODE, node->goal_id, node->id);
	}
	xstrset(&a->worker, t->worker);
	xstrset(&a->run_id, run);
	a->last_dispatch_ms = clock_wall_ms();
	a->updated_ms = a->last_dispatch_ms;
	a->expected_update_ms = a->last_dispatch_ms +
	    (a->idle_after_ms > 0 ? a->idle_after_ms : config.idle_after_ms);
	if (d != NULL && d->mode == DISPATCH_SPAWN &&
	    d->result == DISPATCH_PENDING)
		plan_dispatch_ended(floor, a, d, DISPATCH_ACCEPTED, NULL);
	plan_apply_assignment(floor, a);
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
	return strncmp(t->reason, said, strlen(said)) == 0 ?
	    t->reason + strlen(said) :
	    t->reason;
}

void
plan_bind_parked(
    struct plan_floor *floor, struct plan_assignment *a, struct task *t)
{
	struct plan *plan = plan_set_plan(plan_floor_set(floor), a->goal_id);
	struct plan_node *node = plan_set_node_of(plan_floor_set(floor), a);
	bool blocked = a->status == ASSIGNMENT_BLOCKED && !a->escalated;
	int attempts;

	if (plan == NULL || node == NULL || !assignment_status_open(a->status))
		return;
	if (t->step == TASK_PARKED && !blocked) {
		const char *why = parked_why(t);
		cleanup_free char *reason =
		    xstrndup(why, text_cut(why, strlen(why), REASON_MAX));

		a->escalated = false;
		plan_assignment_move(a,
		    &(struct plan_assignment_move){
			.to = ASSIGNMENT_BLOCKED, .reason = reason },
		    clock_wall_ms(), NULL);
		plan_apply_assignment(floor, a);
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
	plan_assignment_move(a,
	    &(struct plan_assignment_move){ .to = ASSIGNMENT_ACTIVE },
	    clock_wall_ms(), NULL);
	plan_apply_assignment(floor, a);
	if (node->status == NODE_BLOCKED)
		plan_node_move(node,
		    &(struct plan_node_move){ .to = NODE_QUEUED },
		    clock_wall_ms(), NULL);
	plan_bind_move_node(floor, plan, node, NODE_IN_PROGRESS, NULL);
	node->attempts = attempts; /* this is none; the next worker's may be */
}

/* --- ending ----------------------------------------------------------- */

/* For the planner: why its task has failed, and what its agent said. */
static char *
failure_words(const struct task *t)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, t->reason != NULL ? t->reason : "every attempt failed");
	if (t->last_words != NULL && t->last_words[0] != '\0')
		buf_addf(&out, "\nThe last message of its agent:\n%s",
		    t->last_words);
	return buf_take(&out);
}

static const char *
result_words(const struct task *t)
{
	return t->run != NULL && t->run->children_landed ?
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
plan_bind_end(struct plan_floor *floor, struct plan_assignment *a,
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
	struct reconcile_facts facts = { .assignment_id = a->id,
		.accepted = good,
		.accepted_by = t->commit != NULL ? "landing" : "report",
		.failed = !good,
		.dropped = t->outcome == OUTCOME_ABORTED,
		.failed_why = t->reason };
	struct reconcile_config config;
	struct reconcile_result result;
	cleanup_free char *words = NULL;

	if (!good && task_run_is_child(t)) {
		const char *why = t->reason;
		struct plan *plan =
		    plan_set_plan(plan_floor_set(floor), a->goal_id);
		enum goal_status before = plan->goal->status;
		struct plan_changes changes = { 0 };
		const struct plan_edit edit = { .plan = plan,
			.actor = "task",
			.why = why,
			.now_ms = now_after(a),
			.changes = &changes };

		/* Whoever asked for it is told, and decides: the plan goes
		 * on without it. */
		if (plan_edit_cancel(&edit, a->node_id, NULL) == 0)
			plan_apply_edit(floor, plan, &changes, before);
		plan_changes_release(&changes);
		if (assignment_status_open(a->status))
			plan_bind_release(floor, a, why);
		return;
	}
	reconcile_config_read(floor->core->settings, &config);
	if (t->outcome == OUTCOME_FAILED || t->outcome == OUTCOME_DEAD_LETTER)
		words = failure_words(t);
	facts.failed_why = words;
	if (good)
		read_evidence(floor, t, files, &evidence);
	if (good)
		said_of_task(t, &said);
	facts.update = said.update;
	facts.evidence = &evidence;
	reconcile_now(
	    plan_floor_set(floor), a, &facts, &config, now_after(a), &result);
	plan_apply(floor, &result);
	reconcile_result_release(&result);
	plan_evidence_release(&evidence);
	if (assignment_status_open(a->status))
		plan_bind_release(floor, a, "its task has ended");
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
    struct plan_floor *floor, struct plan_assignment *a, const char *why)
{
	struct plan_set *set = plan_floor_set(floor);
	struct plan *plan = plan_set_plan(set, a->goal_id);
	struct plan_node *node = plan_set_node_of(set, a);
	const char *from = assignment_status_name(a->status);

	if (plan_assignment_move(a,
		&(struct plan_assignment_move){ .to = ASSIGNMENT_CANCELLED },
		clock_wall_ms(), NULL) < 0)
		return;
	plan_set_relink(set, a);
	plan_apply_assignment(floor, a);
	emit(floor->core,
	    &(struct event){ .kind = EVENT_ASSIGNMENT_CANCELLED,
		.goal = a->goal_id,
		.node = a->node_id,
		.assignment = a->id,
		.task = a->task,
		.from = from,
		.to = assignment_status_name(a->status),
		.reason = why });
	if (node != NULL && node->status == NODE_IN_PROGRESS)
		plan_bind_queue_again(floor, plan, node, why);
}
