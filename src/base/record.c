/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "word.h"

/* A pointer to one member, by the type of its field. */
union member {
	void *at;
	char **string;
	bool *boolean;
	int *number;
	int64_t *number64;
	uint64_t *unsigned64;
	struct json_object **object;
};

static union member
member_of(const struct record_field *field, void *record)
{
	return (union member){ .at = (char *)record + field->offset };
}

/* Enum types differ but have the same size, so copy the bytes. */
static void
set_word(void *member, unsigned word)
{
	memcpy(member, &word, sizeof word);
}

static const char *
word_of(const struct record_field *field, const void *member)
{
	unsigned word;

	memcpy(&word, member, sizeof word);
	return field->words[word];
}

static void
write_number(
    struct json_object *json, const struct record_field *field, int64_t value)
{
	if (value == 0 && (field->flags & RECORD_ZERO_IS_NULL) != 0)
		json_set(json, field->key, NULL);
	else
		json_set_int(json, field->key, value);
}

static void
write_field(
    struct json_object *json, const struct record_field *field, const void *at)
{
	const char *string;
	struct json_object *object;

	switch (field->type) {
	case RECORD_STRING:
		string = *(const char *const *)at;
		if (string != NULL || (field->flags & RECORD_OMIT_NULL) == 0)
			json_set_string(json, field->key, string);
		break;
	case RECORD_BOOL:
		json_set_bool(json, field->key, *(const bool *)at);
		break;
	case RECORD_INT:
		write_number(json, field, *(const int *)at);
		break;
	case RECORD_INT64:
		write_number(json, field, *(const int64_t *)at);
		break;
	case RECORD_UINT64:
		write_number(json, field, (int64_t) * (const uint64_t *)at);
		break;
	case RECORD_WORD:
		json_set_string(json, field->key, word_of(field, at));
		break;
	case RECORD_OBJECT:
		object = *(struct json_object *const *)at;
		json_set(json, field->key, json_object_get(object));
		break;
	}
}

void
record_to_json(const struct record_field *fields, size_t count,
    const void *record, struct json_object *json)
{
	for (size_t i = 0; i < count; i++)
		write_field(
		    json, &fields[i], (const char *)record + fields[i].offset);
}

static int
read_number(struct json_object *json, const char *at,
    const struct record_field *field, int64_t *ret, struct err *err)
{
	bool clamp = (field->flags & RECORD_CLAMP) != 0;
	int64_t most = field->type == RECORD_INT ? INT_MAX : INT64_MAX;
	int64_t number;
	int r;

	if (field->max > 0)
		most = field->max;
	r = json_get_int(json, at, field->key, clamp ? INT64_MIN : 0,
	    clamp ? INT64_MAX : most, &number, err);
	if (r < 0)
		return r;
	*ret = number < 0 ? 0 : number > most ? most : number;
	return 0;
}

static int
read_field(struct json_object *json, const char *at,
    const struct record_field *field, union member m, struct err *err)
{
	struct json_object *object = NULL;
	const char *string = NULL;
	int64_t number = 0;
	unsigned word = 0;
	int r;

	switch (field->type) {
	case RECORD_STRING:
		r = json_get_string(json, at, field->key, &string, err);
		if (r == 0)
			xstrset(m.string, string);
		return r;
	case RECORD_BOOL:
		return json_get_bool(json, at, field->key, m.boolean, err);
	case RECORD_WORD:
		r = word_get(json, at, field->key, field->words, &word, err);
		if (r == 0)
			set_word(m.at, word);
		return r;
	case RECORD_OBJECT:
		r = json_get_object(json, at, field->key, &object, err);
		if (r == 0) {
			json_object_put(*m.object);
			*m.object = json_object_get(object);
		}
		return r;
	default:
		break;
	}
	r = read_number(json, at, field, &number, err);
	if (r < 0)
		return r;
	if (field->type == RECORD_INT)
		*m.number = (int)number;
	else if (field->type == RECORD_INT64)
		*m.number64 = number;
	else
		*m.unsigned64 = (uint64_t)number;
	return 0;
}

int
record_from_json(const struct record_field *fields, size_t count,
    struct json_object *json, const char *at, void *record, struct err *err)
{
	struct err words = { 0 };
	int r;

	for (size_t i = 0; i < count; i++) {
		r = read_field(json, at, &fields[i],
		    member_of(&fields[i], record), &words);
		if (r == -ENOENT && (fields[i].flags & RECORD_REQUIRED) == 0)
			continue;
		if (r < 0)
			return err_set(err, r, "%s", words.msg);
	}
	return 0;
}

void
record_release(const struct record_field *fields, size_t count, void *record)
{
	for (size_t i = 0; i < count; i++) {
		union member m = member_of(&fields[i], record);

		if (fields[i].type == RECORD_STRING)
			free(take_ptr(m.string));
		else if (fields[i].type == RECORD_OBJECT)
			json_object_put(take_ptr(m.object));
	}
}
