/* SPDX-License-Identifier: ISC */

/*
 * What one transaction of the store shall hold: records by their names, events,
 * and what follows when it is stored (plan-persist.h). Each belongs to a goal,
 * or, events and what follows, to none: a batch can be divided by goals.
 */
#ifndef PLAN_BATCH_H
#define PLAN_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "plan-persist.h"
#include "store.h"
#include "strmap.h"

struct plan_batch_record;
struct plan_batch_event;

struct plan_batch_effect {
	TAILQ_ENTRY(plan_batch_effect) entry;
	void *owner;
	char *goal_id; /* NULL = none */
	plan_persist_fn *fn;
	void *arg;
};

TAILQ_HEAD(plan_batch_records, plan_batch_record);
TAILQ_HEAD(plan_batch_events, plan_batch_event);
TAILQ_HEAD(plan_batch_effects, plan_batch_effect);

struct plan_batch {
	TAILQ_ENTRY(plan_batch) entry; /* the owner's */
	struct plan_persist *persist; /* the same */
	bool is_part;
	char *goal_id; /* a part: all is of this goal; NULL = of none */
	struct plan_batch_records records;
	struct strmap by_name; /* of the records */
	struct plan_batch_events events;
	struct plan_batch_effects effects;
	size_t record_count, event_count;
	size_t event_bytes;
};

struct plan_batch *plan_batch_new(struct plan_persist *persist);
/* Its effects are dropped. */
void plan_batch_free(struct plan_batch *batch);
/* Nothing to be stored? */
bool plan_batch_is_empty(const struct plan_batch *batch);

/* A record, once, whatever happens to it: what it says is looked up when it is
 * stored. body (taken): of a dispatch, or of mail, a request or a reservation,
 * which are in no set; else NULL. */
void plan_batch_record(struct plan_batch *batch, enum store_kind kind,
    const char *goal_id, const char *id, char *body);
void
plan_batch_event(struct plan_batch *batch, const struct store_event *event);
void plan_batch_effect(struct plan_batch *batch, void *owner,
    const char *goal_id, plan_persist_fn *fn, void *arg);
/* owner NULL = of all. */
void plan_batch_forget(struct plan_batch *batch, const void *owner);

/* Everything of the second behind everything of the first; the second is
 * empty then. */
void plan_batch_join(struct plan_batch *first, struct plan_batch *second);
/* The goal of something in it; NULL = of nothing. */
const char *plan_batch_any_goal(const struct plan_batch *batch);
/* Is there a record of this goal? */
bool plan_batch_has_goal(const struct plan_batch *batch, const char *goal_id);
/* Everything of this goal behind everything of the other. */
void plan_batch_move_goal(
    struct plan_batch *from, const char *goal_id, struct plan_batch *to);

/* Commit it; the records are as the set has them, or deleted. */
void plan_batch_commit(struct plan_batch *batch, struct store *store,
    const struct plan_set *set, store_done_fn *done);

#endif
