/* SPDX-License-Identifier: ISC */

/* Goals and plans as the answers of the methods (api-goal.h, api-work.h). Each
 * returns an object that the caller owns. */
#ifndef PLAN_VIEW_H
#define PLAN_VIEW_H

struct json_object;
struct plan;
struct plan_floor;
struct plan_node;
struct plan_set;

/* After a change: what the goal is now. */
struct json_object *plan_view_changed(const struct plan *plan);
/* The same for a node, with the last revision of its plan. */
struct json_object *
plan_view_node_changed(const struct plan *plan, const struct plan_node *node);

/* The open goals. */
struct json_object *plan_view_list(const struct plan_set *set);
/* One of such a list, of a goal that has ended: from its record, which gets
 * nodes, and the records of these. NULL = it has not ended, or is a task's own.
 */
struct json_object *
plan_view_ended(struct json_object *goal, struct json_object *nodes);
struct json_object *plan_view_show(const struct plan *plan);
struct json_object *plan_view_status(const struct plan_floor *floor);

/* The nodes of one plan, or of all open goals (plan NULL). */
struct json_object *
plan_view_nodes(const struct plan_set *set, const struct plan *plan, bool all);
struct json_object *
plan_view_node(const struct plan *plan, const struct plan_node *node);

#endif
