/* SPDX-License-Identifier: ISC */

/*
 * The landing queue: its items, the results of checks, and
 * the journal of a move of the branch. What is built and checked from it is
 * computed again after a restart (landing-plan.h).
 */
#ifndef LANDING_RECORD_H
#define LANDING_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "check-book.h"
#include "push-record.h"
#include "red-run.h"

struct err;
struct json_object;
struct landing_item;

struct landing_record {
	struct landing_item **items; /* owned, in the order of their ids */
	size_t count;
	uint64_t ids; /* items numbered so far */
	int window; /* how many are looked at together, 0 = not set */
	/* The journal: the branch moves from one commit to the other, with the
	 * items that have a commit. NULL = it does not move. The branch is also
	 * NULL in the journal of an older version. */
	char *branch, *from, *to;
	char *from_tree;
	char *red_told; /* base tree that was reported as failing */
	struct red_run own; /* tasks' commits that the branch ends with */
	struct push_record push;
	struct check_book checks;
};

/* All zero is an empty record. */
void landing_record_release(struct landing_record *record);

/* A new item with the next id, not yet in the queue; and then into it. */
struct landing_item *landing_record_new_item(struct landing_record *record);
void
landing_record_append(struct landing_record *record, struct landing_item *item);
void
landing_record_remove(struct landing_record *record, struct landing_item *item);
/* NULL = none. */
struct landing_item *
landing_record_find(const struct landing_record *record, const char *id);
/* The item whose work is in that worker's worktree. NULL = none. */
struct landing_item *
landing_record_of(const struct landing_record *record, const char *worker);

/* The item that has the work of this task. NULL = none. */
struct landing_item *
landing_record_of_task(const struct landing_record *record, const char *task);

struct json_object *landing_record_to_json(const struct landing_record *record);
/* Into an empty record. `at` is the path for error messages. */
int landing_record_from_json(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err);

#endif
