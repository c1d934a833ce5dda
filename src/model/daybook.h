/* SPDX-License-Identifier: ISC */

/* What everything used, day by day: tasks, workers driven by hand, the planner
 * and repairs. The oldest day is dropped when there are too many. */
#ifndef DAYBOOK_H
#define DAYBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "account.h"

struct err;
struct json_object;
struct schema;

#define DAYBOOK_DAYS 31

/* On what; what is left of a day's cost was spent on tasks. */
enum daybook_kind {
	DAYBOOK_HAND, /* workers driven by hand */
	DAYBOOK_PLANNER,
	DAYBOOK_REPAIR, /* of llmc itself, by the overseer */
	DAYBOOK_TASK,
	DAYBOOK_KINDS = DAYBOOK_TASK
};

struct daybook_day {
	int64_t day; /* days since 1970, UTC */
	int64_t attempts; /* at tasks, begun */
	struct spent spent; /* all of it */
	int64_t cost_of[DAYBOOK_KINDS]; /* parts of spent.cost */
};

struct daybook {
	struct daybook_day *days; /* owned; oldest first */
	size_t count;
};

void daybook_release(struct daybook *book);

/* The entry of a day, made if there is none; of a day older than the book, the
 * oldest entry. */
struct daybook_day *daybook_day(struct daybook *book, int64_t day);
/* Book more on a day. What a correction takes back, and the day does not have,
 * is taken from the days before it: a conversation may go on over midnight. */
void daybook_add(struct daybook *book, int64_t day, enum daybook_kind kind,
    const struct spent *change);
/* What a day's tasks cost. */
int64_t daybook_task_cost(const struct daybook_day *day);
/* NULL = nothing was used then. */
const struct daybook_day *daybook_find(const struct daybook *book, int64_t day);

struct json_object *daybook_day_to_json(const struct daybook_day *day);
struct json_object *daybook_to_json(const struct daybook *book);
int daybook_from_json(struct json_object *list, const char *at,
    struct daybook *ret_book, struct err *err);

extern const struct schema daybook_table; /* the columns of its row */

#endif
