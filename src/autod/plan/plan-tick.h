/* SPDX-License-Identifier: ISC */

/*
 * The tick: compares the plans with what is known about their assignments
 * (plan-telemetry.h), stores what follows from that (reconcile.h) and then
 * carries it out. Every plan.tick_every, soon after something happened, and
 * when somebody asks for it.
 */
#ifndef PLAN_TICK_H
#define PLAN_TICK_H

#include <stdbool.h>

struct plan_floor;
struct plan_tick;
struct reconcile_result;

struct plan_tick *plan_tick_new(struct plan_floor *floor);
/* Call before the book is closed. */
void plan_tick_free(struct plan_tick *tick);

/* The floor has begun. */
void plan_tick_begin(struct plan_tick *tick);
/* Something happened: once, after this pass of the loop, and not more than
 * once in a second. reason is a constant. */
void plan_tick_wake(struct plan_tick *tick, const char *reason);

/* A tick at once. dry_run: nothing is changed or done. fn (may be NULL) is
 * called when everything is stored and the decisions are carried out; at once
 * for a dry run. The result is valid until it returns. */
typedef void plan_tick_fn(const struct reconcile_result *result, void *arg);
void plan_tick_now(struct plan_floor *floor, const char *reason, bool dry_run,
    plan_tick_fn *fn, void *arg);

#endif
