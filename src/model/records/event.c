/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "event.h"
#include "moment.h"
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
	    SCHEMA_MAY("host", STRING, "that it happened on, if not here"),
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
		if (text_is(event_table[i].name, name))
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

#define SHA_LEN 7
#define DOTS    3 /* columns of "..." */

static void
add_value(const char *text, bool lines, struct buf *out)
{
	cleanup_buf struct buf line = BUF_INIT;

	if (lines)
		buf_adds(&line, text);
	else
		text_add_line(&line, text, strlen(text));
	text_add_visible(out, line.data, line.len, lines);
}

/* The member that "member:way" names; false if it is missing. */
static bool
add_member(struct json_object *event, const char *spec, size_t len, bool lines,
    struct buf *out)
{
	cleanup_free char *name = xstrndup(spec, len);
	char *way = strchr(name, ':');
	const char *text;
	int64_t number = 0;

	if (way != NULL)
		*way++ = '\0';
	text = json_object_get_string(json_member(event, name));
	if (text == NULL || text[0] == '\0')
		return false;
	if (text_is(way, "sha")) {
		text_add_visible(out, text, strnlen(text, SHA_LEN), false);
	} else if (way == NULL ||
	    !text_parse_int(text, 0, INT64_MAX / 1000, &number)) {
		add_value(text, lines, out); /* numbers may be strings here */
	} else if (strcmp(way, "ms") == 0) {
		text_add_duration(out, number);
	} else {
		moment_add(out, number * 1000);
	}
	return true;
}

/* A part of the text without brackets; false if a member is missing, which is
 * then shown as a question mark. */
static bool
add_stretch(struct json_object *event, const char *words, size_t len,
    bool lines, struct buf *out)
{
	const char *end = words + len;
	bool whole = true;

	while (words < end) {
		const char *close = words;

		if (*words != '{') {
			buf_addc(out, *words++);
			continue;
		}
		close += strcspn(words, "}");
		if (!add_member(event, words + 1, (size_t)(close - words - 1),
			lines, out)) {
			whole = false;
			buf_addc(out, '?');
		}
		words = close + 1;
	}
	return whole;
}

static void
add_members(struct json_object *event, bool lines, struct buf *out)
{
	json_object_object_foreach(event, key, value)
	{
		const char *text = json_object_get_string(value);

		if (strcmp(key, "type") == 0 || text == NULL)
			continue;
		buf_addc(out, ' ');
		add_value(key, false, out);
		buf_addc(out, '=');
		add_value(text, lines, out);
	}
}

/* If the type has no colour of its own, that of the level. */
static const char *
level_colour(const char *level)
{
	if (strcmp(level, "ERROR") == 0)
		return "1;31";
	return strcmp(level, "WARN") == 0 ? "33" : NULL;
}

static void
describe(struct json_object *event, bool lines, struct buf *out)
{
	const char *type = json_string_or(event, "type", "?");
	const struct event_row *row = event_row_named(type);

	if (row != NULL) {
		const char *words = row->words;

		while (*words != '\0') {
			size_t before = out->len;
			size_t len = strcspn(words, *words == '[' ? "]" : "[");

			if (*words != '[') {
				add_stretch(event, words, len, lines, out);
				words += len;
				continue;
			}
			if (!add_stretch(event, words + 1, len - 1, lines, out))
				buf_truncate(out, before);
			words += len + 1;
		}
	} else {
		add_value(type, false, out);
		add_members(event, lines, out);
	}
}

void
event_words_of(struct json_object *event, struct buf *out)
{
	describe(event, false, out);
}

/* Cut to the columns that are left; what is cut is shown as "...". */
static void
shorten(struct buf *words, int columns)
{
	if (text_width(words->data, words->len) <= columns)
		return;
	buf_truncate(words,
	    text_width_cut(
		words->data, words->len, columns > DOTS ? columns - DOTS : 1));
	buf_adds(words, "...");
}

bool
event_words_add(
    struct json_object *record, bool colour, int width, struct buf *out)
{
	const char *stamp = json_string_or(record, "timestamp", "");
	const char *sgr;
	cleanup_buf struct buf words = BUF_INIT;
	const struct event_row *row;
	struct json_object *event = NULL;
	size_t start = out->len;
	int64_t at = 0;

	if (json_get_object(record, "", "event", &event, NULL) < 0)
		return false;
	if (json_string_or(record, "host", NULL) != NULL)
		buf_addf(&words, "%s: ", json_string_or(record, "host", ""));
	describe(event, width == 0, &words);
	row = event_row_named(json_string_or(event, "type", "?"));
	sgr = row != NULL ? row->colour : NULL;
	if (sgr == NULL)
		sgr = level_colour(json_string_or(record, "level", ""));
	if (moment_parse(stamp, &at))
		moment_add(out, at);
	else
		add_value(stamp, false, out);
	if (width == 0) {
		/* Lines after the first one belong to the same event. */
		while (words.len > 0 && words.data[words.len - 1] == '\n')
			buf_truncate(&words, words.len - 1);
		for (size_t i = 0; i < words.len; i++)
			if (words.data[i] == '\n')
				buf_splice(&words, i + 1, 0, "    ", 4);
	} else
		shorten(&words, width - 2 - (int)(out->len - start));
	if (colour && sgr != NULL)
		buf_addf(out, "  \033[%sm%s\033[0m\n", sgr, words.data);
	else
		buf_addf(out, "  %s\n", words.data);
	return true;
}
