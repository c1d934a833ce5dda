/* SPDX-License-Identifier: ISC */

/*
 * What the planner advises about assignments that messages did not help, before
 * a person is told: to divide the node, to give it to a fresh worker, or what
 * to ask. Only where [planner] names a command or a model, and once for each
 * message that did not help.
 */
#ifndef PLAN_ADVICE_H
#define PLAN_ADVICE_H

#include <stdbool.h>

struct plan_advice;
struct plan_assignment;
struct plan_floor;
struct stall_diagnosis;

struct plan_advice *plan_advice_new(struct plan_floor *floor);
/* Call before the planner is freed. */
void plan_advice_free(struct plan_advice *advice);

/* NULL: there is none; *ret_wait: or not yet, and the tick is woken when it has
 * come. transcript: of its worker. May ask the planner if ask. */
const struct stall_diagnosis *
plan_advice_of(struct plan_advice *advice, const struct plan_assignment *a,
    const char *transcript, bool ask, bool *ret_wait);

#endif
