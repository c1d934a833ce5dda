/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event.h"
#include "id.h"
#include "plan-crystal.h"
#include "plan-ready.h"
#include "plan-rollup.h"
#include "plan-summary.h"
#include "plan-text.h"
#include "reconcile-ladder.h"
#include "reconcile-work.h"
#include "reconcile.h"
#include "update.h"

#define ACTOR     "tick"
#define HASH_SIZE 17

static const char *const assignment_events[] = {
	[ASSIGNMENT_QUEUED] = "assignment.queued",
	[ASSIGNMENT_ACTIVE] = "assignment.active",
	[ASSIGNMENT_STALLED] = "assignment.stalled",
	[ASSIGNMENT_BLOCKED] = "assignment.blocked",
	[ASSIGNMENT_DONE] = "assignment.done",
	[ASSIGNMENT_CANCELLED] = "assignment.cancelled",
};

/* --- moves ------------------------------------------------------------ */

static bool
move_assignment(struct reconcile_case *c,
    const struct plan_assignment_move *move, const char *code,
    const char *reason)
{
	struct plan_assignment *a = c->assignment;
	const char *from = assignment_status_name(a->status);

	if (a->status == move->to ||
	    plan_assignment_move(a, move, c->run->now_ms, NULL) < 0)
		return false;
	plan_set_relink(c->run->set, a);
	reconcile_touch(c);
	/* The dispatch itself tells that. */
	if (a->status == ASSIGNMENT_DISPATCHED)
		return true;
	reconcile_tell(c, assignment_events[a->status],
	    reconcile_data("from", from, "to",
		assignment_status_name(a->status), "code", code, "reason",
		reason, "crystallizationId", move->crystal_id, NULL));
	return true;
}

bool
reconcile_move(struct reconcile_case *c, enum assignment_status to,
    const char *code, const char *reason)
{
	return move_assignment(c,
	    &(struct plan_assignment_move){
		.to = to, .reason = to == ASSIGNMENT_BLOCKED ? reason : NULL },
	    code, reason);
}

static bool
move_node(struct reconcile_case *c, const struct plan_node_move *move)
{
	if (c->node == NULL || !plan_node_leaf(c->node) ||
	    c->node->status == move->to ||
	    plan_node_move(c->node, move, c->run->now_ms, NULL) < 0)
		return false;
	plan_changed(reconcile_changes(c), c->node);
	plan_rollup_from(
	    c->plan, c->node, c->run->now_ms, reconcile_changes(c));
	return true;
}

void
reconcile_work_begin(struct reconcile_case *c)
{
	if (c->node == NULL || c->node->status == NODE_IN_PROGRESS)
		return;
	if (c->node->status == NODE_TODO || c->node->status == NODE_BLOCKED)
		reconcile_work_queue(c);
	move_node(c, &(struct plan_node_move){ .to = NODE_IN_PROGRESS });
}

void
reconcile_work_block(struct reconcile_case *c, const char *reason)
{
	move_node(c,
	    &(struct plan_node_move){ .to = NODE_BLOCKED, .reason = reason });
}

void
reconcile_work_queue(struct reconcile_case *c)
{
	move_node(c, &(struct plan_node_move){ .to = NODE_QUEUED });
}

void
reconcile_progress(struct reconcile_case *c, int64_t at_ms)
{
	struct plan_assignment *a = c->assignment;
	int64_t due = at_ms + reconcile_idle_ms(c);
	bool anew =
	    !c->facts->talk && (a->retry_count > 0 || a->backoff_until_ms > 0);

	if (a->last_activity_ms >= at_ms && !anew &&
	    a->expected_update_ms >= due)
		return;
	if (at_ms > a->last_activity_ms)
		a->last_activity_ms = at_ms;
	if (due > a->expected_update_ms)
		a->expected_update_ms = due;
	if (anew) {
		a->retry_count = 0;
		a->backoff_until_ms = 0;
	}
	reconcile_touch(c);
}

/* --- crystallizations ------------------------------------------------- */

static char *
crystal_id(const char *owner, const char *key)
{
	cleanup_free char *text = xasprintf("%s\n%s", owner, key);
	char hash[HASH_SIZE];

	id_hash(text, hash, HASH_SIZE - 1);
	return xasprintf("C_%s", hash);
}

