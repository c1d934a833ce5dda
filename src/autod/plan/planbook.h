/* SPDX-License-Identifier: ISC */

/*
 * All goals that are active or paused, in memory, as the store has them. It is
 * read once, at the start; from then on every change is made here and then
 * stored (plan-persist.h).
 *
 * A change that the store refuses is undone: its goal is read again. A store
 * that is damaged or cannot be read closes the book: no plan is
 * changed, nothing is dispatched, and workers and tasks go on (safe mode).
 */
#ifndef PLANBOOK_H
#define PLANBOOK_H

#include <stdbool.h>

#include "plan-set.h"

struct core;
struct err;
struct plan_persist;
struct planbook;
struct store;
struct store_change;

/* err NULL: the book is open. Otherwise it is closed, for good; this may also
 * come later. err->code as in store.h; -EBADMSG for a record that no plan can
 * be made of. */
typedef void planbook_fn(const struct err *err, void *arg);

/* The store refused a change of this goal, because of err; the goal is now in
 * the set as the store has it, or is not there if the store has it not. */
typedef void
planbook_refused_fn(const char *goal_id, const struct err *err, void *arg);

/* A record that is not of a plan, such as mail: while the book is read, before
 * it is open. */
typedef void planbook_other_fn(const struct store_change *record, void *arg);

/* The functions are called from the loop. */
struct planbook *
planbook_new(struct core *core, const char *path, planbook_fn *fn,
    planbook_refused_fn *refused, planbook_other_fn *other, void *arg);
/* Waits until everything is stored. */
void planbook_free(struct planbook *book);

bool planbook_is_open(const struct planbook *book);
/* The members below are for an open book. */
struct plan_set *planbook_set(struct planbook *book);
struct plan_persist *planbook_persist(struct planbook *book);
struct store *planbook_store(struct planbook *book);

/* Read a goal that is not in the set, because it has ended, into it; fn is
 * called from the loop when it is there, or when it is known that there is
 * none. */
typedef void planbook_fetch_fn(void *arg);
void planbook_fetch(struct planbook *book, const char *goal_id,
    planbook_fetch_fn *fn, void *arg);

#endif
