/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ladder.h"
#include "plan-goal.h"
#include "plan.h"
#include "prompt.h"
#include "reconcile-work.h"
#include "reconcile.h"
#include "settings-table.h"
#include "settings.h"

#define DOUBLINGS_MAX 10
#define MESSAGES_MAX  32 /* fewer than a record has dispatches */

void
reconcile_config_read(
    const struct settings *settings, struct reconcile_config *ret_config)
{
	int64_t tick = tuning.plan_tick;

	ret_config->enabled = settings_bool(settings, "plan.enabled");
	ret_config->tick_every_ms = tick;
	ret_config->idle_after_ms = tick * 15 / 2;
	ret_config->max_retries = (int)tuning.plan_retries;
	ret_config->min_resend_ms = tick * 5 / 2;
	ret_config->backoff_base_ms = tick;
	ret_config->backoff_max_ms = tick * 15;
	settings_list(settings, "plan.allow_agents", &ret_config->allow_agents);
	ret_config->allow_cross_agent = true;
}

int64_t
reconcile_backoff_ms(const struct reconcile_config *config, int retries)
{
	int64_t wait = config->backoff_base_ms;
	int64_t max = config->backoff_max_ms;

	for (int i = 0; i < retries && i < DOUBLINGS_MAX && wait < max; i++)
		wait = wait > max / 2 ? max : wait * 2;
	return wait < max ? wait : max;
}

static bool
is_listed(const struct reconcile_config *config, const char *name)
{
	const char *const *agents = config->allow_agents;

	for (size_t i = 0; agents != NULL && agents[i] != NULL; i++)
		if (strcmp(agents[i], name) == 0)
			return true;
	return false;
}

bool
reconcile_allows(const struct reconcile_config *config, const char *driven,
    const char *worker)
{
	if (driven != NULL && !config->allow_cross_agent)
		return false;
	return is_listed(config, RECONCILE_AGENT_ANY) ||
	    is_listed(config, driven != NULL ? driven : AGENT_MAIN) ||
	    (worker != NULL && is_listed(config, worker));
}

int
reconcile_messages_max(const struct reconcile_config *config)
{
	int most = 3 * (config->max_retries + 1);

	return most < MESSAGES_MAX ? most : MESSAGES_MAX;
}

const char *
reconcile_gate_reason(enum reconcile_gate gate)
{
	static const char *const reasons[] = {
		[RECONCILE_OPEN] = NULL,
		[RECONCILE_DISABLED] = "disabled",
		[RECONCILE_BUSY] = "requests-in-flight",
	};

	return reasons[gate];
}

/* --- what a dispatch says --------------------------------------------- */

/* To a session that there is, or to a fresh worker. */
static enum dispatch_mode
mode_of(const struct reconcile_case *c)
{
	return c->node->work.worker != NULL && !c->facts->lost ? DISPATCH_SEND :
								 DISPATCH_SPAWN;
}

/* last: the dispatch before this one, NULL = none. */
static void
add_instruction(const struct plan_set *set, const struct plan_node *node,
    const struct plan_dispatch *last, struct buf *out)
{
	struct nudge_facts facts = reconcile_text_facts(set, node);

	if (last != NULL && last->mode == DISPATCH_ESCALATE)
		nudge_text_unblocked(
		    plan_unblocked_why(
			plan_set_plan(set, node->goal_id), node->id),
		    out);
	if (node->work.instruction != NULL)
		buf_adds(out, node->work.instruction);
	else
		nudge_text_status(&facts, out);
}

/* Append the instruction; without one, the request for the status, which names
 * the node. */
static void
say_instruction(const struct reconcile_case *c, struct buf *out)
{
	add_instruction(
	    c->run->set, c->node, plan_node_last_dispatch(c->node), out);
}

static bool
is_action(const struct plan_dispatch *dispatch, enum reconcile_kind kind)
{
	return text_is(dispatch->action, reconcile_kind_words[kind]);
}

void
reconcile_dispatch_text(const struct plan_set *set,
    const struct plan_node *node, const struct plan_dispatch *dispatch,
    struct buf *out)
{
	struct nudge_facts facts = reconcile_text_facts(set, node);

	if (dispatch->mode == DISPATCH_ESCALATE)
		nudge_text_escalation(&facts,
		    node->work.blocked_reason != NULL ?
			node->work.blocked_reason :
			"it is blocked",
		    out);
	else if (is_action(dispatch, RECONCILE_FOLLOW_UP))
		nudge_text_follow_up(&facts, NULL, out);
	else if (is_action(dispatch, RECONCILE_NUDGE))
		nudge_text_status(&facts, out);
	else
		add_instruction(set, node,
		    dispatch != node->work.dispatches ? dispatch - 1 : NULL,
		    out);
}

/* --- liveness --------------------------------------------------------- */

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
	    now_ms - last_sign_ms(work) >= reconcile_idle_ms(work, config);
}

/* Its own, or that of its node, or of what is above it. */
static enum recovery_policy
policy_of(const struct reconcile_case *c)
{
	enum recovery_policy policy = c->node->work.recovery_policy;

	return policy != RECOVERY_UNSET ? policy :
					  plan_recovery(c->plan, c->node);
}

/* Record signs of life. True if a turn is running: then it is auto mode's. */
static bool
observe(struct reconcile_case *c)
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
	say_instruction(c, &text);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_ASSIGN,
		.mode = mode_of(c),
		.code = code,
		.reason = reason,
		.text = text.data });
	reconcile_work_begin(c);
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

