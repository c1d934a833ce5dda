/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "nudge-text.h"
#include "reconcile-ladder.h"
#include "reconcile-work.h"
#include "reconcile.h"
#include "silence.h"

/* --- liveness --------------------------------------------------------- */

static int64_t
idle_of(const struct plan_assignment *a, const struct reconcile_config *config)
{
	return a->idle_after_ms > 0 ? a->idle_after_ms : config->idle_after_ms;
}

int64_t
reconcile_idle_ms(const struct reconcile_case *c)
{
	return idle_of(c->assignment, c->run->config);
}

static int64_t
last_sign_ms(const struct plan_assignment *a)
{
	int64_t last = a->last_dispatch_ms > a->last_activity_ms ?
	    a->last_dispatch_ms :
	    a->last_activity_ms;

	return last > 0 ? last : a->created_ms;
}

static bool
is_overdue(const struct plan_assignment *a, int64_t now_ms)
{
	return a->expected_update_ms > 0 && now_ms >= a->expected_update_ms;
}

bool
reconcile_is_stale(const struct plan_assignment *a,
    const struct reconcile_config *config, int64_t now_ms)
{
	if (a->status != ASSIGNMENT_DISPATCHED &&
	    a->status != ASSIGNMENT_ACTIVE && a->status != ASSIGNMENT_STALLED)
		return false;
	return a->status == ASSIGNMENT_STALLED || is_overdue(a, now_ms) ||
	    now_ms - last_sign_ms(a) >= idle_of(a, config);
}

/* Its own, or that of its node, or of what is above it. */
static enum recovery_policy
policy_of(const struct plan_set *set, const struct plan_assignment *a)
{
	const struct plan *plan = plan_set_plan(set, a->goal_id);

	if (a->recovery_policy != RECOVERY_UNSET || plan == NULL)
		return a->recovery_policy;
	return plan_recovery(plan, plan_set_node_of(set, a));
}

bool
reconcile_observe(struct reconcile_case *c)
{
	const struct reconcile_facts *facts = c->facts;
	struct plan_assignment *a = c->assignment;
	int64_t now = c->run->now_ms;
	int64_t seen = facts->in_turn ? now : facts->activity_ms;
	bool new_turn = facts->in_turn || facts->turn_ms > a->last_dispatch_ms;

	if (seen > now)
		seen = now;
	if (!facts->in_turn &&
	    (seen <= a->last_activity_ms || seen <= a->last_dispatch_ms))
		return false;
	/* What waits for a person goes on when somebody gives it a turn. */
	if (a->status == ASSIGNMENT_BLOCKED && !(a->escalated && new_turn))
		return facts->in_turn;
	if (a->status == ASSIGNMENT_QUEUED)
		return facts->in_turn;
	a->escalated = false;
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
	    c->run->now_ms < c->assignment->backoff_until_ms ||
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

	if (c->node == NULL || c->node->status == NODE_BLOCKED ||
	    !c->may_dispatch)
		return;
	c->assignment->escalated = false;
	if (c->facts->lost) {
		reconcile_move(c, ASSIGNMENT_CANCELLED, code, reason);
		return;
	}
	reconcile_move(c, ASSIGNMENT_QUEUED, code, reason);
	assign(c, code, reason);
}

/* --- the ladder ------------------------------------------------------- */

/* Messages to this worker, or since a person was told. An update is an answer
 * in words, and begins nothing anew. */
static int
count_messages(const struct reconcile_case *c)
{
	const struct plan_assignment *a = c->assignment;
	int count = 0;

	for (size_t i = a->dispatch_count; i > 0; i--) {
		if (a->dispatches[i - 1].mode != DISPATCH_SEND)
			break;
		count++;
	}
	return count;
}