/* The same reply has the same id, so that it counts once. */
static char *
update_crystal_id(const struct reconcile_case *c)
{
	cleanup_json struct json_object *json = NULL;

	if (c->facts->message_id != NULL)
		return crystal_id(c->assignment->id, c->facts->message_id);
	json = update_to_json(c->facts->update);
	return crystal_id(c->assignment->id, json_object_to_json_string(json));
}

/* A view, which owns nothing. */
static struct plan_evidence
update_evidence(const struct update *update)
{
	return (struct plan_evidence){
		.files_touched = update->files_touched,
		.commands_run = update->commands_run,
		.tests_run = update->tests_run,
		.commits = update->commits,
		.prs = update->prs,
		.issues = update->issues,
		.external_refs = update->external_refs,
	};
}

static struct plan_crystal *
crystal_new(
    struct reconcile_case *c, const char *id, enum crystal_source source)
{
	const struct plan_assignment *a = c->assignment;
	struct plan_crystal *crystal = plan_crystal_new(
	    id, a->goal_id, a->node_id, source, c->run->now_ms);

	xstrset(&crystal->assignment_id, a->id);
	xstrset(&crystal->session_key, a->session_key);
	xstrset(&crystal->session_id, c->facts->session_id);
	xstrset(&crystal->message_id, c->facts->message_id);
	xstrset(&crystal->run_id,
	    c->facts->run_id != NULL ? c->facts->run_id : a->run_id);
	return crystal;
}

static void
crystal_from_update(struct plan_crystal *crystal, const struct update *update)
{
	struct plan_evidence evidence = update_evidence(update);

	if (update->summary != NULL)
		plan_crystal_summarize(crystal, update->summary);
	if (update->next != NULL)
		strv_add(&crystal->next_actions, update->next);
	strv_add_all(&crystal->known_blockers, strv_const(update->blockers));
	strv_add_all(
	    &crystal->open_questions, strv_const(update->open_questions));
	for (size_t i = 0; i < update->decision_count; i++)
		plan_crystal_decide(crystal, update->decisions[i].decision,
		    update->decisions[i].rationale);
	plan_evidence_merge(&crystal->evidence, &evidence);
}

/* --- results ---------------------------------------------------------- */

bool
reconcile_closed(struct reconcile_case *c)
{
	const struct plan_node *node = c->node;
	const char *code, *reason;

	if (c->plan == NULL)
		return false;
	if (node != NULL && node_status_open(node->status) &&
	    goal_status_open(c->plan->goal->status))
		return false;
	if (c->run->telemetry->busy || c->facts->busy)
		return true;
	if (node != NULL && node->status == NODE_DONE) {
		move_assignment(c,
		    &(struct plan_assignment_move){ .to = ASSIGNMENT_DONE,
			.actor = ACTOR,
			.override_reason = "the node is done" },
		    "node-done", "the node is done");
		/* Never dispatched: there is nothing to be done with. */
		if (!assignment_status_open(c->assignment->status))
			return true;
	}
	code = node == NULL                ? "node-gone" :
	    node_status_open(node->status) ? "goal-ended" :
					     "node-ended";
	reason = node == NULL              ? "the node is no longer planned" :
	    node_status_open(node->status) ? "the goal has ended" :
					     "the node has ended";
	if (reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason))
		reconcile_decide(c, RECONCILE_CANCEL,
		    &(struct reconcile_words){
			.code = code, .reason = reason });
	return true;
}

