/* SPDX-License-Identifier: ISC */

/*
 * The plans in memory, as the book has them. Goals that are active or paused
 * are read once, at the start; from then on every change is made in the set and
 * named here. Just before the pass is committed (persist.h), the named records
 * are put into the book, each once, however often it changed: a plan, its task,
 * its event and its effect are one transaction.
 *
 * A change that the book refuses is undone: nothing that this pass changed in
 * the goal is put, the goal is read again, its calls are refused, and it is
 * paused for a person to look at.
 *
 * Everything that the daemon tells and that has a name goes to the book's log
 * of events, whether or not goals are on.
 */
#ifndef PLAN_BOOK_H
#define PLAN_BOOK_H

#include "book.h"

struct err;
struct event;
struct plan;
struct plan_book;
struct plan_changes;
struct plan_floor;
struct plan_goal;
struct plan_set;

/* Begin to log events. */
struct plan_book *plan_book_new(struct plan_floor *floor);
/* What was named and is not put yet is lost. */
void plan_book_free(struct plan_book *book);

/* Read the plans. -EBADMSG: a record that no plan can be made of; codes of
 * book.h. The set is empty then. */
int plan_book_load(struct plan_book *book, struct err *err);
/* Put what was named, without waiting for the commit. */
void plan_book_put(struct plan_book *book);
/* Forget the plans, and what was named and not put. */
void plan_book_unload(struct plan_book *book);
/* Is there any goal, open or not? */
bool plan_book_has_goals(const struct plan_floor *floor);

struct plan_set *plan_book_set(struct plan_book *book);

/* The rest is for PLAN_OPEN. */

/* A goal of the set, or one that has ended, read into it. NULL with err:
 * -ENOENT, or it cannot be read. */
struct plan *
plan_book_plan(struct plan_floor *floor, const char *goal_id, struct err *err);

/* The id of the next goal, "g17", which the caller frees; taken with
 * plan_book_number(). */
char *plan_book_next_goal(const struct plan_floor *floor);
/* A new goal with such an id: its number is not given again. */
void plan_book_number(struct plan_floor *floor, struct plan_goal *goal);

/* It was changed: BOOK_GOAL, BOOK_NODE, BOOK_ASSIGNMENT or BOOK_CRYSTAL. One
 * that is not in the set is deleted. */
void plan_book_record(struct plan_floor *floor, enum book_kind kind,
    const char *goal_id, const char *id);
/* Everything that an edit changed in this plan. */
void plan_book_changes(struct plan_floor *floor, const struct plan *plan,
    const struct plan_changes *changes);

#endif
