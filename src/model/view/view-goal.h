/* SPDX-License-Identifier: ISC */

/* The row of a goal in the view, with its plan as a tree. Pure. */
#ifndef VIEW_GOAL_H
#define VIEW_GOAL_H

struct json_object;
struct plan;

#define VIEW_MARK_INIT UINT64_C(14695981039346656037)

void view_mark_bytes(uint64_t *mark, const void *bytes, size_t len);
void view_mark_int(uint64_t *mark, int64_t number);

/* The first max bytes of it; NULL is not the same as an empty one. */
void view_mark_text(uint64_t *mark, const char *text, size_t max);

/* The number; never 0. */
uint64_t view_mark_end(uint64_t mark);

#define VIEW_NODES_MAX 300 /* of one goal */

/* {id, title, status, done, total, ready, blocked, percent, nodes, nodes_more}:
 * of the nodes (parents before their children, in the order of the plan) at
 * most VIEW_NODES_MAX, and at most `room`; the others are counted. The caller
 * owns it. */
struct json_object *view_goal_row(const struct plan *plan, size_t room);

/* A number that changes with whatever that row shows. */
uint64_t view_goal_mark(const struct plan *plan, size_t room);

#endif
