/* SPDX-License-Identifier: ISC */

/*
 * How items leave the queue: their worker is cleaned, told, or sent back; the
 * caller gets its answer, the floors above an event. What is left to be done is
 * in the state (item->step), so the next daemon finishes it.
 */
#ifndef SETTLE_H
#define SETTLE_H

struct agent;
struct core;
struct err;
struct landing_facts;
struct landing_item;
struct landing_plan;
struct landings;

/* Mark what can be released. items are those of the entries of the facts, from
 * which the plan was made. Returns how many workers could be released, if
 * somebody needed them. */
size_t release_due(struct landings *landings, const struct landing_facts *facts,
    const struct landing_plan *plan, struct landing_item *const *items,
    int64_t now_ms);

/* The item has no worker any more. */
void release_done(struct landings *landings, struct landing_item *item);

/* err NULL: the worker is working on it again. */
typedef void
op_return_fn(struct agent *agent, const struct err *err, void *arg);

/* No operation may be running on the worker, which is accepting. */
void op_return(struct agent *agent, const char *commit, const char *words,
    op_return_fn *fn, void *arg);

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
