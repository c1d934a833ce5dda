/* SPDX-License-Identifier: ISC */

/*
 * What can be worked on now: nodes without children, todo or queued, not
 * assigned, of active goals, whose dependencies and those of the nodes above
 * them are fulfilled (plan-deps.h). Nothing below an overridden node that is
 * blocked, done or cancelled is ready. Pure.
 */
#ifndef PLAN_READY_H
#define PLAN_READY_H

#include "priority.h"

struct plan;
struct plan_assignment;
struct plan_changes;
struct plan_node;
struct plan_set;

struct plan_ready {
	struct plan *plan;
	struct plan_node *node;
	enum priority priority;
};

bool plan_node_ready(const struct plan *plan, const struct plan_node *node);

/* Why nobody is to work on it any more; NULL = it is wanted. plan, node: NULL =
 * gone; a: NULL = nobody has it. */
const char *plan_why_unwanted(const struct plan *plan,
    const struct plan_node *node, const struct plan_assignment *a);
/* Nothing is begun on it for now, but later. */
bool plan_node_held_back(const struct plan *plan, const struct plan_node *node);

/* All ready nodes of the set: by priority, then by the order of the goals, then
 * by that of the plan. O(n); the caller frees the array. Returns the count. */
size_t plan_ready_list(const struct plan_set *set, struct plan_ready **ret);

/* Queue what is todo and ready in this plan, and roll up. */
void plan_ready_queue(
    struct plan *plan, int64_t now_ms, struct plan_changes *changes);

#endif
