/* SPDX-License-Identifier: ISC */

#include "base.h"
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
	if (reconcile_updated(c) || c->facts->waiting || reconcile_observe(c) ||
	    reconcile_failed(c) || reconcile_asked(c))
		return;
	if (c->node->work.status == ASSIGNMENT_QUEUED)
		reconcile_assign(c);
	else
		reconcile_recover(c);
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
		found =
		    grow(found, count, sizeof(const struct reconcile_facts *));
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

static struct nudge_facts
text_facts(const struct plan_set *set, const struct plan_node *node)
{
	const struct plan *plan = plan_set_plan(set, node->goal_id);

	return (struct nudge_facts){
		.goal_id = node->goal_id,
		.goal_title = plan != NULL ? plan->goal->title : NULL,
		.node_id = node->id,
		.node_name = node->name,
	};
}

struct nudge_facts
reconcile_text_facts(const struct reconcile_case *c)
{
	return text_facts(c->run->set, c->node);
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
	work->expected_update_ms = now + reconcile_idle_ms(c);
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
reconcile_count_retry(struct reconcile_case *c)
{
	struct plan_work *work = &c->node->work;

	work->retry_count++;
	work->backoff_until_ms = c->run->now_ms +
	    reconcile_backoff_ms(c->run->config, work->retry_count);
}

void
reconcile_escalate(
    struct reconcile_case *c, const char *code, const char *words)
{
	struct nudge_facts facts = reconcile_text_facts(c);
	struct plan_work *work = &c->node->work;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *reason =
	    xstrndup(words, text_cut(words, strlen(words), REASON_MAX));

	reconcile_move(c, ASSIGNMENT_BLOCKED, code, reason);
	reconcile_work_block(c, reason);
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

enum dispatch_mode
reconcile_mode(const struct reconcile_case *c)
{
	return c->node->work.worker != NULL && !c->facts->lost ? DISPATCH_SEND :
								 DISPATCH_SPAWN;
}

/* last: the dispatch before this one, NULL = none. */
static void
add_instruction(const struct plan_set *set, const struct plan_node *node,
    const struct plan_dispatch *last, struct buf *out)
{
	struct nudge_facts facts = text_facts(set, node);

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

void
reconcile_instruction(const struct reconcile_case *c, struct buf *out)
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
	struct nudge_facts facts = text_facts(set, node);

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
