/* SPDX-License-Identifier: ISC */

#include "records.h"
#include "core.h"

struct found {
	struct json_object *first, *last;
	size_t count;
};

static bool
on_record(const struct book_record *record, void *arg)
{
	struct found *found = arg;
	struct json_object *json = NULL;

	ck_assert_int_eq(json_parse(record->body, strlen(record->body),
			     BOOK_BODY_MAX, &json, NULL),
	    0);
	if (strcmp(json_string_or(json, "status", ""), "open") == 0) {
		if (found->count++ == 0)
			found->last = json_object_get(json);
		json_object_put(found->first);
		found->first = json_object_get(json);
	}
	json_object_put(json);
	return true;
}

static struct found
find(const struct core *core, enum book_kind kind, const char *actor)
{
	struct found found = { 0 };
	struct err err = { 0 };

	ck_assert_msg(core->book == NULL ||
		book_read_newest(
		    core->book, kind, actor, 0, on_record, &found, &err) == 0,
	    "%s", err.msg);
	return found;
}

size_t
records_open(const struct core *core, enum book_kind kind, const char *actor)
{
	struct found found = find(core, kind, actor);

	json_object_put(found.first);
	json_object_put(found.last);
	return found.count;
}

struct json_object *
records_first(const struct core *core, enum book_kind kind, const char *actor)
{
	struct found found = find(core, kind, actor);

	json_object_put(found.last);
	return found.first;
}

struct json_object *
records_last(const struct core *core, enum book_kind kind, const char *actor)
{
	struct found found = find(core, kind, actor);

	json_object_put(found.first);
	return found.last;
}
