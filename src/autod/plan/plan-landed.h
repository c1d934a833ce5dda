/* SPDX-License-Identifier: ISC */

/* Work on nodes that lands without a task of auto mode, which is that of
 * workers that a person drives (plan-tasks.h is for the others), and landed
 * work of any node that is taken back. */
#ifndef PLAN_LANDED_H
#define PLAN_LANDED_H

struct plan_floor;

/* Follow the events of the core. */
void plan_landed_begin(struct plan_floor *floor);
void plan_landed_end(struct plan_floor *floor);

#endif
