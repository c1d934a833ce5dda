/* SPDX-License-Identifier: ISC */

/*
 * All plans, with the work on their nodes and their crystallizations: what the
 * tick looks at. Pure. The set owns everything that was added to it, and links
 * a node to its newest crystallization. Lookups take constant time.
 */
#ifndef PLAN_SET_H
#define PLAN_SET_H

#include "plan-crystal.h"
#include "plan.h"
#include "strmap.h"

struct err;
struct json_object;

struct plan_set {
	struct plan **plans; /* in the order they were added */
	size_t plan_count, plan_room;
	struct plan_crystal **crystals;
	size_t crystal_count, crystal_room;
	struct strmap by_goal, by_crystal;
};

/* Zeroes are an empty set. */
void plan_set_release(struct plan_set *set);

/* A set of its own, for a tick that shall change nothing. */
void plan_set_copy(const struct plan_set *set, struct plan_set *ret_copy);

/* Add, and own. On failure (API_E_EXISTS: the id is in use) the caller still
 * owns it. A crystallization may belong to no plan of the set. */
int plan_set_add(struct plan_set *set, struct plan *plan, struct err *err);
int plan_set_add_crystal(
    struct plan_set *set, struct plan_crystal *crystal, struct err *err);

/* Read an assignment into its node. -EINVAL, or -ENOENT: there is no such
 * node. */
int plan_set_read_work(struct plan_set *set, struct json_object *json,
    const char *at, struct err *err);

/* Forget a goal with all that belongs to it; false if it is not there. */
bool plan_set_drop(struct plan_set *set, const char *goal_id);

/* NULL = none; the id may be NULL. */
struct plan *plan_set_plan(const struct plan_set *set, const char *goal_id);
struct plan_crystal *
plan_set_crystal(const struct plan_set *set, const char *id);

/* The node whose assignment this is, open or ended. The last one that it had;
 * all ids may be NULL. */
struct plan_node *plan_set_assigned(const struct plan_set *set,
    const char *goal_id, const char *node_id, const char *assignment_id);

/* The nodes that have or had a worker, one after the other; NULL = that was the
 * last one. A cursor begins with zeroes. */
struct plan_cursor {
	size_t plan, node;
};
struct plan_node *
plan_set_next(const struct plan_set *set, struct plan_cursor *cursor);

/* A node by its id, and its goal's id or NULL: then the id must be unique among
 * the goals that are open, or else among all.
 * API_E_UNKNOWN; the message lists the goals if there are several. */
int plan_set_find(const struct plan_set *set, const char *goal_id,
    const char *node_id, struct plan **ret_plan, struct plan_node **ret_node,
    struct err *err);

#endif
