/* SPDX-License-Identifier: ISC */

/* What was decided about plans, or changed in them, goes to the book, and what
 * happened is told. Decisions are carried out once all of it is committed
 * (plan-dispatch.h). PLAN_OPEN only. */
#ifndef PLAN_APPLY_H
#define PLAN_APPLY_H

#include "plan-status.h"

struct plan;
struct plan_assignment;
struct plan_changes;
struct plan_floor;
struct plan_goal;
struct plan_revision;
struct reconcile_result;

/* A run of the tick, or of one assignment. */
void
plan_apply(struct plan_floor *floor, const struct reconcile_result *result);

/* A change by an edit (plan-edit.h): its revision, every changed node, and the
 * goal if its status is not the one before. */
void plan_apply_edit(struct plan_floor *floor, const struct plan *plan,
    const struct plan_changes *changes, enum goal_status before);

/* For that, and plan-change: only tell of the revision, and of the status of
 * the goal if it is not the one before. */
void plan_apply_revision(struct plan_floor *floor, const struct plan_goal *goal,
    const struct plan_revision *revision);
void plan_apply_status(struct plan_floor *floor, const struct plan *plan,
    enum goal_status before, const char *actor, const char *reason);

/* The record of an assignment, with its last dispatch. */
void plan_apply_assignment(
    struct plan_floor *floor, const struct plan_assignment *assignment);

#endif
