/* SPDX-License-Identifier: ISC */

/*
 * How items leave the queue: their worker is cleaned, told, or sent back; the
 * caller gets its answer, the floors above an event. What is left to be done is
 * in the state (item->step), so the next daemon finishes it.
 */
#ifndef SETTLE_H
#define SETTLE_H

#include <stdbool.h>

struct core;
struct err;
struct landing_item;
struct landings;

/* On the branch as item->commit: emits EVENT_LANDED in the pass of the loop
 * that saves it. */
void settle_landed(struct landings *landings, struct landing_item *item);
/* It could not land for a reason outside of it. Work of auto mode stays in the
 * queue; a person gets the error, and decides again. The item may be gone. */
void settle_refused(struct landings *landings, struct landing_item *item,
    const struct err *err);
/* Taken out of the queue: answer, event. The item is gone. */
void settle_cancelled(
    struct landings *landings, struct landing_item *item, const char *reason);

/* Take it out because its task was dropped: who waits is answered, there is no
 * event. False if it has landed, the branch is moving with it, or its worker is
 * being reset. */
bool settle_withdraw(struct landings *landings, struct landing_item *item);

/* What the worker is told after this tree failed, into item->words. */
void settle_check_words(
    const struct core *core, const char *tree, struct landing_item *item);

/* Finish items that have landed or were ejected, where their worker can be
 * had. */
void settle_due(struct landings *landings);

#endif
