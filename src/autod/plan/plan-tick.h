/* SPDX-License-Identifier: ISC */

/*
 * The tick: compares the plans with what is known about their assignments
 * (plan-tick.h), keeps what follows from that (reconcile.h) and, when it
 * is committed, carries it out. Every plan.tick_every, soon after something
 * happened, and when somebody asks for it.
 */
#ifndef PLAN_TICK_H
#define PLAN_TICK_H

#include "reconcile.h"

struct plan_floor;
struct plan_tick;
struct reconcile_result;

/* The methods overseer.tick and overseer.wake. */
void plan_tick_register(struct plan_floor *floor);
struct plan_tick *plan_tick_new(struct plan_floor *floor);
void plan_tick_free(struct plan_tick *tick);

/* The floor has begun. */
void plan_tick_begin(struct plan_tick *tick);

/* Something happened: once, after this pass of the loop, and not more than
 * once in a second. reason is a constant. */
void plan_tick_wake(struct plan_tick *tick, const char *reason);

/* A tick at once. dry_run: nothing is changed or done. fn (may be NULL) is
 * called with the result, which is valid until it returns; the decisions are
 * carried out after the commit of this pass. */
typedef void plan_tick_fn(const struct reconcile_result *result, void *arg);

void plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg);

#endif
