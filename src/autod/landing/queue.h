/* SPDX-License-Identifier: ISC */

/*
 * Runs the landing queue: asks landing-plan.h what to do next whenever
 * something has changed, and does it. The items are in the state
 * (landing-record.h).
 *
 *   queue.c       reads the branch; removes what a killed daemon left
 *   candidates.c  builds commits on top of each other
 *   check-slot.c  judges them
 *   queue-move.c  moves the branch
 *   push.c        pushes it
 *   settle.c      tells the workers how their items ended
 *   queue-view.c  shows all of it
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "landing-plan.h"

struct candidates;
struct check_slot;
struct landing_item;
struct landings;
struct loop_call;
struct loop_timer;
struct push;
struct queue;
struct queue_move;

/* Remember the tree and date of a commit that may be the tip. */
void queue_base_know(
    struct queue *queue, const char *commit, const char *tree, int64_t date);

/* It may have moved: read it again. */
void queue_base_changed(struct queue *queue);

/* The commit of the branch that is known to have the very tree of the item's
 * work, NULL = none. */
const char *
queue_base_same(const struct queue *queue, const struct landing_item *item);

struct queue_slot {
	struct check_slot *slot;
	char **covers; /* ids of items; NULL = the base itself */
	char **pinned; /* items that keep their order while it runs */
	bool cancelled;
};

struct queue {
	struct landings *landings;
	struct core *core;
	struct loop_call *look;
	struct loop_timer *wake;
	struct candidates *candidates;
	struct queue_slot slots[LANDING_SLOTS_MAX];
	int slot_count;
	/* The tip of the branch, as last read. */
	char *base_commit, *base_tree; /* NULL = to be read */
	int64_t base_date; /* of the commit, in seconds; 0 = not known */
	/* A commit of the branch whose tree and date are known: mostly the tip,
	 * which then only needs to be compared. */
	char *known_commit, *known_tree;
	int64_t known_date;
	bool base_asked;
	int base_fails;
	bool built; /* something was, since the last plan */
	struct queue_move *move; /* queue-move.c */
	struct push *push;
	size_t long_waits; /* workers that could be released, see settle.h */
	uint64_t ids_before; /* given to items before this daemon began */
	bool stopping;
};

struct queue *queue_new(struct landings *landings);
void queue_free(struct queue *queue);

/* After the floors below have begun: continue what an earlier daemon left. */
void queue_begin(struct queue *queue);

/* Something has changed: decide again, later in this pass of the loop. */
void queue_look(struct queue *queue);

/* After a result was added to the book: forget old ones, but none of what is in
 * the queue now. */
void queue_trim_book(struct queue *queue);

/* Leave the running checks to the next daemon, end everything else. */
void queue_stop(struct queue *queue);

/* Does nothing run that must not be interrupted? */
bool queue_is_quiet(const struct queue *queue);

/* The item is gone after this. */
void queue_remove(struct queue *queue, struct landing_item *item);

/* Put an item, which is owned by the state from now on, into the queue. */
void queue_add(struct queue *queue, struct landing_item *item);

#endif
