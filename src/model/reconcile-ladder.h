/* SPDX-License-Identifier: ISC */

/*
 * Private to reconcile*.c: is an assignment alive, and the steps for one that
 * is not (silence_by_hand()): nudge or resend up to max_retries; replan, then
 * reassign, where its recovery policy says so; tell a person. Each step is
 * taken once: the next one is higher up.
 */
#ifndef RECONCILE_LADDER_H
#define RECONCILE_LADDER_H

#include "reconcile.h"

/* Its own, or the configured one. */
int64_t reconcile_idle_ms(const struct reconcile_case *c);

/* Record signs of life. True if a turn is running: then it is auto mode's. */
bool reconcile_observe(struct reconcile_case *c);

/* The first dispatch of a queued assignment. */
void reconcile_assign(struct reconcile_case *c);

/* Is it stalled, and what now? */
void reconcile_recover(struct reconcile_case *c);

#endif
