/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "landing-item.h"
#include "landing-record.h"
#include "mem.h"
#include "schema.h"

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct landing_record, key, member, ##__VA_ARGS__)

static struct json_object *
checks_to_json(const void *member)
{
	return check_book_to_json(member);
}

static int
checks_from_json(
    struct json_object *json, const char *at, void *member, struct err *err)
{
	return check_book_from_json(json, at, member, err);
}

static void
checks_release(void *member)
{
	check_book_release(member);
}

static const struct schema_own checks_own = {
	.to_json = checks_to_json,
	.from_json = checks_from_json,
	.release = checks_release,
};

static const struct schema_field fields[] = {
	FIELD("ids", ids),
	FIELD("window", window),
	FIELD("branch", branch),
	FIELD("from", from),
	FIELD("to", to),
	FIELD("from_tree", from_tree),
	FIELD("red_told", red_told),
	FIELD("unpushed", push.unpushed),
	FIELD("pushed", push.pushed),
	FIELD("push_tries", push.tries, .flags = SCHEMA_CLAMP),
	FIELD("push_reason", push.reason),
	FIELD("push_next_ms", push.next_ms, .flags = SCHEMA_CLAMP),
	SCHEMA_PARTS(struct landing_record, "items", POINTERS, items, count,
	    landing_item_schema),
	SCHEMA_PARTS(struct landing_record, "own", SLOTS, own.list, own.count,
	    red_commit_schema, .max = RED_RUN_MAX),
	SCHEMA_OWN(
	    struct landing_record, "checks", checks, SCHEMA_OBJECT, checks_own),
};

/* Repair what does not fit together, since the file may have been edited by
 * hand: a journal needs both of its ends. */
static int
check(void *given, const char *at, struct err *err)
{
	struct landing_record *record = given;

	for (size_t i = 0; i < record->count; i++)
		if (landing_record_find(record, record->items[i]->id) !=
		    record->items[i])
			return err_set(err, -EINVAL,
			    "%s.items[%zu].id: another item has this id", at,
			    i);
	if (record->from != NULL && record->to != NULL)
		return 0;
	xstrset(&record->branch, NULL);
	xstrset(&record->from, NULL);
	xstrset(&record->to, NULL);
	xstrset(&record->from_tree, NULL);
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			xstrset(&record->items[i]->commit, NULL);
	return 0;
}

static const struct schema schema =
    SCHEMA_OF(struct landing_record, fields, .check = check);

void
landing_record_release(struct landing_record *record)
{
	schema_release(&schema, record);
	memset(record, 0, sizeof *record);
}

void
landing_record_append(struct landing_record *record, struct landing_item *item)
{
	record->items = xreallocarray(
	    record->items, record->count + 1, sizeof(struct landing_item *));
	record->items[record->count++] = item;
}

struct landing_item *
landing_record_new_item(struct landing_record *record)
{
	cleanup_free char *id = NULL;
	struct landing_item *item;

	/* A file edited by hand may have an item ahead of its counter. */
	do {
		free(id);
		id = xasprintf("q%" PRIu64, ++record->ids);
	} while (landing_record_find(record, id) != NULL);
	item = landing_item_new(id);
	item->seq = record->ids;
	return item;
}

void
landing_record_remove(struct landing_record *record, struct landing_item *item)
{
	size_t at = 0;

	while (at < record->count && record->items[at] != item)
		at++;
	if (at == record->count)
		return;
	landing_item_free(item);
	record->count--;
	memmove(record->items + at, record->items + at + 1,
	    (record->count - at) * sizeof(struct landing_item *));
}

struct landing_item *
landing_record_find(const struct landing_record *record, const char *id)
{
	for (size_t i = 0; i < record->count; i++)
		if (strcmp(record->items[i]->id, id) == 0)
			return record->items[i];
	return NULL;
}

struct landing_item *
landing_record_of(const struct landing_record *record, const char *worker)
{
	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->kind == ITEM_WORK && item->worker != NULL &&
		    strcmp(item->worker, worker) == 0)
			return item;
	}
	return NULL;
}

struct landing_item *
landing_record_of_task(const struct landing_record *record, const char *task)
{
	for (size_t i = 0; i < record->count; i++) {
		struct landing_item *item = record->items[i];

		if (item->kind == ITEM_WORK && item->task != NULL &&
		    strcmp(item->task, task) == 0)
			return item;
	}
	return NULL;
}

struct json_object *
landing_record_to_json(const struct landing_record *record)
{
	return schema_json(&schema, record);
}

int
landing_record_from_json(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err)
{
	return schema_read(&schema, json, at, record, err);
}
