/* SPDX-License-Identifier: ISC */

/*
 * What is known about a value besides its contents, kept as json-c userdata of
 * the object and freed with it.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "mem.h"
#include "toml-mark.h"

/* json-c stores the text of a parsed JSON number in the same place. A note is
 * recognised by its first bytes, which form a string too. */
#define NOTE_MAGIC "\1toml"

struct note {
	char magic[sizeof(NOTE_MAGIC)];
	enum toml_origin origin;
	struct toml_mark mark;
};

static void
note_free(struct json_object *value, void *userdata)
{
	(void)value;
	free(userdata);
}

static struct note *
note_of(struct json_object *value)
{
	void *userdata = json_object_get_userdata(value);

	if (userdata == NULL || strcmp(userdata, NOTE_MAGIC) != 0)
		return NULL;
	return userdata;
}

/* json_object_set_userdata() leaves the serializer unchanged, and that of a new
 * object ignores userdata. */
void
toml_mark_set(struct json_object *value, enum toml_origin origin,
    const struct toml_mark *mark)
{
	struct note *note = xmalloc(sizeof(*note));

	memcpy(note->magic, NOTE_MAGIC, sizeof(NOTE_MAGIC));
	note->origin = origin;
	note->mark = *mark;
	json_object_set_userdata(value, note, note_free);
}

void
toml_mark_tail(struct json_object *table, size_t tail)
{
	note_of(table)->mark.tail = tail;
}

struct toml_mark
toml_mark_of(struct json_object *value)
{
	static const struct toml_mark none = { .type = TOML_NONE };
	struct note *note = note_of(value);

	return note == NULL ? none : note->mark;
}

enum toml_origin
toml_mark_origin(struct json_object *value)
{
	struct note *note = note_of(value);

	return note == NULL ? TOML_ORIGIN_VALUE : note->origin;
}

const char *
toml_mark_type_name(enum toml_type type)
{
	static const char *const names[TOML_TYPE_COUNT] = {
		[TOML_NONE] = "nothing",
		[TOML_STRING] = "a string",
		[TOML_INTEGER] = "an integer",
		[TOML_FLOAT] = "a float",
		[TOML_BOOL] = "a boolean",
		[TOML_DATETIME] = "a date and time with offset",
		[TOML_DATETIME_LOCAL] = "a date and time",
		[TOML_DATE_LOCAL] = "a date",
		[TOML_TIME_LOCAL] = "a time",
		[TOML_ARRAY] = "an array",
		[TOML_TABLE] = "a table",
	};

	return (unsigned)type < TOML_TYPE_COUNT ? names[type] : "nothing";
}
