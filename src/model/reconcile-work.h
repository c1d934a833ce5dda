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

/* Somebody works on the node: in_progress, over the statuses before it. */
void reconcile_work_begin(struct reconcile_case *c);
/* The node is blocked, or goes back to the queue. */
void reconcile_work_block(struct reconcile_case *c, const char *reason);
void reconcile_work_queue(struct reconcile_case *c);

/* There was a sign of life at that moment: the next update is due later, and
 * retries begin anew, unless it is only talk. */
void reconcile_progress(struct reconcile_case *c, int64_t at_ms);

/* Each returns true if the assignment needs nothing else in this tick: its goal
 * or its node has ended; its result was accepted; its update says that it is
 * blocked; its attempt failed or nobody works on it; its turn ended with a
 * question. */
bool reconcile_closed(struct reconcile_case *c);
bool reconcile_accepted(struct reconcile_case *c);
bool reconcile_updated(struct reconcile_case *c);
bool reconcile_failed(struct reconcile_case *c);
bool reconcile_asked(struct reconcile_case *c);

/* At the end of a tick: queue what became ready, and write the events and the
 * crystallizations of nodes and goals that changed. */
void reconcile_work_finish(struct reconcile_run *run);

#endif
