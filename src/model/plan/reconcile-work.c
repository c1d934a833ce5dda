/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event.h"
#include "hook-event.h"
#include "id.h"
#include "plan-goal.h"
#include "plan-progress.h"
#include "prompt.h"
#include "reconcile-work.h"
#include "reconcile.h"
#include "work-record.h"

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

/* --- what a tick has decided ------------------------------------------ */

const char *const reconcile_kind_words[] = {
	[RECONCILE_ASSIGN] = "assign",
	[RECONCILE_NUDGE] = "nudge",
	[RECONCILE_FOLLOW_UP] = "follow_up",
	[RECONCILE_RESEND] = "resend",
	[RECONCILE_REPLAN] = "replan",
	[RECONCILE_REASSIGN] = "reassign",
	[RECONCILE_ESCALATE] = "escalate",
	[RECONCILE_RELEASE] = "release",
	[RECONCILE_CANCEL] = "cancel",
	[RECONCILE_KIND_COUNT] = NULL,
};

/* Room for one more: doubled whenever the count is a power of two. */
static void *
grow(void *list, size_t count, size_t size)
{
	if (count > 0 && (count & (count - 1)) != 0)
		return list;
	return xreallocarray(list, count == 0 ? 1 : count * 2, size);
}

static char *
copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

void
reconcile_touch(struct reconcile_case *c)
{
	struct reconcile_result *out = c->run->result;

	c->node->work.updated_ms = c->run->now_ms;
	/* Nodes have their turn one after the other. */
	if (out->worked_count > 0 &&
	    out->worked[out->worked_count - 1] == c->node)
		return;
	out->worked =
	    grow(out->worked, out->worked_count, sizeof(struct plan_node *));
	out->worked[out->worked_count++] = c->node;
}

struct plan_changes *
reconcile_changes(struct reconcile_case *c)
{
	struct reconcile_result *out = c->run->result;
	struct reconcile_plan *plan;

	plan = strmap_get(&out->plans_by_goal, c->plan->goal->id);
	if (plan != NULL)
		return &plan->changes;
	plan = xcalloc(1, sizeof *plan);
	plan->plan = c->plan;
	strmap_add(&out->plans_by_goal, c->plan->goal->id, plan);
	out->plans =
	    grow(out->plans, out->plan_count, sizeof(struct reconcile_plan *));
	out->plans[out->plan_count++] = plan;
	return &plan->changes;
}

static struct reconcile_event *
add_event(
    struct reconcile_result *out, const char *type, struct json_object *data)
{
	struct reconcile_event *event;

	out->events = grow(out->events, out->event_count, sizeof *out->events);
	event = &out->events[out->event_count++];
	*event = (struct reconcile_event){ .type = type, .data = data };
	return event;
}

void
reconcile_tell(
    struct reconcile_case *c, const char *type, struct json_object *data)
{
	struct reconcile_event *event = add_event(c->run->result, type, data);
	const struct plan_node *node = c->node;

	event->goal_id = copy(node->goal_id);
	event->assignment_id = copy(node->work.id);
	event->node_id = copy(node->id);
	event->worker = copy(node->work.worker);
	event->task = copy(node->work.task);
}

void
reconcile_tell_node(struct reconcile_result *out, const char *type,
    const char *goal_id, const char *node_id, struct json_object *data)
{
	struct reconcile_event *event = add_event(out, type, data);

	event->goal_id = copy(goal_id);
	event->node_id = copy(node_id);
}

struct json_object *
reconcile_data(const char *key, ...)
{
	struct json_object *data = json_object_new_object();
	va_list ap;

	va_start(ap, key);
	while (key != NULL) {
		const char *value = va_arg(ap, const char *);

		if (value != NULL)
			json_set_string(data, key, value);
		key = va_arg(ap, const char *);
	}
	va_end(ap);
	return data;
}

void
reconcile_decide(struct reconcile_case *c, enum reconcile_kind kind,
    const struct reconcile_words *words)
{
	struct reconcile_result *out = c->run->result;
	const struct plan_node *node = c->node;

	out->decisions =
	    grow(out->decisions, out->decision_count, sizeof *out->decisions);
	out->decisions[out->decision_count++] = (struct reconcile_decision){
		.kind = kind,
		.mode = words->mode,
		.dispatch_id = copy(words->dispatch_id),
		.assignment_id = copy(node->work.id),
		.goal_id = copy(node->goal_id),
		.node_id = copy(node->id),
		.worker = copy(node->work.worker),
		.code = words->code,
		.reason = copy(words->reason),
		.text = copy(words->text),
	};
}

void
reconcile_add_crystal(struct reconcile_run *run, struct plan_crystal *crystal)
{
	struct reconcile_result *out = run->result;

	if (plan_set_add_crystal(run->set, crystal, NULL) < 0) {
		plan_crystal_free(crystal);
		return;
	}

	out->crystals = grow(
	    out->crystals, out->crystal_count, sizeof(struct plan_crystal *));
	out->crystals[out->crystal_count++] = crystal;
}

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
queue_node(struct reconcile_case *c)
{
	move_node(c, &(struct plan_node_move){ .to = NODE_QUEUED });
}

