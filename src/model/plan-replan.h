/* SPDX-License-Identifier: ISC */

/*
 * Replace what has not begun of a plan by a new one. Pure. A node that has
 * started, is assigned or was cancelled stays as it is, with its name, its
 * place and its dependencies, whatever the new plan says; so do the nodes above
 * it. Others are changed as the new plan says, or removed if it does not have
 * them; its further nodes are added. All or nothing; as in plan-edit.h, it ends
 * with a revision. Every node counts as changed.
 */
#ifndef PLAN_REPLAN_H
#define PLAN_REPLAN_H

#include "plan-edit.h"

struct err;
struct plan;
struct strmap;

/* next is of the same goal (plan-load.h); where it came from is noted in the
 * goal. API_E_STARTED if it puts a node that has started on another level, or
 * gives children to one that is at work or done; API_E_CLOSED for one that was
 * cancelled; API_E_CYCLE; API_E_LIMIT. */
int plan_replan(
    const struct plan_edit *edit, const struct plan *next, struct err *err);

/* The same, and this node (NULL = none) is changed as well, or divided,
 * although it has been worked on: it is planned anew. */
int plan_replan_node(const struct plan_edit *edit, const struct plan *next,
    const char *node_id, struct err *err);

/* Add the ids of the nodes that would stay as they are. */
void plan_replan_kept(const struct plan *plan, struct strmap *kept);

#endif
