/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event.h"
#include "hook-event.h"
#include "id.h"
#include "ladder.h"
#include "plan-goal.h"
#include "plan-progress.h"
#include "prompt.h"
#include "reconcile-work.h"
#include "reconcile.h"
#include "work-record.h"

static void reconcile_work_queue(struct reconcile_case *c);

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
move_work(struct reconcile_case *c, const struct plan_work_move *move,
    const char *code, const char *reason)
{
	const struct plan_work *work = &c->node->work;
	const char *from = assignment_status_name(work->status);

	if (work->status == move->to ||
	    plan_node_move_work(c->node, move, c->run->now_ms) < 0)
		return false;
	reconcile_touch(c);
	/* The dispatch itself tells that. */
	if (work->status == ASSIGNMENT_DISPATCHED)
		return true;
	reconcile_tell(c, assignment_events[work->status],
	    reconcile_data("from", from, "to",
		assignment_status_name(work->status), "code", code, "reason",
		reason, "crystallizationId", move->crystal_id, NULL));
	return true;
}

bool
reconcile_move(struct reconcile_case *c, enum assignment_status to,
    const char *code, const char *reason)
{
	return move_work(c,
	    &(struct plan_work_move){
		.to = to, .reason = to == ASSIGNMENT_BLOCKED ? reason : NULL },
	    code, reason);
}

static bool
move_node(struct reconcile_case *c, const struct plan_node_move *move)
{
	if (!plan_node_leaf(c->node) || c->node->status == move->to ||
	    plan_node_move(c->node, move, c->run->now_ms, NULL) < 0)
		return false;
	plan_changed(reconcile_changes(c), c->node);
	plan_rollup_from(
	    c->plan, c->node, c->run->now_ms, reconcile_changes(c));
	return true;
}