/* The last dispatch again, once, because nothing shows that it arrived. */
static bool
resend_same(struct reconcile_case *c)
{
	const struct plan_dispatch *d = plan_assignment_last(c->assignment);
	cleanup_buf struct buf text = BUF_INIT;

	if (d == NULL || d->result == DISPATCH_ACCEPTED ||
	    d->result == DISPATCH_OK || d->notes != NULL)
		return false;
	reconcile_dispatch_text(c->run->set, c->assignment, d, &text);
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
	bool again =
	    policy_of(c->run->set, c->assignment) == RECOVERY_RESEND_LAST &&
	    c->assignment->instruction != NULL;
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
	struct plan_assignment *old = c->assignment, *new;
	cleanup_free char *id = successor_id(old->id);
	struct reconcile_facts none = { .assignment_id = id };
	struct reconcile_case next = *c;
	cleanup_buf struct buf text = BUF_INIT;

	if (strlen(id) > PLAN_ID_MAX ||
	    plan_set_assignment(c->run->set, id) != NULL ||
	    !reconcile_allows(c->run->config, NULL, NULL) ||
	    !reconcile_move(c, ASSIGNMENT_CANCELLED, "reassigned", reason))
		return false;
	if (old->worker != NULL)
		reconcile_decide(c, RECONCILE_CANCEL,
		    &(struct reconcile_words){
			.code = "reassigned", .reason = reason });
	new =
	    plan_assignment_new(id, old->goal_id, old->node_id, c->run->now_ms);
	xstrset(&new->agent_id, RECONCILE_AGENT_MAIN);
	new->idle_after_ms = old->idle_after_ms;
	new->recovery_policy = RECOVERY_ESCALATE;
	next.assignment = new;
	next.facts = &none;
	if (old->instruction != NULL)
		plan_assignment_instruct(new, old->instruction);
	if (plan_set_add_assignment(c->run->set, new, NULL) < 0) {
		plan_assignment_free(new);
		return true;
	}
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
 * False: nobody can. */
static bool
try_anew(struct reconcile_case *c, const char *code, const char *reason)
{
	struct plan_assignment *a = c->assignment;
	int64_t wait = reconcile_backoff_ms(c->run->config, a->retry_count + 1);
	int64_t idle = reconcile_idle_ms(c);
	enum recovery_policy policy = policy_of(c->run->set, a);

	if (policy == RECOVERY_REPLAN && c->node != NULL) {
		a->recovery_policy = RECOVERY_REASSIGN;
		a->backoff_until_ms =
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
	const struct plan_assignment *a = c->assignment;
	int messages = count_messages(c), most = reconcile_messages_max(config);
	bool vain = a->retry_count >= config->max_retries;
	enum progress_step step = silence_by_hand(
	    facts->sample, vain || messages >= most, policy_of(c->run->set, a));
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
		    "%s; %d messages did not help", reason, a->retry_count);
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
	const struct plan_dispatch *d = plan_assignment_last(c->assignment);
	struct nudge_facts facts = reconcile_text_facts(c);
	cleanup_buf struct buf text = BUF_INIT;

	if (c->facts->update != NULL || c->assignment->follow_up || d == NULL ||
	    d->action == NULL || strcmp(d->action, "nudge") != 0 ||
	    c->facts->reply_ms <= d->ts_ms)
		return false;
	c->assignment->follow_up = true;
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
	struct plan_assignment *a = c->assignment;
	int64_t now = c->run->now_ms;
	bool overdue = is_overdue(a, now);
	cleanup_buf struct buf reason = BUF_INIT;
	const char *code = overdue ? "overdue" : "idle";
	bool gates = c->may_dispatch && now >= a->backoff_until_ms &&
	    (a->last_dispatch_ms == 0 ||
		now - a->last_dispatch_ms >= c->run->config->min_resend_ms);

	if (a->status == ASSIGNMENT_BLOCKED) {
		go_on(c);
		return;
	}
	if (gates && follow_up(c))
		return;
	if (!reconcile_is_stale(a, c->run->config, now))
		return;
	buf_adds(&reason, "no sign of life for ");
	text_add_duration(&reason, now - last_sign_ms(a));
	reconcile_move(c, ASSIGNMENT_STALLED, code, reason.data);
	if (gates)
		act(c, code, reason.data);
}
