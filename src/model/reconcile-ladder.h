/* SPDX-License-Identifier: ISC */

/*
 * Private to reconcile*.c: is an assignment alive, and what is done about one
 * that is not: nudge or resend up to max_retries, then its recovery policy,
 * which is to tell a person; replan and reassign come before that where the
 * policy says so. Each step is taken once: the next one is higher up.
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
