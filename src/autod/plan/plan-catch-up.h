/* SPDX-License-Identifier: ISC */

/*
 * Plans and the tasks that ended while nobody wrote it down: open assignments
 * whose task is not in the state any more, and nodes whose assignment a damaged
 * store has lost, or that it has as they were before. The record of the task
 * tells how it ended; without one, nobody has begun it. For an open book only.
 */
#ifndef PLAN_CATCH_UP_H
#define PLAN_CATCH_UP_H

struct plan_floor;

void plan_catch_up(struct plan_floor *floor);

#endif
