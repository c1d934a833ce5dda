/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "emit.h"
#include "plan-apply.h"
#include "plan-book.h"
#include "plan-change.h"
#include "plan-floor.h"
#include "plan-ready.h"

struct node_before {
	char *id; /* an edit may free the node */
	enum node_status status;
};

void
plan_change_begin(struct plan_change *c, struct plan_floor *floor,
    struct plan *plan, const char *why)
{
	*c = (struct plan_change){ .floor = floor,
		.plan = plan,
		.status = plan->goal->status,
		.version = plan->goal->version };
	c->edit = (struct plan_edit){ .plan = plan,
		.actor = PLAN_CHANGE_PERSON,
		.why = why,
		.now_ms = clock_wall_ms(),
		.changes = &c->changes };
	c->nodes = xcalloc(plan->count + 1, sizeof *c->nodes);
	for (size_t i = 0; i < plan->count; i++) {
		c->nodes[i].id = xstrdup(plan->nodes[i]->id);
		c->nodes[i].status = plan->nodes[i]->status;
		strmap_add(&c->by_id, c->nodes[i].id, &c->nodes[i]);
	}
}

void
plan_change_drop(struct plan_change *c)
{
	strmap_release(&c->by_id);
	for (size_t i = 0; c->nodes != NULL && c->nodes[i].id != NULL; i++)
		free(c->nodes[i].id);
	free(take_ptr(&c->nodes));
	plan_changes_release(&c->changes);
}

static void
tell_node(const struct plan_change *c, const struct plan_node *node)
{
	const struct node_before *before = strmap_get(&c->by_id, node->id);
	enum node_status from = before != NULL ? before->status : NODE_TODO;
	char *const *commits = node->evidence.commits;

	if (node->status == from)
		return;
	emit(c->floor->core,
	    &(struct event){
		.kind = (enum event_kind)(EVENT_NODE_TODO + node->status),
		.goal = node->goal_id,
		.node = node->id,
		.from = node_status_name(from),
		.to = node_status_name(node->status),
		.commit = node->status == NODE_DONE && commits != NULL ?
		    commits[0] :
		    NULL,
		.actor = c->edit.actor,
		.reason = node->status == NODE_BLOCKED ? node->blocked_reason :
							 c->edit.why });
}

void
plan_change_end(struct plan_change *c)
{
	const struct plan_goal *goal = c->plan->goal;

	plan_ready_queue(c->plan, c->edit.now_ms, &c->changes);
	c->changes.goal = true;
	plan_book_changes(c->floor, c->plan, &c->changes);
	for (size_t i = 0; i < goal->revision_count; i++)
		if (goal->revisions[i].version > c->version)
			plan_apply_revision(
			    c->floor, goal, &goal->revisions[i]);
	for (size_t i = 0; i < c->changes.count; i++)
		tell_node(c, c->changes.nodes[i]);
	plan_apply_status(
	    c->floor, c->plan, c->status, c->edit.actor, c->edit.why);
	plan_change_drop(c);
	plan_floor_changed(c->floor);
}
