/* SPDX-License-Identifier: ISC */

/*
 * How a plan becomes another one: by a new plan, or by its own text that a
 * person edited (plan-file.h). Pure. All or nothing; as in plan-edit.h, it ends
 * with a revision.
 *
 * A node that has started, is assigned or was cancelled stays as it is, and so
 * do the nodes above it.
 */
#ifndef PLAN_REVISE_H
#define PLAN_REVISE_H

#include "plan-node.h"
#include "plan-edit.h"

struct err;
struct plan;

/*
 * Replace what has not begun by a new plan. What stays keeps its name, its
 * place and its dependencies, whatever the new plan says. Others are changed as
 * the new plan says, or removed if it does not have them; its further nodes are
 * added. Every node counts as changed.
 *
 * next is of the same goal (plan-file.h); where it came from is noted in the
 * goal. node_id (NULL = none): this node is changed as well, or divided,
 * although it has been worked on: it is planned anew. API_E_STARTED if next
 * puts a node that has started on another level, or gives children to one that
 * is at work or done; API_E_CLOSED for one that was cancelled; API_E_CYCLE;
 * API_E_LIMIT.
 */
int plan_replan(const struct plan_edit *edit, const struct plan *next,
    const char *node_id, struct err *err);

/* Does a new plan that a person wrote mean what it says? One of its nodes that
 * has no id of its own may have got that of another one, which stays as it is:
 * API_E_STARTED. */
int plan_replan_check(
    const struct plan *plan, const struct plan *next, struct err *err);

/*
 * What is different in the text is changed in the goal and its plan; everything
 * else stays, also what the text has no place for. Changing what stays is an
 * error, but for its priority, its recovery and its place among its siblings.
 * There is no revision if nothing is different.
 *
 * before: the hash of the plan that was edited; NULL = whatever it is now.
 * -EINVAL with the line of what cannot be read; API_CHANGED if the plan is
 * another one by now; API_E_STARTED for a change of what is kept; API_E_LEVEL
 * for a node that is of another kind; or as plan_edit_add() says.
 */
int plan_revise(const struct plan_edit *edit, const char *text,
    const char *before, struct err *err);

/* The hash of everything that can be edited. */
#define PLAN_HASH_SIZE 17
void plan_revise_hash(const struct plan *plan, char out[PLAN_HASH_SIZE]);

#endif