bool
reconcile_accepted(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	const char *by =
	    facts->accepted_by != NULL ? facts->accepted_by : "landing";
	enum crystal_source source = facts->update != NULL ? CRYSTAL_UPDATE :
	    strcmp(by, "person") == 0                      ? CRYSTAL_PERSON :
							     CRYSTAL_LANDING;
	cleanup_free char *id = NULL;
	struct plan_crystal *crystal;
	struct plan_evidence evidence = { 0 };

	if (!facts->accepted)
		return false;
	if (c->assignment->status == ASSIGNMENT_QUEUED)
		reconcile_move(c, ASSIGNMENT_DISPATCHED, "accepted", NULL);
	id = facts->update != NULL ? update_crystal_id(c) :
				     crystal_id(c->assignment->id, by);
	/* The update may have been recorded when it came. */
	if (facts->update != NULL &&
	    plan_set_crystal(c->run->set, id) != NULL) {
		cleanup_free char *again = crystal_id(c->assignment->id, by);

		xstrset(&id, again);
		source = CRYSTAL_LANDING;
	}
	crystal = crystal_new(c, id, source);
	if (facts->update != NULL)
		crystal_from_update(crystal, facts->update);
	if (crystal->summary == NULL)
		plan_crystal_summarize(crystal, "the result was accepted");
	if (facts->evidence != NULL)
		plan_evidence_merge(&crystal->evidence, facts->evidence);
	if (!plan_evidence_any(&crystal->evidence))
		strv_add(&crystal->evidence.external_refs, id);
	schema_copy(&plan_evidence_schema, &crystal->evidence, &evidence);
	reconcile_add_crystal(c->run, crystal);
	move_assignment(c,
	    &(struct plan_assignment_move){
		.to = ASSIGNMENT_DONE, .crystal_id = id },
	    "accepted", by);
	reconcile_work_begin(c);
	move_node(c,
	    &(struct plan_node_move){ .to = NODE_DONE, .evidence = &evidence });
	plan_evidence_release(&evidence);
	return true;
}

bool
reconcile_failed(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	const char *code = facts->failed ? "failed" : "lost";
	cleanup_free char *reason = NULL;
	int attempts = c->node != NULL ? c->node->attempts : 1;

	if (!facts->failed && !facts->lost)
		return false;
	/* What waits for a person, or was never sent, has nobody to lose. */
	if (!facts->failed &&
	    (c->assignment->status == ASSIGNMENT_BLOCKED ||
		c->assignment->status == ASSIGNMENT_QUEUED))
		return false;
	if (!c->may_dispatch)
		return true;
	reason = facts->failed ?
	    xstrdup(facts->failed_why != NULL ? facts->failed_why :
						"every attempt failed") :
	    xasprintf("nobody works on it any more (attempt %d)", attempts);
	if (facts->failed && !facts->dropped && c->node != NULL &&
	    plan_recovery_next(c->plan, c->node, true) == RECOVERY_REPLAN) {
		reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason);
		c->node->replans++;
		plan_cut(&c->node->replan_why, reason, PLAN_TEXT_MAX);
		plan_changed(reconcile_changes(c), c->node);
		reconcile_tell(c, "assignment.replan",
		    reconcile_data("code", code, "reason", reason, NULL));
		reconcile_decide(c, RECONCILE_REPLAN,
		    &(struct reconcile_words){
			.code = code, .reason = reason });
		return true;
	}
	if (facts->failed || attempts > c->run->config->max_retries) {
		reconcile_escalate(c, code, reason);
		reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason);
		return true;
	}
	reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason);
	reconcile_work_queue(c);
	reconcile_decide(c, RECONCILE_RELEASE,
	    &(struct reconcile_words){ .code = code, .reason = reason });
	return true;
}

/* --- replies ---------------------------------------------------------- */

static void
blocked_reason(const struct update *update, struct buf *out)
{
	for (size_t i = 0; i < strv_count(update->blockers); i++)
		buf_addf(out, "%s%s", i == 0 ? "" : "; ", update->blockers[i]);
	if (out->len == 0)
		buf_adds(out,
		    update->summary != NULL ?
			update->summary :
			"the worker says that it is blocked, but not why");
}

/* An update that is new. */
static bool
take_update(struct reconcile_case *c, const char *id)
{
	const struct update *update = c->facts->update;
	struct plan_crystal *crystal = crystal_new(c, id, CRYSTAL_UPDATE);
	struct plan_assignment *a = c->assignment;
	cleanup_buf struct buf reason = BUF_INIT;

	crystal_from_update(crystal, update);
	reconcile_add_crystal(c->run, crystal);
	a->follow_up = false;
	a->escalated = false;
	reconcile_progress(
	    c, c->facts->reply_ms > 0 ? c->facts->reply_ms : c->run->now_ms);
	reconcile_touch(c);
	reconcile_tell(c, "work.update",
	    reconcile_data("crystallizationId", id, "status",
		update->status != UPDATE_NONE ?
		    update_status_name(update->status) :
		    NULL,
		"summary", update->summary, "next", update->next, NULL));
	if (update->status == UPDATE_BLOCKED) {
		blocked_reason(update, &reason);
		reconcile_escalate(c, "blocked", reason.data);
		return true;
	}
	reconcile_move(c, ASSIGNMENT_ACTIVE, "update",
	    update->status == UPDATE_DONE ?
		"reported as done; it counts when the result is accepted" :
		"an update came");
	reconcile_work_begin(c);
	return false;
}

