/* SPDX-License-Identifier: ISC */

#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "event.h"
#include "json.h"
#include "mem.h"

/* The name of a field in the log and in auto.log. Some differ, because the
 * names in auto.log are older and must not change. */
static const struct field {
	const char *name, *file_name;
	size_t offset;
	bool number;
} fields[] = {
	{ "worker", "worker_name", offsetof(struct event, worker), false },
	{ "task", "task", offsetof(struct event, task), false },
	{ "reason", "reason", offsetof(struct event, reason), false },
	{ "from", "from_state", offsetof(struct event, from), false },
	{ "to", "to_state", offsetof(struct event, to), false },
	{ "session", "session", offsetof(struct event, session), false },
	{ "receipt", "receipt", offsetof(struct event, receipt), false },
	{ "resume", "resume", offsetof(struct event, resume), false },
	{ "status", "status", offsetof(struct event, status), false },
	{ "text", "text", offsetof(struct event, text), false },
	{ "error", "error", offsetof(struct event, error), false },
	{ "class", "class", offsetof(struct event, class), false },
	{ "commit", "commit_sha", offsetof(struct event, commit), false },
	{ "branch", "branch", offsetof(struct event, branch), false },
	{ "title", "task_excerpt", offsetof(struct event, title), false },
	{ "outcome", "outcome", offsetof(struct event, outcome), false },
	{ "result", "result", offsetof(struct event, result), false },
	{ "action", "action", offsetof(struct event, action), false },
	{ "scope", "scope", offsetof(struct event, scope), false },
	{ "ref", "ref", offsetof(struct event, ref), false },
	{ "path", "path", offsetof(struct event, path), false },
	{ "key", "key", offsetof(struct event, key), false },
	{ "instance", "instance_id", offsetof(struct event, instance), false },
	{ "goal", "goal", offsetof(struct event, goal), false },
	{ "node", "node", offsetof(struct event, node), false },
	{ "assignment", "assignment", offsetof(struct event, assignment),
	    false },
	{ "dispatch", "dispatch", offsetof(struct event, dispatch), false },
	{ "actor", "actor", offsetof(struct event, actor), false },
	{ "attempt", "attempt", offsetof(struct event, attempt), true },
	{ "until", "until_unix", offsetof(struct event, until_unix), true },
	{ "exit_code", "exit_code", offsetof(struct event, exit_code), true },
	{ "duration_ms", "duration_ms", offsetof(struct event, duration_ms),
	    true },
	{ "concurrency", "concurrency", offsetof(struct event, concurrency),
	    true },
	{ "count", "count", offsetof(struct event, count), true },
	{ "done", "done", offsetof(struct event, done), true },
	{ "failed", "failed", offsetof(struct event, failed), true },
};

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

static const struct field *
find_field(const char *name, size_t len)
{
	for (size_t i = 0; i < nitems(fields); i++)
		if (strlen(fields[i].name) == len &&
		    memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	return NULL;
}

/* The value as text, in `number` if it is a number; NULL = not given. */
static const char *
value_of(const struct event *event, const struct field *field, char number[24])
{
	const char *at = (const char *)event + field->offset;

	if (!field->number)
		return *(const char *const *)(const void *)at;
	snprintf(
	    number, 24, "%lld", (long long)*(const int64_t *)(const void *)at);
	return number;
}

void
event_text(const struct event *event, struct buf *out)
{
	const char *text = event_table[event->kind].text, *value;
	const struct field *field;
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
is_in_text(const char *text, const struct field *field)
{
	cleanup_free char *mark = xasprintf("{%s}", field->name);

	return strstr(text, mark) != NULL;
}

/* The first field of the list; advances the list. */
static const struct field *
next_field(const char **list)
{
	const struct field *field;
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
	const struct field *field;
	char number[24];

	while ((field = next_field(&list)) != NULL) {
		value = value_of(event, field, number);
		if (value != NULL && !is_in_text(row->text, field))
			fn(field->name, value, arg);
	}
}

struct json_object *
event_record(const struct event *event, const char *timestamp)
{
	const struct event_row *row = &event_table[event->kind];
	const char *list = row->fields, *value;
	struct json_object *record, *json;
	const struct field *field;
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
			json_set_string(json, field->file_name, value);
	}
	json_set(record, "event", json);
	return record;
}
