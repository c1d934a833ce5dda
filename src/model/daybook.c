/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "daybook.h"
#include "json.h"
#include "mem.h"
#include "schema.h"

void
daybook_release(struct daybook *book)
{
	free(book->days);
	*book = (struct daybook){ 0 };
}

static size_t
place_of(const struct daybook *book, int64_t day)
{
	size_t i = book->count;

	while (i > 0 && book->days[i - 1].day >= day)
		i--;
	return i;
}

const struct daybook_day *
daybook_find(const struct daybook *book, int64_t day)
{
	size_t i = place_of(book, day);

	return i < book->count && book->days[i].day == day ? &book->days[i] :
							     NULL;
}

struct daybook_day *
daybook_day(struct daybook *book, int64_t day)
{
	size_t i = place_of(book, day);

	if (i < book->count && book->days[i].day == day)
		return &book->days[i];
	if (book->count == DAYBOOK_DAYS) {
		if (i == 0)
			return &book->days[0];
		memmove(book->days, book->days + 1,
		    --book->count * sizeof *book->days);
		i--;
	}
	book->days =
	    xreallocarray(book->days, book->count + 1, sizeof *book->days);
	memmove(book->days + i + 1, book->days + i,
	    (book->count - i) * sizeof *book->days);
	book->count++;
	book->days[i] = (struct daybook_day){ .day = day };
	return &book->days[i];
}

/* Take back what is below zero; nothing is left of it for the day. */
static void
take_back(struct daybook *book, size_t last, size_t member, int64_t *change)
{
	for (size_t i = last + 1; i-- > 0 && *change < 0;) {
		int64_t *has =
		    (int64_t *)(void *)((char *)&book->days[i].spent + member);
		int64_t part = *has < -*change ? *has : -*change;

		*has -= part;
		*change += part;
	}
	if (*change < 0)
		*change = 0;
}

/* The same for the cost, of what was spent on that kind. */
static void
take_back_cost(
    struct daybook *book, size_t last, enum daybook_kind kind, int64_t *change)
{
	for (size_t i = last + 1; i-- > 0 && *change < 0;) {
		struct daybook_day *day = &book->days[i];
		int64_t has = kind < DAYBOOK_KINDS ? day->cost_of[kind] :
						     daybook_task_cost(day);
		int64_t part = has < -*change ? has : -*change;

		day->spent.cost -= part;
		*change += part;
		if (kind < DAYBOOK_KINDS)
			day->cost_of[kind] -= part;
	}
}

void
daybook_add(struct daybook *book, int64_t day, enum daybook_kind kind,
    const struct spent *change)
{
	struct daybook_day *entry = daybook_day(book, day);
	size_t last = (size_t)(entry - book->days);
	struct spent more = *change;
	int64_t before;

	take_back_cost(book, last, kind, &more.cost);
	/* An older version did not tell them apart. */
	take_back_cost(book, last, DAYBOOK_TASK, &more.cost);
	if (more.cost < 0)
		more.cost = 0;
	take_back(
	    book, last, offsetof(struct spent, estimated), &more.estimated);
	take_back(book, last, offsetof(struct spent, unpriced), &more.unpriced);
	before = entry->spent.cost;
	spent_add(&entry->spent, &more);
	if (kind < DAYBOOK_KINDS)
		entry->cost_of[kind] += entry->spent.cost - before;
}

int64_t
daybook_task_cost(const struct daybook_day *day)
{
	int64_t cost = day->spent.cost;

	for (int i = 0; i < DAYBOOK_KINDS; i++)
		cost -= day->cost_of[i];
	return cost;
}

static const struct schema_field fields[] = {
	SCHEMA_FIELD(struct daybook_day, "day", day, .flags = SCHEMA_REQUIRED),
	SCHEMA_FIELD(struct daybook_day, "attempts", attempts),
	SCHEMA_FIELD(struct daybook_day, "cost_hand", cost_of[DAYBOOK_HAND],
	    .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_FIELD(struct daybook_day, "cost_planner",
	    cost_of[DAYBOOK_PLANNER], .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_FIELD(struct daybook_day, "cost_repair", cost_of[DAYBOOK_REPAIR],
	    .flags = SCHEMA_OMIT_UNSET),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

const struct schema daybook_table = { .fields = fields,
	.count = nitems(fields) };

struct json_object *
daybook_day_to_json(const struct daybook_day *day)
{
	struct json_object *json = json_object_new_object();

	schema_add(&schema, day, json);
	spent_to_json(&day->spent, json);
	return json;
}

struct json_object *
daybook_to_json(const struct daybook *book)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < book->count; i++)
		json_object_array_add(
		    list, daybook_day_to_json(&book->days[i]));
	return list;
}

int
daybook_from_json(struct json_object *list, const char *at,
    struct daybook *ret_book, struct err *err)
{
	struct daybook book = { 0 };
	int r = 0;

	for (size_t i = 0; i < json_object_array_length(list) && r == 0; i++) {
		struct json_object *json = json_object_array_get_idx(list, i);
		cleanup_buf struct buf path = BUF_INIT;
		struct daybook_day day = { 0 };

		json_path_index(&path, at, i);
		r = schema_read(&schema, json, path.data, &day, err);
		if (r == 0)
			r = spent_from_json(json, path.data, &day.spent, err);
		if (r == 0)
			*daybook_day(&book, day.day) = day;
	}
	if (r < 0) {
		daybook_release(&book);
		return r == -ENOENT ? -EINVAL : r;
	}
	*ret_book = book;
	return 0;
}
