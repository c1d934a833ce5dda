/* SPDX-License-Identifier: ISC */

/*
 * What is known of the items of the queue on top of one commit or another: the
 * candidates that landing-plan.h asks for. Kept in memory only; the same item
 * on the same parent gives the same commit again.
 */
#ifndef CANDIDATES_H
#define CANDIDATES_H

#include "landing-plan.h"

struct candidates;
struct core;
struct landing_item;
struct loop_timer;

/* Strings are owned, NULL = not set. */
struct candidate {
	char *item; /* id */
	char *parent; /* commit */
	enum landing_build build;
	char *commit, *tree; /* if built */
	int64_t date; /* of the commit */
	/* CONFLICT: the paths, for people. */
	char *words;
	/* Git failed, words say how: it is tried again later. */
	bool waits;
	bool broken; /* and trying again has not helped */

	/* Private. */
	struct candidates *owner;
	struct loop_timer *again;
	int tries; /* that failed */
};

/* changed: a build has ended, or may be tried again. */
struct candidates *
candidates_new(struct core *core, void (*changed)(void *arg), void *arg);
void candidates_free(struct candidates *candidates);

/* What is known of the item, on whatever parent; NULL = nothing. */
const struct candidate *
candidates_of(const struct candidates *candidates, const char *item);

/* Build it on top of parent; what was known of it is forgotten. parent_date: 0
 * = unknown. base: the commit of the branch, whose attributes count. */
void
candidates_build(struct candidates *candidates, const struct landing_item *item,
    const char *parent, int64_t parent_date, const char *base);
/* The item has left the queue. */
void candidates_forget(struct candidates *candidates, const char *item);
/* Is a build running? */
bool candidates_busy(const struct candidates *candidates);

#endif
