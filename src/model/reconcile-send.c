/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "json.h"
#include "mem.h"
#include "nudge-text.h"
#include "reconcile-ladder.h"
#include "reconcile-send.h"
#include "reconcile-work.h"
#include "text.h"

#define ASSIGNMENT_PREFIX "A_"
#define REASON_MAX        2000 /* bytes */

/* "D_<assignment>-<number>": the same tick gives the same id. */
static char *
dispatch_id(const struct plan_assignment *a)
{
	const struct plan_dispatch *last = plan_assignment_last(a);
	const char *name = a->id, *dash;
	int64_t number = (int64_t)a->dispatch_count;

	if (strncmp(name, ASSIGNMENT_PREFIX, strlen(ASSIGNMENT_PREFIX)) == 0)
		name += strlen(ASSIGNMENT_PREFIX);
	dash = last != NULL ? strrchr(last->id, '-') : NULL;
	if (dash != NULL)
		text_parse_int(dash + 1, 0, INT32_MAX, &number);
	return xasprintf("D_%s-%lld", name, (long long)number + 1);
}

static struct nudge_facts
text_facts(const struct plan_set *set, const struct plan_assignment *a)
{
	const struct plan *plan = plan_set_plan(set, a->goal_id);
	const struct plan_node *node = plan_set_node_of(set, a);

	return (struct nudge_facts){
		.goal_id = a->goal_id,
		.goal_title = plan != NULL ? plan->goal->title : NULL,
		.node_id = a->node_id,
		.node_name = node != NULL ? node->name : NULL,
	};
}

struct nudge_facts
reconcile_text_facts(const struct reconcile_case *c)
{
	return text_facts(c->run->set, c->assignment);
}

void
reconcile_send(struct reconcile_case *c, const struct reconcile_message *m)
{
	struct plan_assignment *a = c->assignment;
	struct plan_dispatch *d = plan_assignment_last(a);
	const char *action = reconcile_kind_words[m->kind];
	int64_t now = c->run->now_ms;
	char hash[PLAN_HASH_SIZE];
	struct json_object *data;

	plan_instruction_hash(m->text, hash);
	if (m->same) {
		d->ts_ms = now;
		d->result = DISPATCH_PENDING;
		xstrset(&d->notes, "sent again: the delivery was uncertain");
		a->last_dispatch_ms = now;
	} else {
		cleanup_free char *id = dispatch_id(a);

		d = plan_assignment_dispatch(a, id, m->mode, action, now);
		xstrset(&d->instruction_hash, hash);
	}
	a->expected_update_ms = now + reconcile_idle_ms(c);
	reconcile_touch(c);
	reconcile_decide(c, m->kind,
	    &(struct reconcile_words){ .code = m->code,
		.reason = m->reason,
		.text = m->text,
		.dispatch_id = d->id,
		.mode = d->mode });
	data = reconcile_data("dispatchId", d->id, "action", action, "mode",
	    dispatch_mode_words[d->mode], "code", m->code, "reason", m->reason,
	    "instructionHash", hash, NULL);
	if (m->kind == RECONCILE_ASSIGN || m->kind == RECONCILE_REASSIGN) {
		json_set_string(data, "from", "queued");
		json_set_string(data, "to", "dispatched");
	}
	json_set_int(data, "retryCount", a->retry_count);
	if (a->backoff_until_ms > 0)
		json_set_int(data, "backoffUntil", a->backoff_until_ms);
	reconcile_tell(c,
	    m->kind == RECONCILE_ESCALATE ? "assignment.escalated" :
					    "assignment.dispatched",
	    data);
}

void
reconcile_count_retry(struct reconcile_case *c)
{
	struct plan_assignment *a = c->assignment;

	a->retry_count++;
	a->last_retry_ms = c->run->now_ms;
	a->backoff_until_ms = c->run->now_ms +
	    reconcile_backoff_ms(c->run->config, a->retry_count);
}

void
reconcile_escalate(
    struct reconcile_case *c, const char *code, const char *words)
{
	struct nudge_facts facts = reconcile_text_facts(c);
	struct plan_assignment *a = c->assignment;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *reason =
	    xstrndup(words, text_cut(words, strlen(words), REASON_MAX));

	reconcile_move(c, ASSIGNMENT_BLOCKED, code, reason);
	reconcile_work_block(c, reason);
	a->escalated = true;
	a->retry_count = 0;
	a->backoff_until_ms = 0;
	nudge_text_escalation(&facts, reason, &text);
	reconcile_send(c,
	    &(struct reconcile_message){ .kind = RECONCILE_ESCALATE,
		.mode = DISPATCH_ESCALATE,
		.code = code,
		.reason = reason,
		.text = text.data });
}

enum dispatch_mode
reconcile_mode(const struct reconcile_case *c)
{
	return c->assignment->session_key != NULL && !c->facts->lost ?
	    DISPATCH_SEND :
	    DISPATCH_SPAWN;
}

/* last: the dispatch before this one, NULL = none. */
static void
add_instruction(const struct plan_set *set, const struct plan_assignment *a,
    const struct plan_dispatch *last, struct buf *out)
{
	struct nudge_facts facts = text_facts(set, a);

	if (last != NULL && last->mode == DISPATCH_ESCALATE)
		nudge_text_unblocked(
		    plan_unblocked_why(
			plan_set_plan(set, a->goal_id), a->node_id),
		    out);
	if (a->instruction != NULL)
		buf_adds(out, a->instruction);
	else
		nudge_text_status(&facts, out);
}

void
reconcile_instruction(const struct reconcile_case *c, struct buf *out)
{
	add_instruction(c->run->set, c->assignment,
	    plan_assignment_last(c->assignment), out);
}

static bool
is_action(const struct plan_dispatch *dispatch, enum reconcile_kind kind)
{
	return dispatch->action != NULL &&
	    strcmp(dispatch->action, reconcile_kind_words[kind]) == 0;
}

void
reconcile_dispatch_text(const struct plan_set *set,
    const struct plan_assignment *assignment,
    const struct plan_dispatch *dispatch, struct buf *out)
{
	struct nudge_facts facts = text_facts(set, assignment);

	if (dispatch->mode == DISPATCH_ESCALATE)
		nudge_text_escalation(&facts,
		    assignment->blocked_reason != NULL ?
			assignment->blocked_reason :
			"it is blocked",
		    out);
	else if (is_action(dispatch, RECONCILE_FOLLOW_UP))
		nudge_text_follow_up(&facts, NULL, out);
	else if (is_action(dispatch, RECONCILE_NUDGE))
		nudge_text_status(&facts, out);
	else
		add_instruction(set, assignment,
		    dispatch != assignment->dispatches ? dispatch - 1 : NULL,
		    out);
}
