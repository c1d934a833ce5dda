/* SPDX-License-Identifier: ISC */

/* Work on nodes that lands, or is taken back, without a task of auto mode: that
 * of workers that a person drives. plan-tasks.h is for the others. */
#ifndef PLAN_LANDED_H
#define PLAN_LANDED_H

struct plan_floor;

/* Subscribes to the events of the core, until plan_landed_end(). */
void plan_landed_begin(struct plan_floor *floor);
void plan_landed_end(struct plan_floor *floor);

/* The book was opened: count what landed while it could not be told. */
void plan_landed_catch_up(struct plan_floor *floor);

#endif
