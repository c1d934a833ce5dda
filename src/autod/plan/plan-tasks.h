/* SPDX-License-Identifier: ISC */

/*
 * Goals as a source of tasks (auto.h): a node that is ready is a task with the
 * key "GOAL/NODE". Its assignment is committed with the task that a worker
 * gets, and its outcome with the end of the task.
 */
#ifndef PLAN_TASKS_H
#define PLAN_TASKS_H

struct plan_assignment;
struct plan_floor;
struct plan_tasks;
struct task;

/* Registers the policy. */
struct plan_tasks *plan_tasks_new(struct plan_floor *floor);
void plan_tasks_free(struct plan_tasks *tasks);

/* The floors below have begun and the book is open: catch up. */
void plan_tasks_begin(struct plan_tasks *tasks);
/* Plans or assignments were changed: take back what is not wanted any more, and
 * offer what is ready now. Does nothing before plan_tasks_begin(). */
void plan_tasks_changed(struct plan_tasks *tasks);
/* The book is closed. */
void plan_tasks_closed(struct plan_tasks *tasks);

/* The task of an assignment in the state; NULL = none. */
struct task *plan_tasks_of(
    const struct plan_floor *floor, const struct plan_assignment *assignment);

/* May auto workers have nodes (plan.enabled, plan.allow_agents)? */
bool plan_tasks_allowed(const struct plan_floor *floor);

#endif
