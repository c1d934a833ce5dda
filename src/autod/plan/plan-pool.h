/* SPDX-License-Identifier: ISC */

/*
 * Every task that auto mode gives to a worker, and that is no node of a goal,
 * is recorded in the store as an implicit goal (plan-implicit.h): its node, its
 * assignment with worker and runs, how it ended and what shows that.
 *
 * state.json leads: the id of the goal is a member of the task (task->goal) and
 * is saved before anything is stored; from then on the store catches up with
 * what the state says. Nothing here holds a task back, except that the state
 * keeps it until its outcome is stored. The tick and the planner know nothing
 * of these goals. One that has ended leaves the memory.
 */
#ifndef PLAN_POOL_H
#define PLAN_POOL_H

struct err;
struct plan;
struct plan_assignment;
struct plan_floor;
struct plan_pool;
struct task;

struct plan_pool *plan_pool_new(struct plan_floor *floor);
void plan_pool_free(struct plan_pool *pool);
/* The book is closed. */
void plan_pool_closed(struct plan_pool *pool);

/* The rest is for an open book. */

/* A worker was given this task. */
void plan_pool_assigned(struct plan_pool *pool, const char *task);
/* Record what the state says, and forget what has ended. */
void plan_pool_changed(struct plan_pool *pool);
/* Record one task of the state; ret_plan (may be NULL): its plan. -EINPROGRESS:
 * the state is being saved, the goal is being read, or the store cannot be
 * written now; then auto mode asks again. -ESTALE: it is not to be recorded. */
int plan_pool_bind(struct plan_pool *pool, const struct task *task,
    struct plan **ret_plan, struct err *err);
/* The task leaves the state. */
void plan_pool_forget(struct plan_pool *pool, const struct task *task);

/* The store refused what was recorded: do not try it again. */
void plan_pool_refused(struct plan_pool *pool, const char *goal);

/* The task of an assignment has failed, or is gone: all of its goal ends. */
void plan_pool_give_up(
    struct plan_floor *floor, struct plan_assignment *a, const char *why);

#endif
