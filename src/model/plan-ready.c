/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "plan-deps.h"
#include "plan-ready.h"
#include "plan-rollup.h"
#include "plan-set.h"

/* Does the node keep everything below it from being ready? */
static bool
holds_back(const struct plan *plan, const struct plan_node *node)
{
	if (node->override.actor != NULL &&
	    (node->status == NODE_BLOCKED || !node_status_open(node->status)))
		return true;
	return plan_deps_missing(plan, node) != NULL;
}

static bool
is_waiting(const struct plan_node *node)
{
	return plan_node_leaf(node) && node->assignment == NULL &&
	    (node->status == NODE_TODO || node->status == NODE_QUEUED);
}

/* Can it have ready nodes at all? */
static bool
is_active(const struct plan *plan)
{
	return plan->goal->status == GOAL_ACTIVE;
}

bool
plan_node_ready(const struct plan *plan, const struct plan_node *node)
{
	if (!is_active(plan) || !is_waiting(node))
		return false;
	for (; node != NULL; node = node->parent)
		if (holds_back(plan, node))
			return false;
	return true;
}

const char *
plan_why_unwanted(const struct plan *plan, const struct plan_node *node,
    const struct plan_assignment *a)
{
	if (plan == NULL || node == NULL ||
	    !goal_status_open(plan->goal->status))
		return "its goal has ended";
	if (!node_status_open(node->status))
		return "its node has ended";
	if (a != NULL && !assignment_status_open(a->status))
		return "its assignment has ended";
	return NULL;
}

bool
plan_node_held_back(const struct plan *plan, const struct plan_node *node)
{
	return plan->goal->status == GOAL_PAUSED ||
	    node->status == NODE_BLOCKED;
}

/* The first ready node from this one on; subtrees that are held back are
 * skipped as a whole. */
static struct plan_node *
find_ready(const struct plan *plan, struct plan_node *node)
{
	while (node != NULL) {
		if (holds_back(plan, node))
			node = plan_next_beside(plan, node);
		else if (is_waiting(node))
			return node;
		else
			node = plan_next(plan, node);
	}
	return NULL;
}

/* The ready nodes of one plan, behind those that are there. */
static size_t
list_plan(struct plan *plan, struct plan_ready *list, size_t count)
{
	struct plan_node *n;

	if (!is_active(plan))
		return count;
	for (n = find_ready(plan, plan_next(plan, NULL)); n != NULL;
	     n = find_ready(plan, plan_next(plan, n)))
		list[count++] =
		    (struct plan_ready){ plan, n, plan_priority(plan, n) };
	return count;
}

size_t
plan_ready_list(const struct plan_set *set, struct plan_ready **ret)
{
	size_t room = 0, count = 0, sorted = 0;
	struct plan_ready *all, *list;

	for (size_t i = 0; i < set->plan_count; i++)
		room += set->plans[i]->count;
	all = xcalloc(room + 1, sizeof *all);
	for (size_t i = 0; i < set->plan_count; i++)
		count = list_plan(set->plans[i], all, count);
	list = xcalloc(count + 1, sizeof *list);
	for (int p = 0; p < PRIORITY_COUNT; p++)
		for (size_t i = 0; i < count; i++)
			if ((int)all[i].priority == p)
				list[sorted++] = all[i];
	free(all);
	*ret = list;
	return sorted;
}

void
plan_ready_queue(
    struct plan *plan, int64_t now_ms, struct plan_changes *changes)
{
	const struct plan_node_move move = { .to = NODE_QUEUED };
	struct plan_node *n;
	bool any = false;

	if (!is_active(plan))
		return;
	for (n = find_ready(plan, plan_next(plan, NULL)); n != NULL;
	     n = find_ready(plan, plan_next(plan, n))) {
		if (n->status != NODE_TODO)
			continue;
		plan_node_move(n, &move, now_ms, NULL);
		plan_changed(changes, n);
		any = true;
	}
	if (any)
		plan_rollup(plan, now_ms, changes);
}
