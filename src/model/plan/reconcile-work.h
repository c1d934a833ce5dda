/* SPDX-License-Identifier: ISC */

/* Private to reconcile*.c: how an assignment, its node and its goal change, and
 * what replies and results mean for them. */
#ifndef RECONCILE_WORK_H
#define RECONCILE_WORK_H

#include "reconcile.h"

/* Move the assignment, with an event; false if the table forbids it, or it is
 * there already. code and reason say why (may be NULL). */
bool reconcile_move(struct reconcile_case *c, enum assignment_status to,
    const char *code, const char *reason);

/* The node is being worked on: in_progress, over the statuses before it. */
/* The node is blocked, or goes back to the queue. */
void reconcile_work_block(struct reconcile_case *c, const char *reason);

/* Each returns true if the assignment needs nothing else in this tick: its goal
 * or its node has ended; its result was accepted; its update says that it is
 * blocked; its attempt failed or its worker is lost; its turn ended with a
 * question. */
bool reconcile_closed(struct reconcile_case *c);
bool reconcile_accepted(struct reconcile_case *c);
bool reconcile_updated(struct reconcile_case *c);
bool reconcile_failed(struct reconcile_case *c);
bool reconcile_asked(struct reconcile_case *c);

/* At the end of a tick: queue what became ready, and write the events and the
 * crystallizations of nodes and goals that changed. */
void reconcile_work_finish(struct reconcile_run *run);

/* --- the ladder ------------------------------------------------------ */

/*
 * Private to reconcile*.c: is an assignment alive, and the steps for one that
 * is not (silence_by_hand()): nudge or resend up to max_retries; replan, then
 * reassign, where its recovery policy says so; tell a person. Each step is
 * taken once: the next one is higher up.
 */

/* Its own, or the configured one. */
int64_t reconcile_idle_ms(const struct reconcile_case *c);

/* Record signs of life. True if a turn is running: then it is auto mode's. */
bool reconcile_observe(struct reconcile_case *c);

/* The first dispatch of a queued assignment. */
void reconcile_assign(struct reconcile_case *c);

/* Is it stalled, and what now? */
void reconcile_recover(struct reconcile_case *c);

#endif
