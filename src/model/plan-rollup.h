/* SPDX-License-Identifier: ISC */

/*
 * The status of a node with children follows from them, and that of the goal
 * from its phases. Pure.
 *
 *   no child but cancelled ones            cancelled
 *   every other child done                 done
 *   a child in progress                    in_progress
 *   every open child blocked               blocked, for the first one's reason
 *   a child done, or started before        in_progress
 *   a child queued                         queued
 *   otherwise                              todo
 *
 * A node without children has its own status, also a phase or a task. An
 * overridden node keeps its status whatever its children do; so does a goal
 * that was completed by an override. A goal is completed when every phase is
 * done, cancelled ones aside, and active again when that no longer holds.
 * Cancelled and archived goals stay what they are. One for agents that another
 * agent asked for is cancelled when all of them are: nobody else adds to it.
 */
#ifndef PLAN_ROLLUP_H
#define PLAN_ROLLUP_H

struct plan;
struct plan_changes;
struct plan_node;

/* The whole plan, in O(n). */
void
plan_rollup(struct plan *plan, int64_t now_ms, struct plan_changes *changes);

/* After this node was changed: those above it, and the goal. */
void plan_rollup_from(struct plan *plan, struct plan_node *node, int64_t now_ms,
    struct plan_changes *changes);

#endif
