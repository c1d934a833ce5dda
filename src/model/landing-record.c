/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "landing-item.h"
#include "landing-record.h"
#include "mem.h"
#include "record.h"

#define FIELD(key, member, ...) \
	RECORD_FIELD(struct landing_record, key, member, ##__VA_ARGS__)

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
	FIELD("push_tries", push.tries, .flags = RECORD_CLAMP),
	FIELD("push_reason", push.reason),
	FIELD("push_next_ms", push.next_ms, .flags = RECORD_CLAMP),
};

void
landing_record_release(struct landing_record *record)
{
	for (size_t i = 0; i < record->count; i++)
		landing_item_free(record->items[i]);
	free(record->items);
	record_release(fields, nitems(fields), record);
	check_book_release(&record->checks);
	red_run_release(&record->own);
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

/* --- the record ------------------------------------------------------ */

struct json_object *
landing_record_to_json(const struct landing_record *record)
{
	struct json_object *json = json_object_new_object();
	struct json_object *items = json_object_new_array();

	record_to_json(fields, nitems(fields), record, json);
	for (size_t i = 0; i < record->count; i++)
		json_object_array_add(
		    items, landing_item_to_json(record->items[i]));
	json_set(json, "items", items);
	json_set(json, "own", red_run_to_json(&record->own));
	json_set(json, "checks", check_book_to_json(&record->checks));
	return json;
}

static int
parse_item(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err)
{
	struct landing_item *item = NULL;
	int r = landing_item_from_json(json, at, &item, err);

	if (r < 0)
		return r;
	if (landing_record_find(record, item->id) != NULL) {
		landing_item_free(item);
		return err_set(
		    err, -EINVAL, "%s.id: another item has this id", at);
	}
	landing_record_append(record, item);
	return 0;
}

static int
parse_items(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *list = NULL;
	int r = json_get_array(json, at, "items", &list, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_path_key(&path, at, "items");
	for (size_t i = 0; i < json_object_array_length(list) && r == 0; i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		r = parse_item(
		    json_object_array_get_idx(list, i), item.data, record, err);
	}
	return r;
}

static int
parse_own(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *list = NULL;
	int r = json_get_array(json, at, "own", &list, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json_path_key(&path, at, "own");
	return red_run_from_json(list, path.data, &record->own, err);
}

/* A journal needs both of its ends. */
static void
fix_combinations(struct landing_record *record)
{
	if (record->from != NULL && record->to != NULL)
		return;
	xstrset(&record->branch, NULL);
	xstrset(&record->from, NULL);
	xstrset(&record->to, NULL);
	xstrset(&record->from_tree, NULL);
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			xstrset(&record->items[i]->commit, NULL);
}

int
landing_record_from_json(struct json_object *json, const char *at,
    struct landing_record *record, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *checks = NULL;
	int r;

	r = record_from_json(fields, nitems(fields), json, at, record, err);
	if (r == 0)
		r = parse_items(json, at, record, err);
	if (r == 0)
		r = parse_own(json, at, record, err);
	if (r < 0)
		return r;
	r = json_get_object(json, at, "checks", &checks, err);
	if (r == 0) {
		json_path_key(&path, at, "checks");
		r = check_book_from_json(
		    checks, path.data, &record->checks, err);
	} else if (r == -ENOENT) {
		r = 0;
	}
	fix_combinations(record);
	return r;
}
