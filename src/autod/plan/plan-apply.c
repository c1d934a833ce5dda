/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "plan-apply.h"
#include "plan-assignment.h"
#include "plan-book.h"
#include "plan-dispatch.h"
#include "plan-floor.h"
#include "plan-meta.h"
#include "plan-summary.h"
#include "reconcile.h"
#include "workspace.h"

/* --- records ---------------------------------------------------------- */

void
plan_apply_assignment(
    struct plan_floor *floor, const struct plan_assignment *assignment)
{
	plan_book_record(
	    floor, BOOK_ASSIGNMENT, assignment->goal_id, assignment->id);
}

static void
store_records(struct plan_floor *floor, const struct reconcile_result *result)
{
	for (size_t i = 0; i < result->plan_count; i++)
		plan_book_changes(
		    floor, result->plans[i]->plan, &result->plans[i]->changes);
	for (size_t i = 0; i < result->assignment_count; i++)
		plan_apply_assignment(floor, result->assignments[i]);
	for (size_t i = 0; i < result->crystal_count; i++)
		plan_book_record(floor, BOOK_CRYSTAL,
		    result->crystals[i]->goal_id, result->crystals[i]->id);
}

/* --- events ----------------------------------------------------------- */

static void
tell(struct plan_floor *floor, const struct reconcile_event *e)
{
	const struct event_row *row = event_row_named(e->type);
	cleanup_buf struct buf data = BUF_INIT;
	struct event event;

	if (row == NULL)
		return;
	json_print(e->data, false, &data);
	event = (struct event){
		.kind = (enum event_kind)(row - event_row((enum event_kind)0)),
		.goal = e->goal_id,
		.node = e->node_id,
		.assignment = e->assignment_id,
		.worker = e->worker,
		.task = e->task,
		.from = json_string_or(e->data, "from", NULL),
		.to = json_string_or(e->data, "to", NULL),
		.reason = json_string_or(e->data, "reason", NULL),
		.action = json_string_or(e->data, "action", NULL),
		.status = json_string_or(e->data, "status", NULL),
		.text = json_string_or(e->data, "summary", NULL),
		.dispatch = json_string_or(e->data, "dispatchId", NULL),
		.data = data.data,
	};
	emit(floor->core, &event);
}

/* Telling a person is the dispatch itself: not before it is stored. */
static bool
is_dispatch(const struct reconcile_event *e)
{
	return strcmp(e->type, event_row(EVENT_ASSIGNMENT_ESCALATED)->name) ==
	    0;
}

void
plan_apply(struct plan_floor *floor, const struct reconcile_result *result)
{
	store_records(floor, result);
	for (size_t i = 0; i < result->event_count; i++)
		if (!is_dispatch(&result->events[i]))
			tell(floor, &result->events[i]);
	for (size_t i = 0; i < result->decision_count; i++)
		plan_dispatch_then(floor->dispatcher, &result->decisions[i]);
}

/* --- edits ------------------------------------------------------------ */

void
plan_apply_revision(struct plan_floor *floor, const struct plan_goal *goal,
    const struct plan_revision *r)
{
	cleanup_json struct json_object *json = plan_revision_to_json(r);
	cleanup_buf struct buf data = BUF_INIT;

	json_set(json, "meta",
	    plan_meta_json(goal,
		&(struct plan_meta){ .version = r->version,
		    .actor = r->actor,
		    .root = floor->core->workspace->root }));
	json_print(json, false, &data);
	emit(floor->core,
	    &(struct event){ .kind = r->version == 1 ? EVENT_PLAN_CREATED :
						       EVENT_PLAN_UPDATED,
		.goal = goal->id,
		.count = r->version,
		.text = r->what,
		.actor = r->actor,
		.reason = r->why,
		.data = data.data });
}

void
plan_apply_status(struct plan_floor *floor, const struct plan *plan,
    enum goal_status before, const char *actor, const char *reason)
{
	const struct plan_goal *goal = plan->goal;
	cleanup_buf struct buf undone = BUF_INIT;

	if (goal->status == before)
		return;
	plan_summary_undone(plan, &undone);
	emit(floor->core,
	    &(struct event){
		.kind = (enum event_kind)(EVENT_GOAL_ACTIVE + goal->status),
		.goal = goal->id,
		.from = goal_status_name(before),
		.to = goal_status_name(goal->status),
		.actor = actor,
		.reason = undone.len > 0 ? undone.data : reason });
}

void
plan_apply_edit(struct plan_floor *floor, const struct plan *plan,
    const struct plan_changes *changes, enum goal_status before)
{
	const struct plan_goal *goal = plan->goal;
	const struct plan_revision *r =
	    &goal->revisions[goal->revision_count - 1];

	plan_book_changes(floor, plan, changes);
	plan_apply_revision(floor, goal, r);
	for (size_t i = 0; i < changes->count; i++) {
		const struct plan_node *node = changes->nodes[i];

		if (node->updated_ms == r->at_ms)
			emit(floor->core,
			    &(struct event){
				.kind = (enum event_kind)(
				    EVENT_NODE_TODO + node->status),
				.goal = goal->id,
				.node = node->id,
				.to = node_status_name(node->status),
				.actor = r->actor,
				.reason = node->blocked_reason });
	}
	plan_apply_status(floor, plan, before, r->actor, NULL);
}