/*
 * The steps for an assignment that is not alive (silence_by_hand()): nudge or
 * resend up to max_retries; replan, then reassign, where its recovery policy
 * says so; tell a person. Each step is taken once: the next one is higher up.
 */

/* One retry more: the next message has to wait. */
static void
count_retry(struct reconcile_case *c)
{
	struct plan_work *work = &c->node->work;

	work->retry_count++;
	work->backoff_until_ms = c->run->now_ms +
	    reconcile_backoff_ms(c->run->config, work->retry_count);
}

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
	count_retry(c);
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
	struct nudge_facts facts = reconcile_text_facts(c->run->set, c->node);
	cleanup_buf struct buf text = BUF_INIT;

	if (resend_same(c))
		return;
	if (again)
		say_instruction(c, &text);
	else
		nudge_text_status(&facts, &text);
	count_retry(c);
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
	say_instruction(&next, &text);
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
	int64_t idle = reconcile_idle_ms(work, c->run->config);
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
	struct nudge_facts facts = reconcile_text_facts(c->run->set, c->node);
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

/* Is it stalled, and what now? */
static void
recover(struct reconcile_case *c)
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

/* --- the tick --------------------------------------------------------- */

/* The order matters: what is final first, then what was reported, then signs
 * of life, and only then what to do about their absence. */
static void
reconcile_one(struct reconcile_case *c)
{
	if (reconcile_closed(c) || reconcile_accepted(c))
		return;
	/* What was sent at this moment is newer than the telemetry. */
	if (c->node->work.last_dispatch_ms >= c->run->now_ms ||
	    !reconcile_allows(c->run->config, plan_node_driven(c->node),
		c->node->work.worker))
		return;
	if (reconcile_updated(c) || c->facts->waiting || observe(c) ||
	    reconcile_failed(c) || reconcile_asked(c))
		return;
	if (c->node->work.status == ASSIGNMENT_QUEUED)
		assign(c, "ready", "the node is ready to be worked on");
	else
		recover(c);
}

void
reconcile(struct plan_set *set, const struct reconcile_telemetry *telemetry,
    const struct reconcile_config *config, int64_t now_ms,
    struct reconcile_result *ret_result)
{
	struct reconcile_run run = { set, telemetry, config, now_ms,
		ret_result };
	cleanup_free const struct reconcile_facts **found = NULL;
	struct plan_cursor cursor = { 0 };
	struct strmap facts = { 0 };
	struct plan_node *node;
	size_t count = 0;

	*ret_result = (struct reconcile_result){ 0 };
	if (!config->enabled || config->tick_every_ms <= 0) {
		ret_result->gate = RECONCILE_DISABLED;
		return;
	}
	if (telemetry->busy)
		ret_result->gate = RECONCILE_BUSY;
	for (size_t i = 0; i < telemetry->count; i++)
		strmap_add(&facts, telemetry->facts[i].assignment_id,
		    (void *)(uintptr_t)&telemetry->facts[i]);
	/* All are found first: a node that goes to another worker gets another
	 * id. */
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		found = xreallocarray(
		    found, count + 1, sizeof(const struct reconcile_facts *));
		found[count++] = strmap_get(&facts, node->work.id);
	}
	strmap_release(&facts);
	cursor = (struct plan_cursor){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct reconcile_facts none = { 0 };
		struct reconcile_case c = { .run = &run,
			.node = plan_set_next(set, &cursor),
			.facts = found[i] != NULL ? found[i] : &none };

		if (!plan_node_is_assigned(c.node))
			continue;
		c.plan = set->plans[cursor.plan];
		c.may_dispatch = !telemetry->busy && !c.facts->busy &&
		    c.plan->goal->status == GOAL_ACTIVE &&
		    ret_result->decision_count + 2 <= RECONCILE_DECISIONS_MAX;
		reconcile_one(&c);
	}
	reconcile_work_finish(&run);
}

void
reconcile_now(struct plan_set *set, struct plan_node *node,
    const struct reconcile_facts *facts, const struct reconcile_config *config,
    int64_t now_ms, struct reconcile_result *ret_result)
{
	const struct reconcile_telemetry telemetry = { .facts = facts,
		.count = 1 };
	struct reconcile_run run = { set, &telemetry, config, now_ms,
		ret_result };
	struct reconcile_case c = { .run = &run,
		.plan = plan_set_plan(set, node->goal_id),
		.node = node,
		.facts = facts,
		.may_dispatch = true };

	*ret_result = (struct reconcile_result){ 0 };
	if (plan_node_is_assigned(node))
		reconcile_one(&c);
	reconcile_work_finish(&run);
}

void
reconcile_result_release(struct reconcile_result *result)
{
	for (size_t i = 0; i < result->plan_count; i++) {
		plan_changes_release(&result->plans[i]->changes);
		free(result->plans[i]);
	}
	free(result->worked);
	free(result->crystals);
	free(result->plans);
	strmap_release(&result->plans_by_goal);
	for (size_t i = 0; i < result->decision_count; i++) {
		struct reconcile_decision *d = &result->decisions[i];

		free(d->dispatch_id);
		free(d->assignment_id);
		free(d->goal_id);
		free(d->node_id);
		free(d->worker);
		free(d->reason);
		free(d->text);
	}
	for (size_t i = 0; i < result->event_count; i++) {
		struct reconcile_event *e = &result->events[i];

		free(e->goal_id);
		free(e->assignment_id);
		free(e->node_id);
		free(e->worker);
		free(e->task);
		json_object_put(e->data);
	}
	free(result->decisions);
	free(result->events);
	*result = (struct reconcile_result){ 0 };
}
