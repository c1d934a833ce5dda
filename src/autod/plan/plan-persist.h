/* SPDX-License-Identifier: ISC */

/*
 * Store, then act: code that changes the plans says which record it changed and
 * what happened, and passes what should follow to plan_persist_then(). At the
 * end of this pass of the loop all of it goes to the store as one transaction,
 * and once that is on the disk those functions are called, in order. Nothing is
 * done that is not stored.
 *
 * While the store cannot be written (a full disk), it is tried again and again,
 * after longer and longer waits. Events that cannot be kept until then are
 * counted; changes of plans are all kept, and new ones should be refused
 * (plan_persist_ready()). Its beginning and its end are told.
 *
 * What the store refuses is lost, with all else that this transaction has about
 * the same goal; the other goals are stored without it.
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

/* err NULL: it is stored. Otherwise it was refused. */
typedef void plan_persist_fn(const struct err *err, void *arg);

struct plan_persist_callbacks {
	/* The store is of no use any more. */
	void (*lost)(const struct err *err, void *arg);
	/* A change of this goal was refused: what the set says about the goal
	 * is not in the store. Until plan_persist_go_on() nothing about it is
	 * stored. */
	void (*refused)(const char *goal_id, const struct err *err, void *arg);
	void *arg;
};

/* Records are taken from the set when they are stored; one that is not there
 * is deleted. */
struct plan_persist *plan_persist_new(struct core *core, struct store *store,
    const struct plan_set *set, const struct plan_persist_callbacks *callbacks);
/* Effects that wait are dropped. */
void plan_persist_free(struct plan_persist *persist);

/* STORE_GOAL, STORE_NODE, STORE_ASSIGNMENT or STORE_CRYSTAL. */
void plan_persist_record(struct plan_persist *persist, enum store_kind kind,
    const char *goal_id, const char *id);
void plan_persist_dispatch(
    struct plan_persist *persist, const struct plan_dispatch *dispatch);
/* STORE_MAIL, STORE_REQUEST or STORE_RESERVATION, which are in no set: the JSON
 * text is taken. */
void plan_persist_body(struct plan_persist *persist, enum store_kind kind,
    const char *goal_id, const char *id, char *body);
/* Everything that an edit changed in this plan. */
void plan_persist_changes(struct plan_persist *persist, const struct plan *plan,
    const struct plan_changes *changes);
/* ts_ms 0 = now. Everything is copied. */
void plan_persist_event(
    struct plan_persist *persist, const struct store_event *event);

/* goal_id: the goal whose changes it follows; NULL: it follows all that was
 * stored, whatever was refused. */
void plan_persist_then(struct plan_persist *persist, void *owner,
    const char *goal_id, plan_persist_fn *fn, void *arg);
/* Drop the effects of this owner. */
void plan_persist_forget(struct plan_persist *persist, const void *owner);

/* May plans be changed now? -EAGAIN with words while the store cannot be
 * written; it is then tried again at once. */
int plan_persist_ready(struct plan_persist *persist, struct err *err);

/* How often the store could not be written since it could; 0 = it can. */
int plan_persist_tries(const struct plan_persist *persist);

/* The set is as the store again, as far as this goal is concerned. */
void plan_persist_go_on(struct plan_persist *persist, const char *goal_id);

/* Is everything stored, and no effect waiting? */
bool plan_persist_is_idle(const struct plan_persist *persist);
/* Is every record of this goal stored as it is? */
bool
plan_persist_is_stored(const struct plan_persist *persist, const char *goal_id);

/* Store nothing any more: the book is closed. */
void plan_persist_stop(struct plan_persist *persist);

/* Events without a goal that wait to be stored; more are counted only. */
#define PLAN_PERSIST_EVENTS_MAX 10000
#define PLAN_PERSIST_BYTES_MAX  ((size_t)8 * 1024 * 1024)

#endif
