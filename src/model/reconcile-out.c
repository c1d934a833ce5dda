/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "plan-crystal.h"
#include "reconcile-out.h"

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

	c->assignment->updated_ms = c->run->now_ms;
	if (!strmap_add(
		&out->assignments_by_id, c->assignment->id, c->assignment))
		return;
	out->assignments = grow(out->assignments, out->assignment_count,
	    sizeof(struct plan_assignment *));
	out->assignments[out->assignment_count++] = c->assignment;
}

struct plan_changes *
reconcile_changes(struct reconcile_case *c)
{
	struct reconcile_result *out = c->run->result;
	struct reconcile_plan *plan;

	if (c->plan == NULL)
		return NULL;
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
	const struct plan_assignment *a = c->assignment;

	event->goal_id = copy(a->goal_id);
	event->assignment_id = copy(a->id);
	event->node_id = copy(a->node_id);
	event->worker = copy(a->worker);
	event->task = copy(a->task);
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
	const struct plan_assignment *a = c->assignment;

	out->decisions =
	    grow(out->decisions, out->decision_count, sizeof *out->decisions);
	out->decisions[out->decision_count++] = (struct reconcile_decision){
		.kind = kind,
		.mode = words->mode,
		.dispatch_id = copy(words->dispatch_id),
		.assignment_id = copy(a->id),
		.goal_id = copy(a->goal_id),
		.node_id = copy(a->node_id),
		.worker = copy(a->worker),
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
	free(result->assignments);
	free(result->crystals);
	free(result->plans);
	strmap_release(&result->plans_by_goal);
	strmap_release(&result->assignments_by_id);
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
