/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "event.h"
#include "json.h"
#include "mem.h"
#include "schema.h"

/* Numbers are written as text, but may be numbers in a file that others
 * wrote. */
static const struct schema numeric = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("text", STRING, NULL),
	    SCHEMA_IS("number", INT, NULL),
	    SCHEMA_END,
	},
};

#define TEXT(key, member)                       \
	SCHEMA_FIELD(struct event, key, member, \
	    .flags = SCHEMA_OPTIONAL | SCHEMA_REQUIRED)
#define NUMBER(key, member)                                       \
	SCHEMA_AS(struct event, key, ONE, member, .of = &numeric, \
	    .flags = SCHEMA_OPTIONAL)

/* As in auto.log, by their names there. */
static const struct schema_field fields[] = {
	SCHEMA_IS("type", STRING,
	    "task_assigned, accept_success, ...; the other members "
	    "depend on it"),
	TEXT("worker_name", worker),
	TEXT("task", task),
	TEXT("reason", reason),
	TEXT("from_state", from),
	TEXT("to_state", to),
	TEXT("session", session),
	TEXT("receipt", receipt),
	TEXT("resume", resume),
	TEXT("status", status),
	TEXT("text", text),
	TEXT("error", error),
	TEXT("class", class),
	TEXT("commit_sha", commit),
	TEXT("branch", branch),
	TEXT("task_excerpt", title),
	TEXT("outcome", outcome),
	TEXT("result", result),
	TEXT("action", action),
	TEXT("scope", scope),
	TEXT("ref", ref),
	TEXT("path", path),
	TEXT("key", key),
	TEXT("instance_id", instance),
	TEXT("goal", goal),
	TEXT("node", node),
	TEXT("assignment", assignment),
	TEXT("dispatch", dispatch),
	TEXT("actor", actor),
	NUMBER("attempt", attempt),
	NUMBER("until_unix", until_unix),
	NUMBER("exit_code", exit_code),
	NUMBER("duration_ms", duration_ms),
	NUMBER("concurrency", concurrency),
	NUMBER("count", count),
	NUMBER("done", done),
	NUMBER("failed", failed),
};

static const struct schema schema =
    SCHEMA_OF(struct event, fields, .open = true /* of another version */);

static const struct schema record_schema = {
	SCHEMA_FIELDS{
	    SCHEMA_IS("timestamp", STRING, "UTC"),
	    SCHEMA_IS("level", STRING, NULL),
	    SCHEMA_IS("event", OBJECT, NULL, .of = &schema),
	    SCHEMA_END,
	},
	.help = "a record of logs/auto.log",
};

const struct schema_field event_record_schema = { .type = SCHEMA_OBJECT,
	.of = &record_schema };

/* Some have another name in the log, because the names in auto.log are older
 * and must not change. */
static const struct {
	const char *name, *file_name;
} names[] = {
	{ "worker", "worker_name" },
	{ "from", "from_state" },
	{ "to", "to_state" },
	{ "commit", "commit_sha" },
	{ "title", "task_excerpt" },
	{ "instance", "instance_id" },
	{ "until", "until_unix" },
};

static const char *
name_of(const struct schema_field *field)
{
	for (size_t i = 0; i < nitems(names); i++)
		if (strcmp(names[i].file_name, field->name) == 0)
			return names[i].name;
	return field->name;
}

const struct event_row *
event_row(enum event_kind kind)
{
	return &event_table[kind];
}

const struct event_row *
event_row_named(const char *name)
{
	for (size_t i = 0; i < EVENT_KIND_COUNT; i++)
		if (event_table[i].name != NULL &&
		    strcmp(event_table[i].name, name) == 0)
			return &event_table[i];
	return NULL;
}

static const struct schema_field *
find_field(const char *name, size_t len)
{
	for (size_t i = 0; i < nitems(fields); i++)
		if (fields[i].is_member && strlen(name_of(&fields[i])) == len &&
		    memcmp(name_of(&fields[i]), name, len) == 0)
			return &fields[i];
	return NULL;
}

/* The value as text, in `number` if it is a number; NULL = not given. */
static const char *
value_of(const struct event *event, const struct schema_field *field,
    char number[24])
{
	const void *at = (const char *)event + field->offset;

	if (field->type == SCHEMA_TEXT)
		return *(const char *const *)at;
	snprintf(number, 24, "%lld", (long long)*(const int64_t *)at);
	return number;
}

void
event_text(const struct event *event, struct buf *out)
{
	const char *text = event_table[event->kind].text, *value;
	const struct schema_field *field;
	char number[24];
	size_t len;

	for (; *text != '\0'; text += len) {
		if (*text != '{') {
			len = strcspn(text, "{");
			buf_add(out, text, len);
			continue;
		}
		len = strcspn(text, "}") + 1;
		field = find_field(text + 1, len - 2);
		value = field != NULL ? value_of(event, field, number) : NULL;
		buf_adds(out, value != NULL ? value : "");
	}
}

static bool
is_in_text(const char *text, const struct schema_field *field)
{
	cleanup_free char *mark = xasprintf("{%s}", name_of(field));

	return strstr(text, mark) != NULL;
}

/* The first field of the list; advances the list. */
static const struct schema_field *
next_field(const char **list)
{
	const struct schema_field *field;
	size_t len;

	if (*list == NULL || **list == '\0')
		return NULL;
	len = strcspn(*list, " ");
	field = find_field(*list, len);
	*list += len + strspn(*list + len, " ");
	return field;
}

void
event_fields(const struct event *event, event_field_fn *fn, void *arg)
{
	const struct event_row *row = &event_table[event->kind];
	const char *list = row->fields, *value;
	const struct schema_field *field;
	char number[24];

	while ((field = next_field(&list)) != NULL) {
		value = value_of(event, field, number);
		if (value != NULL && !is_in_text(row->text, field))
			fn(name_of(field), value, arg);
	}
}

struct json_object *
event_record(const struct event *event, const char *timestamp)
{
	const struct event_row *row = &event_table[event->kind];
	const char *list = row->fields, *value;
	struct json_object *record, *json;
	const struct schema_field *field;
	char number[24];

	if (row->name == NULL)
		return NULL;
	record = json_object_new_object();
	json = json_object_new_object();
	json_set_string(record, "timestamp", timestamp);
	json_set_string(record, "level", log_level_name(row->level));
	json_set_string(json, "type", row->name);
	while ((field = next_field(&list)) != NULL) {
		value = value_of(event, field, number);
		if (value != NULL)
			json_set_string(json, field->name, value);
	}
	json_set(record, "event", json);
	return record;
}