static void
reconcile_work_begin(struct reconcile_case *c)
{
	if (c->node->status == NODE_IN_PROGRESS)
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

static void
reconcile_work_queue(struct reconcile_case *c)
{
	move_node(c, &(struct plan_node_move){ .to = NODE_QUEUED });
}

/* There was a sign of life at that moment: the next update is due later, and
 * retries begin anew, unless it is only talk. */
static void
reconcile_progress(struct reconcile_case *c, int64_t at_ms)
{
	struct plan_work *work = &c->node->work;
	int64_t due = at_ms + reconcile_idle_ms(c);
	bool anew = !c->facts->talk &&
	    (work->retry_count > 0 || work->backoff_until_ms > 0);

	if (work->last_activity_ms >= at_ms && !anew &&
	    work->expected_update_ms >= due)
		return;
	if (at_ms > work->last_activity_ms)
		work->last_activity_ms = at_ms;
	if (due > work->expected_update_ms)
		work->expected_update_ms = due;
	if (anew) {
		work->retry_count = 0;
		work->backoff_until_ms = 0;
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
		return crystal_id(c->node->work.id, c->facts->message_id);
	json = update_to_json(c->facts->update);
	return crystal_id(c->node->work.id, json_object_to_json_string(json));
}

static struct plan_crystal *
crystal_new(
    struct reconcile_case *c, const char *id, enum crystal_source source)
{
	const struct plan_work *work = &c->node->work;
	struct plan_crystal *crystal = plan_crystal_new(
	    id, c->node->goal_id, c->node->id, source, c->run->now_ms);

	xstrset(&crystal->assignment_id, work->id);
	crystal->session_key = plan_node_session(c->node);
	xstrset(&crystal->session_id, c->facts->session_id);
	xstrset(&crystal->message_id, c->facts->message_id);
	xstrset(&crystal->run_id,
	    c->facts->run_id != NULL ? c->facts->run_id : work->run_id);
	return crystal;
}

static void
crystal_from_update(struct plan_crystal *crystal, const struct update *update)
{
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
	plan_evidence_merge(&crystal->evidence, &update->evidence);
}

/* --- results ---------------------------------------------------------- */

bool
reconcile_closed(struct reconcile_case *c)
{
	const struct plan_node *node = c->node;
	const char *code, *reason;

	if (node_status_open(node->status) &&
	    goal_status_open(c->plan->goal->status))
		return false;
	if (c->run->telemetry->busy || c->facts->busy)
		return true;
	if (node->status == NODE_DONE) {
		move_work(c,
		    &(struct plan_work_move){ .to = ASSIGNMENT_DONE,
			.actor = ACTOR,
			.override_reason = "the node is done" },
		    "node-done", "the node is done");
		/* Never dispatched: there is nothing to be done with. */
		if (!plan_node_is_assigned(node))
			return true;
	}
	code = node_status_open(node->status) ? "goal-ended" : "node-ended";
	reason = node_status_open(node->status) ? "the goal has ended" :
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
	if (c->node->work.status == ASSIGNMENT_QUEUED)
		reconcile_move(c, ASSIGNMENT_DISPATCHED, "accepted", NULL);
	id = facts->update != NULL ? update_crystal_id(c) :
				     crystal_id(c->node->work.id, by);
	/* The update may have been recorded when it came. */
	if (facts->update != NULL &&
	    plan_set_crystal(c->run->set, id) != NULL) {
		cleanup_free char *again = crystal_id(c->node->work.id, by);

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
	move_work(c,
	    &(struct plan_work_move){ .to = ASSIGNMENT_DONE, .crystal_id = id },
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
	int attempts = c->node->attempts;

	if (!facts->failed && !facts->lost)
		return false;
	/* A node that waits for a person, or was never sent, has no worker that
	 * could be lost. */
	if (!facts->failed &&
	    (c->node->work.status == ASSIGNMENT_BLOCKED ||
		c->node->work.status == ASSIGNMENT_QUEUED))
		return false;
	if (!c->may_dispatch)
		return true;
	reason = facts->failed ?
	    xstrdup(facts->failed_why != NULL ? facts->failed_why :
						"every attempt failed") :
	    xasprintf("its worker is gone (attempt %d)", attempts);
	if (facts->failed && !facts->dropped &&
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
	struct plan_work *work = &c->node->work;
	cleanup_buf struct buf reason = BUF_INIT;

	crystal_from_update(crystal, update);
	reconcile_add_crystal(c->run, crystal);
	work->follow_up = false;
	work->escalated = false;
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

	if (update == NULL || c->node->work.status == ASSIGNMENT_QUEUED ||
	    (update->status == UPDATE_BLOCKED && !c->may_dispatch))
		return false;
	id = update_crystal_id(c);
	return plan_set_crystal(c->run->set, id) == NULL && take_update(c, id);
}

bool
reconcile_asked(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	const struct plan_work *work = &c->node->work;

	/* A question from before the last message was answered by it. */
	if (!facts->asked || !c->may_dispatch ||
	    work->status == ASSIGNMENT_QUEUED ||
	    work->status == ASSIGNMENT_BLOCKED ||
	    facts->reply_ms <= work->last_dispatch_ms)
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

/* --- liveness --------------------------------------------------------- */

static int64_t
idle_of(const struct plan_work *work, const struct reconcile_config *config)
{
	return work->idle_after_ms > 0 ? work->idle_after_ms :
					 config->idle_after_ms;
}

int64_t
reconcile_idle_ms(const struct reconcile_case *c)
{
	return idle_of(&c->node->work, c->run->config);
}

static int64_t
last_sign_ms(const struct plan_work *work)
{
	int64_t last = work->last_dispatch_ms > work->last_activity_ms ?
	    work->last_dispatch_ms :
	    work->last_activity_ms;

	return last > 0 ? last : work->created_ms;
}

static bool
is_overdue(const struct plan_work *work, int64_t now_ms)
{
	return work->expected_update_ms > 0 &&
	    now_ms >= work->expected_update_ms;
}

bool
reconcile_is_stale(const struct plan_work *work,
    const struct reconcile_config *config, int64_t now_ms)
{
	if (work->status != ASSIGNMENT_DISPATCHED &&
	    work->status != ASSIGNMENT_ACTIVE &&
	    work->status != ASSIGNMENT_STALLED)
		return false;
	return work->status == ASSIGNMENT_STALLED || is_overdue(work, now_ms) ||
	    now_ms - last_sign_ms(work) >= idle_of(work, config);
}

/* Its own, or that of its node, or of what is above it. */
static enum recovery_policy
policy_of(const struct reconcile_case *c)
{
	enum recovery_policy policy = c->node->work.recovery_policy;

	return policy != RECOVERY_UNSET ? policy :
					  plan_recovery(c->plan, c->node);
}

bool
reconcile_observe(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	struct plan_work *work = &c->node->work;
	int64_t now = c->run->now_ms;
	int64_t seen = facts->in_turn ? now : facts->activity_ms;
	bool new_turn =
	    facts->in_turn || facts->turn_ms > work->last_dispatch_ms;

	if (seen > now)
		seen = now;
	if (!facts->in_turn &&
	    (seen <= work->last_activity_ms || seen <= work->last_dispatch_ms))
		return false;
	/* A node that waits for a person goes on with its next turn. */
	if (work->status == ASSIGNMENT_BLOCKED &&
	    !(work->escalated && new_turn))
		return facts->in_turn;
	if (work->status == ASSIGNMENT_QUEUED)
		return facts->in_turn;
	work->escalated = false;
	reconcile_progress(c, seen);
	reconcile_move(c, ASSIGNMENT_ACTIVE,
	    facts->in_turn ? "turn" : "activity",
	    facts->in_turn ? "a turn is running" :
			     "its session has shown activity since the last "
			     "message");
	reconcile_work_begin(c);
	return facts->in_turn;
}

static void
assign(struct reconcile_case *c, const char *code, const char *reason)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!c->may_dispatch ||
	    c->run->now_ms < c->node->work.backoff_until_ms ||
	    !reconcile_move(c, ASSIGNMENT_DISPATCHED, code, reason))
		return;
	reconcile_instruction(c, &text);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_ASSIGN,
		.mode = reconcile_mode(c),
		.code = code,
		.reason = reason,
		.text = text.data });
	reconcile_work_begin(c);
}

void
reconcile_assign(struct reconcile_case *c)
{
	assign(c, "ready", "the node is ready to be worked on");
}

/* A person unblocked the node: who has it goes on. */
static void
go_on(struct reconcile_case *c)
{
	static const char code[] = "unblocked";
	static const char reason[] = "its node is not blocked any more";

	if (c->node->status == NODE_BLOCKED || !c->may_dispatch)
		return;
	c->node->work.escalated = false;
	if (c->facts->lost) {
		reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason);
		return;
	}
	reconcile_move(c, ASSIGNMENT_QUEUED, code, reason);
	assign(c, code, reason);
}

/* --- the ladder ------------------------------------------------------- */

/* Messages to this worker, or since a person was notified. An update is an
 * answer in words, and begins nothing anew. */
static int
count_messages(const struct reconcile_case *c)
{
	const struct plan_work *work = &c->node->work;
	int count = 0;

	for (size_t i = work->dispatch_count; i > 0; i--) {
		if (work->dispatches[i - 1].mode != DISPATCH_SEND)
			break;
		count++;
	}
	return count;
}

/* The last dispatch again, once, because nothing shows that it arrived. */
static bool
resend_same(struct reconcile_case *c)
{
	const struct plan_dispatch *d = plan_node_last_dispatch(c->node);
	cleanup_buf struct buf text = BUF_INIT;

	if (d == NULL || d->result == DISPATCH_ACCEPTED ||
	    d->result == DISPATCH_OK || d->notes != NULL)
		return false;
	reconcile_dispatch_text(c->run->set, c->node, d, &text);
	reconcile_count_retry(c);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_RESEND,
		.code = "undelivered",
		.reason = "nothing shows that the last message arrived",
		.text = text.data,
		.same = true });
	return true;
}

