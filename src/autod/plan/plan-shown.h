/* SPDX-License-Identifier: ISC */

/* Keeps what llmc status shows of goals in state.json (model/plan-digest): made
 * anew at the end of every pass in which something about a goal was told. */
#ifndef PLAN_SHOWN_H
#define PLAN_SHOWN_H

struct plan_floor;
struct plan_shown;

struct plan_shown *plan_shown_new(struct plan_floor *floor);
void plan_shown_free(struct plan_shown *shown);

/* The book was opened or closed. */
void plan_shown_changed(struct plan_shown *shown);

#endif