bool
reconcile_updated(struct reconcile_case *c)
{
	const struct update *update = c->facts->update;
	cleanup_free char *id = NULL;

	if (update == NULL || c->assignment->status == ASSIGNMENT_QUEUED ||
	    (update->status == UPDATE_BLOCKED && !c->may_dispatch))
		return false;
	id = update_crystal_id(c);
	return plan_set_crystal(c->run->set, id) == NULL && take_update(c, id);
}

bool
reconcile_asked(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	const struct plan_assignment *a = c->assignment;

	/* A question from before the last message was answered by it. */
	if (!facts->asked || !c->may_dispatch ||
	    a->status == ASSIGNMENT_QUEUED || a->status == ASSIGNMENT_BLOCKED ||
	    facts->reply_ms <= a->last_dispatch_ms)
		return false;
	reconcile_escalate(c, "question",
	    facts->question != NULL ? facts->question :
				      "its turn ended with a question");
	return true;
}

/* --- the end of a tick ------------------------------------------------ */

static void
crystallize_rollup(struct reconcile_run *run, const struct plan *plan,
    const struct plan_node *node)
{
	cleanup_free char *key = xasprintf(
	    "%s\n%lld", node != NULL ? node->id : "", (long long)run->now_ms);
	cleanup_free char *id = crystal_id(plan->goal->id, key);
	struct plan_crystal *crystal = plan_crystal_new(id, plan->goal->id,
	    node != NULL ? node->id : NULL, CRYSTAL_ROLLUP, run->now_ms);
	struct plan_node *const *children;
	size_t count;

	children = plan_children(plan, node, &count);
	for (size_t i = 0; i < count; i++) {
		const struct plan_crystal *known = children[i]->crystal;

		plan_evidence_merge(&crystal->evidence, &children[i]->evidence);
		if (known != NULL)
			plan_evidence_merge(
			    &crystal->evidence, &known->evidence);
	}
	plan_crystal_summarize(crystal,
	    node != NULL ? "everything below it is done, or was cancelled" :
			   "every phase is done, or was cancelled");
	reconcile_add_crystal(run, crystal);
}

static void
finish_plan(struct reconcile_run *run, struct reconcile_plan *changed)
{
	struct plan_changes *changes = &changed->changes;
	const struct plan_goal *goal = changed->plan->goal;
	cleanup_buf struct buf undone = BUF_INIT;

	if (goal->status == GOAL_ACTIVE)
		plan_ready_queue(changed->plan, run->now_ms, changes);
	for (size_t i = 0; i < changes->count; i++) {
		const struct plan_node *node = changes->nodes[i];

		if (node->updated_ms != run->now_ms)
			continue;
		reconcile_tell_node(run->result,
		    event_row((enum event_kind)(EVENT_NODE_TODO + node->status))
			->name,
		    goal->id, node->id,
		    reconcile_data("to", node_status_name(node->status),
			"reason", node->blocked_reason, NULL));
		if (!plan_node_leaf(node) && node->status == NODE_DONE &&
		    node->ended_ms == run->now_ms)
			crystallize_rollup(run, changed->plan, node);
	}
	if (!changes->goal)
		return;
	plan_summary_undone(changed->plan, &undone);
	reconcile_tell_node(run->result,
	    event_row((enum event_kind)(EVENT_GOAL_ACTIVE + goal->status))
		->name,
	    goal->id, NULL,
	    reconcile_data("to", goal_status_name(goal->status), "reason",
		undone.len > 0 ? undone.data : NULL, NULL));
	if (goal->status == GOAL_COMPLETED && goal->ended_ms == run->now_ms)
		crystallize_rollup(run, changed->plan, NULL);
}

void
reconcile_work_finish(struct reconcile_run *run)
{
	for (size_t i = 0; i < run->result->plan_count; i++)
		finish_plan(run, run->result->plans[i]);
}