static void
retry(struct reconcile_case *c, const char *code, const char *reason)
{
	bool again = policy_of(c) == RECOVERY_RESEND_LAST &&
	    c->node->work.instruction != NULL;
	struct nudge_facts facts = reconcile_text_facts(c);
	cleanup_buf struct buf text = BUF_INIT;

	if (resend_same(c))
		return;
	if (again)
		reconcile_instruction(c, &text);
	else
		nudge_text_status(&facts, &text);
	reconcile_count_retry(c);
	reconcile_send(c,
	    &(struct reconcile_message){
		.kind = again ? RECONCILE_RESEND : RECONCILE_NUDGE,
		.mode = DISPATCH_SEND,
		.code = code,
		.reason = reason,
		.text = text.data });
}

/* "A_x" -> "A_x-r2" -> "A_x-r3" */
static char *
successor_id(const char *id)
{
	const char *mark = strrchr(id, '-');
	int64_t number = 1;

	if (mark == NULL || mark[1] != 'r' ||
	    !text_parse_int(mark + 2, 2, INT32_MAX, &number))
		mark = id + strlen(id);
	return xasprintf(
	    "%.*s-r%lld", (int)(mark - id), id, (long long)number + 1);
}

static bool
reassign(struct reconcile_case *c, const char *code, const char *reason)
{
	struct plan_work *work = &c->node->work;
	cleanup_free char *id = successor_id(work->id);
	cleanup_free char *instruction = NULL;
	struct reconcile_facts none = { .assignment_id = id };
	struct reconcile_case next = *c;
	cleanup_buf struct buf text = BUF_INIT;
	int64_t idle = work->idle_after_ms;

	if (strlen(id) > PLAN_ID_MAX ||
	    !reconcile_allows(c->run->config, NULL, NULL) ||
	    !reconcile_move(c, ASSIGNMENT_CANCELLED, "reassigned", reason))
		return false;
	if (work->worker != NULL)
		reconcile_decide(c, RECONCILE_CANCEL,
		    &(struct reconcile_words){
			.code = "reassigned", .reason = reason });
	next.facts = &none;
	instruction = take_ptr(&work->instruction);
	plan_node_assign(c->node, id, c->run->now_ms);
	work->idle_after_ms = idle;
	work->recovery_policy = RECOVERY_ESCALATE;
	work->instruction = take_ptr(&instruction);
	reconcile_move(&next, ASSIGNMENT_DISPATCHED, code, reason);
	reconcile_instruction(&next, &text);
	reconcile_send(&next,
	    &(struct reconcile_message){ .kind = RECONCILE_REASSIGN,
		.mode = DISPATCH_SPAWN,
		.code = code,
		.reason = reason,
		.text = text.data });
	return true;
}

