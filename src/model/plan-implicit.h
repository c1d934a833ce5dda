/* SPDX-License-Identifier: ISC */

/*
 * Implicit goals: a task that comes from a pool, and is no node of a goal, has
 * a goal of its own, with one phase and one node, so that every task is
 * recorded in the same shape. Its source leads: such a goal is not listed, not
 * planned, not edited, and its node is never ready. Pure.
 */
#ifndef PLAN_IMPLICIT_H
#define PLAN_IMPLICIT_H

#include <stdbool.h>
#include <stdint.h>

#include "plan-status.h"

struct err;
struct plan;
struct plan_assignment;
struct plan_edit;
struct plan_goal;
struct plan_node;
struct plan_set;
struct task;

/* "GOAL/NODE": the node of a task, whatever its source; the caller frees it.
 * NULL = it has none. planned: it is a node of a goal. */
char *plan_implicit_key(const struct task *task, bool planned);

/* The goal of a task: active, its node todo. The caller owns it. */
struct plan *
plan_implicit_new(const struct task *task, const char *goal_id, int64_t now_ms);
/* Its only node without children; NULL if the plan is not implicit. */
struct plan_node *plan_implicit_node(const struct plan *plan);

/* An open goal of an earlier task of the same name at the same source, which
 * nobody works on: its work was taken back. NULL = none. */
struct plan *
plan_implicit_reuse(const struct plan_set *set, const struct task *task);

/* Is it an assignment of an implicit goal? */
bool plan_implicit_is(
    const struct plan_set *set, const struct plan_assignment *assignment);

/* The task has failed, or was dropped, because of edit->why: node and goal are
 * cancelled. The assignment is the caller's to end. */
int plan_implicit_cancel(const struct plan_edit *edit, struct err *err);

/* May a person have the goal follow this status? Archive it, and cancel what
 * nobody works on (after a revert). */
bool plan_implicit_may(const struct plan *plan, enum goal_status to);
/* API_E_CLOSED, with what to type instead. */
int plan_implicit_refuse(const struct plan_goal *goal, struct err *err);

#endif
