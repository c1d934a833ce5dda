/* SPDX-License-Identifier: ISC */

/* The row of a goal in the view, with its plan as a tree. Pure. */
#ifndef VIEW_GOAL_H
#define VIEW_GOAL_H

#include <stddef.h>
#include <stdint.h>

struct json_object;
struct plan;

#define VIEW_NODES_MAX 300 /* of one goal */

/* {id, title, status, done, total, ready, blocked, percent, nodes, nodes_more}:
 * of the nodes (parents before their children, in the order of the plan) at
 * most VIEW_NODES_MAX, and at most `room`; the others are counted. The caller
 * owns it. */
struct json_object *view_goal_row(const struct plan *plan, size_t room);

/* A number that changes with whatever that row shows. */
uint64_t view_goal_mark(const struct plan *plan, size_t room);

#endif
