/* SPDX-License-Identifier: ISC */

/*
 * Tasks of auto mode and assignments of plans: finds the one for the other,
 * makes an assignment for a task, follows who has it, and ends it with the
 * task's outcome. Everything is changed in the book and then stored. For an
 * open book only.
 */
#ifndef PLAN_BIND_H
#define PLAN_BIND_H

#include "plan-status.h"

struct err;
struct plan;
struct plan_assignment;
struct plan_floor;
struct plan_node;
struct plan_set;
struct task;

/* The parts of "GOAL/NODE"; the caller frees them. -EINVAL. */
int plan_bind_key(
    const char *key, char **ret_goal, char **ret_node, struct err *err);
/* -ENOENT or -EINVAL: not in the set. */
int plan_bind_find(const struct plan_set *set, const char *key,
    struct plan **ret_plan, struct plan_node **ret_node, struct err *err);

/* Is this the task of this assignment: its id, and its node? */
bool plan_bind_is_for(const struct task *task, const struct plan_assignment *a);
/* The assignment of this task, open or ended; NULL = none. */
struct plan_assignment *
plan_bind_of(const struct plan_floor *floor, const struct task *task);
/* Is it to be given to a fresh worker, and has no task yet? */
bool plan_bind_wants_worker(
    const struct plan_set *set, const struct plan_assignment *a);

/* Make the assignment of a task, or give the task to the one that wants a
 * worker. late: the task has begun, whatever the node's status. A node whose
 * work was taken back is opened again. -ESTALE: it is not wanted any more;
 * -EINPROGRESS: another task on the node is about to end. */
int plan_bind(struct plan_floor *floor, const struct task *task, bool late,
    struct err *err);
/* Who has the task now: worker and run (one per attempt). */
void plan_bind_worker(struct plan_floor *floor, struct plan_assignment *a,
    const struct task *task);
/* The task waits for a person, and its node is blocked with it; or it goes on,
 * and its node too, whichever of the two the person named. */
void plan_bind_parked(
    struct plan_floor *floor, struct plan_assignment *a, struct task *task);
/* The task has its outcome: the assignment ends, and its node is done, planned
 * anew, or blocked and a person told. Done is what is on the branch, or has a
 * result without a commit: another task that ended without a change has
 * failed. files: what its commit changed, NULL
 * terminated; NULL = not known. */
void plan_bind_end(struct plan_floor *floor, struct plan_assignment *a,
    const struct task *task, char *const *files);
/* Nobody has begun it: the node goes back to the queue, as it was. */
void plan_bind_release(
    struct plan_floor *floor, struct plan_assignment *a, const char *why);

/* Change the status of a leaf, by the table of plan-status, and tell it. why:
 * may be NULL, except for NODE_BLOCKED. */
void plan_bind_move_node(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, enum node_status to, const char *why);

/* Nobody works on it: it waits for a worker again, and that was no attempt. */
void plan_bind_queue_again(struct plan_floor *floor, struct plan *plan,
    struct plan_node *node, const char *why);

#endif