void
reconcile_work_begin(struct reconcile_case *c)
{
	if (c->node->status == NODE_IN_PROGRESS)
		return;
	if (c->node->status == NODE_TODO || c->node->status == NODE_BLOCKED)
		queue_node(c);
	move_node(c, &(struct plan_node_move){ .to = NODE_IN_PROGRESS });
}

static void
block_node(struct reconcile_case *c, const char *reason)
{
	move_node(c,
	    &(struct plan_node_move){ .to = NODE_BLOCKED, .reason = reason });
}

int64_t
reconcile_idle_ms(
    const struct plan_work *work, const struct reconcile_config *config)
{
	return work->idle_after_ms > 0 ? work->idle_after_ms :
					 config->idle_after_ms;
}

void
reconcile_progress(struct reconcile_case *c, int64_t at_ms)
{
	struct plan_work *work = &c->node->work;
	int64_t due = at_ms + reconcile_idle_ms(work, c->run->config);
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

/* --- dispatches ------------------------------------------------------- */

#define ASSIGNMENT_PREFIX "A_"
#define REASON_MAX        2000 /* bytes */

/* "D_<assignment>-<number>": the same tick gives the same id. */
static char *
dispatch_id(const struct plan_node *node)
{
	const struct plan_dispatch *last = plan_node_last_dispatch(node);
	const char *name = node->work.id, *dash;
	int64_t number = (int64_t)node->work.dispatch_count;

	if (text_begins(name, ASSIGNMENT_PREFIX))
		name += strlen(ASSIGNMENT_PREFIX);
	dash = last != NULL ? strrchr(last->id, '-') : NULL;
	if (dash != NULL)
		text_parse_int(dash + 1, 0, INT32_MAX, &number);
	return xasprintf("D_%s-%lld", name, (long long)number + 1);
}

struct nudge_facts
reconcile_text_facts(const struct plan_set *set, const struct plan_node *node)
{
	const struct plan *plan = plan_set_plan(set, node->goal_id);

	return (struct nudge_facts){
		.goal_id = node->goal_id,
		.goal_title = plan != NULL ? plan->goal->title : NULL,
		.node_id = node->id,
		.node_name = node->name,
	};
}

void
reconcile_send(struct reconcile_case *c, const struct reconcile_message *m)
{
	struct plan_work *work = &c->node->work;
	struct plan_dispatch *d = plan_node_last_dispatch(c->node);
	const char *action = reconcile_kind_words[m->kind];
	int64_t now = c->run->now_ms;
	struct json_object *data;

	if (m->same) {
		d->ts_ms = now;
		d->result = DISPATCH_PENDING;
		xstrset(&d->notes, "sent again: the delivery was uncertain");
		work->last_dispatch_ms = now;
	} else {
		cleanup_free char *id = dispatch_id(c->node);

		d = plan_node_dispatch(c->node, id, m->mode, action, now);
	}
	work->expected_update_ms =
	    now + reconcile_idle_ms(work, c->run->config);
	reconcile_touch(c);
	reconcile_decide(c, m->kind,
	    &(struct reconcile_words){ .code = m->code,
		.reason = m->reason,
		.text = m->text,
		.dispatch_id = d->id,
		.mode = d->mode });
	data = reconcile_data("dispatchId", d->id, "action", action, "mode",
	    dispatch_mode_words[d->mode], "code", m->code, "reason", m->reason,
	    NULL);
	if (m->kind == RECONCILE_ASSIGN || m->kind == RECONCILE_REASSIGN) {
		json_set_string(data, "from", "queued");
		json_set_string(data, "to", "dispatched");
	}
	json_set_int(data, "retryCount", work->retry_count);
	if (work->backoff_until_ms > 0)
		json_set_int(data, "backoffUntil", work->backoff_until_ms);
	reconcile_tell(c,
	    m->kind == RECONCILE_ESCALATE ? "assignment.escalated" :
					    "assignment.dispatched",
	    data);
}

void
reconcile_escalate(
    struct reconcile_case *c, const char *code, const char *words)
{
	struct nudge_facts facts = reconcile_text_facts(c->run->set, c->node);
	struct plan_work *work = &c->node->work;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *reason =
	    xstrndup(words, text_cut(words, strlen(words), REASON_MAX));

	reconcile_move(c, ASSIGNMENT_BLOCKED, code, reason);
	block_node(c, reason);
	work->escalated = true;
	work->retry_count = 0;
	work->backoff_until_ms = 0;
	nudge_text_escalation(&facts, reason, &text);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_ESCALATE,
		.mode = DISPATCH_ESCALATE,
		.code = code,
		.reason = reason,
		.text = text.data });
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
	queue_node(c);
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
