/* SPDX-License-Identifier: ISC */

/* Work on nodes that lands without a task of auto mode, which is that of
 * workers that a person drives (plan-tasks.h is for the others), and landed
 * work of any node that is taken back. */
#ifndef PLAN_LANDED_H
#define PLAN_LANDED_H

struct plan_floor;
struct plan_landed;

/* Subscribes to the events of the core. */
struct plan_landed *plan_landed_new(struct plan_floor *floor);
void plan_landed_free(struct plan_landed *landed);

/* The book was opened: count what landed, or was taken back, while it could
 * not be told. */
void plan_landed_catch_up(struct plan_landed *landed);
/* The book is closed. */
void plan_landed_closed(struct plan_landed *landed);

#endif