/* Others try it, as its policy says: smaller nodes first, then another worker.
 * False: there is none. */
static bool
try_anew(struct reconcile_case *c, const char *code, const char *reason)
{
	struct plan_work *work = &c->node->work;
	int64_t wait =
	    reconcile_backoff_ms(c->run->config, work->retry_count + 1);
	int64_t idle = reconcile_idle_ms(c);
	enum recovery_policy policy = policy_of(c);

	if (policy == RECOVERY_REPLAN) {
		work->recovery_policy = RECOVERY_REASSIGN;
		work->backoff_until_ms =
		    c->run->now_ms + (wait > idle ? wait : idle);
		reconcile_touch(c);
		reconcile_decide(c, RECONCILE_REPLAN,
		    &(struct reconcile_words){
			.code = code, .reason = reason });
		reconcile_tell(c, "assignment.replan",
		    reconcile_data("code", code, "reason", reason, NULL));
		return true;
	}
	return policy == RECOVERY_REASSIGN && reassign(c, code, reason);
}

static void
act(struct reconcile_case *c, const char *code, const char *reason)
{
	const struct reconcile_config *config = c->run->config;
	const struct reconcile_facts *facts = c->facts;
	const struct plan_work *work = &c->node->work;
	int messages = count_messages(c), most = reconcile_messages_max(config);
	bool vain = work->retry_count >= config->max_retries;
	enum progress_step step = silence_by_hand(
	    facts->sample, vain || messages >= most, policy_of(c));
	cleanup_free char *words = NULL;

	if (step == STEP_WARN) {
		retry(c, code, reason);
		return;
	}
	if (facts->sample == STALL_WAITING || facts->sample == STALL_FAILED) {
		code = stall_class_name(facts->sample);
		words = xstrdup(facts->sample_why != NULL ?
			facts->sample_why :
			facts->sample == STALL_FAILED ?
			"its session has failed" :
			"it waits for a person");
	} else if (vain) {
		code = "retries";
		words = xasprintf(
		    "%s; %d messages did not help", reason, work->retry_count);
	} else {
		code = "messages";
		words = xasprintf(
		    "%d messages were sent, and no result came", messages);
	}
	if (step != STEP_RETRY || !try_anew(c, code, words))
		reconcile_escalate(c, code, words);
}

/* A reply to a nudge that has no valid update, once. */
static bool
follow_up(struct reconcile_case *c)
{
	const struct plan_dispatch *d = plan_node_last_dispatch(c->node);
	struct nudge_facts facts = reconcile_text_facts(c);
	cleanup_buf struct buf text = BUF_INIT;

	if (c->facts->update != NULL || c->node->work.follow_up || d == NULL ||
	    !text_is(d->action, "nudge") || c->facts->reply_ms <= d->ts_ms)
		return false;
	c->node->work.follow_up = true;
	nudge_text_follow_up(&facts, c->facts->update_fault, &text);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_FOLLOW_UP,
		.mode = DISPATCH_SEND,
		.code = "no-update",
		.reason = "its reply has no valid update",
		.text = text.data });
	return true;
}

void
reconcile_recover(struct reconcile_case *c)
{
	struct plan_work *work = &c->node->work;
	int64_t now = c->run->now_ms;
	bool overdue = is_overdue(work, now);
	cleanup_buf struct buf reason = BUF_INIT;
	const char *code = overdue ? "overdue" : "idle";
	bool gates = c->may_dispatch && now >= work->backoff_until_ms &&
	    (work->last_dispatch_ms == 0 ||
		now - work->last_dispatch_ms >= c->run->config->min_resend_ms);

	if (work->status == ASSIGNMENT_BLOCKED) {
		go_on(c);
		return;
	}
	if (gates && follow_up(c))
		return;
	if (!reconcile_is_stale(work, c->run->config, now))
		return;
	buf_adds(&reason, "no sign of life for ");
	text_add_duration(&reason, now - last_sign_ms(work));
	reconcile_move(c, ASSIGNMENT_STALLED, code, reason.data);
	if (gates)
		act(c, code, reason.data);
}
