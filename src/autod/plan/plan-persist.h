/* SPDX-License-Identifier: ISC */

/*
 * Store, then act: code that changes the plans says which record it changed and
 * what happened, and passes what should follow to plan_persist_then(). At the
 * end of this pass of the loop all of it goes to the store as one transaction,
 * and once that is on the disk those functions are called, in order. A commit
 * that fails is tried again; nothing is done that is not stored.
 */
#ifndef PLAN_PERSIST_H
#define PLAN_PERSIST_H

#include <stdbool.h>

#include "store.h"

struct core;
struct plan;
struct plan_changes;
struct plan_dispatch;
struct plan_persist;
struct plan_set;

typedef void plan_persist_fn(void *arg);
/* The store is of no use any more. */
typedef void plan_persist_lost_fn(const struct err *err, void *arg);

/* Records are taken from the set when they are stored; one that is not there
 * is deleted. */
struct plan_persist *plan_persist_new(struct core *core, struct store *store,
    const struct plan_set *set, plan_persist_lost_fn *lost, void *arg);
/* Effects that wait are dropped. */
void plan_persist_free(struct plan_persist *persist);

/* STORE_GOAL, STORE_NODE, STORE_ASSIGNMENT or STORE_CRYSTAL. */
void plan_persist_record(struct plan_persist *persist, enum store_kind kind,
    const char *goal_id, const char *id);
void plan_persist_dispatch(
    struct plan_persist *persist, const struct plan_dispatch *dispatch);
/* Everything that an edit changed in this plan. */
void plan_persist_changes(struct plan_persist *persist, const struct plan *plan,
    const struct plan_changes *changes);
/* ts_ms 0 = now. Everything is copied. */
void plan_persist_event(
    struct plan_persist *persist, const struct store_event *event);

void plan_persist_then(
    struct plan_persist *persist, void *owner, plan_persist_fn *fn, void *arg);
/* Drop the effects of this owner. */
void plan_persist_forget(struct plan_persist *persist, const void *owner);

/* Is everything stored, and no effect waiting? */
bool plan_persist_is_idle(const struct plan_persist *persist);

#endif
