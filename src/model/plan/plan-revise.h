/* SPDX-License-Identifier: ISC */

/*
 * A plan that a person edited as text (plan-print.h): what is different in the
 * text is changed in the goal and its plan; everything else stays, also what
 * the text has no place for. Pure. All or nothing; as in plan-edit.h, it ends
 * with a revision, unless nothing is different.
 *
 * What plan_replan() keeps is kept here as well, but changing it in the text is
 * an error. Its priority, its recovery and its place among its siblings may be
 * changed.
 */
#ifndef PLAN_REVISE_H
#define PLAN_REVISE_H

#include "plan-node.h"
#include "plan-edit.h"

struct err;
struct plan;
struct strmap;

/* --- a new plan ------------------------------------------------------ */

/*
 * Replace what has not begun of a plan by a new one. Pure. A node that has
 * started, is assigned or was cancelled stays as it is, with its name, its
 * place and its dependencies, whatever the new plan says; so do the nodes above
 * it. Others are changed as the new plan says, or removed if it does not have
 * them; its further nodes are added. All or nothing; as in plan-edit.h, it ends
 * with a revision. Every node counts as changed.
 */

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

/* before: the hash of the plan that was edited; NULL = whatever it is now.
 * -EINVAL with the line of what cannot be read; API_CHANGED if the plan is
 * another one by now; API_E_STARTED for a change of what is kept; API_E_LEVEL
 * for a node that is of another kind; or as plan_edit_add() says. */
int plan_revise(const struct plan_edit *edit, const char *text,
    const char *before, struct err *err);

/* The hash of everything that can be edited. */
#define PLAN_HASH_SIZE 17
void plan_revise_hash(const struct plan *plan, char out[PLAN_HASH_SIZE]);

#endif
