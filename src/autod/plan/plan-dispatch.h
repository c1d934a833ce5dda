/* SPDX-License-Identifier: ISC */

/*
 * Carries out what the tick has decided, after it is stored: a message to a
 * worker between its turns, a fresh worker (a task of auto mode), a person.
 * Each has a dispatch id; its result is stored with it, so that the next daemon
 * carries out what this one could not, and nothing twice.
 */
#ifndef PLAN_DISPATCH_H
#define PLAN_DISPATCH_H

#include "plan-assignment.h"

struct plan_dispatcher;
struct plan_floor;
struct reconcile_decision;

struct plan_dispatcher *plan_dispatcher_new(struct plan_floor *floor);
/* Call before the book is closed. */
void plan_dispatcher_free(struct plan_dispatcher *dispatcher);

/* Carry it out once everything that was changed before is stored. */
void plan_dispatch_then(struct plan_dispatcher *dispatcher,
    const struct reconcile_decision *decision);

/* The book is open: carry out what an earlier daemon has stored only. */
void plan_dispatcher_begin(struct plan_dispatcher *dispatcher);

/* A plan has changed: a message that waits may be sent now, or is not wanted
 * any more. */
void plan_dispatcher_look(struct plan_dispatcher *dispatcher);

/* Record the result of a dispatch of this assignment; reason may be NULL. */
void plan_dispatch_ended(struct plan_floor *floor,
    struct plan_assignment *assignment, struct plan_dispatch *dispatch,
    enum dispatch_result result, const char *reason);

#endif
