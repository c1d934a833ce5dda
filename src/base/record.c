/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "record.h"
#include "strv.h"
#include "text.h"
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
	char ***list;
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

/* NULL for a value behind the last word. */
static const char *
word_of(const struct record_field *field, const void *member)
{
	unsigned word;

	memcpy(&word, member, sizeof word);
	for (unsigned i = 0; i < word; i++)
		if (field->words[i] == NULL)
			return NULL;
	return field->words[word];
}

static bool
is_unset(const struct record_field *field, const void *at)
{
	switch (field->type) {
	case RECORD_STRING:
		return *(const char *const *)at == NULL;
	case RECORD_WORD:
		return word_of(field, at) == NULL;
	case RECORD_BOOL:
		return !*(const bool *)at;
	case RECORD_INT:
		return *(const int *)at == 0;
	case RECORD_INT64:
		return *(const int64_t *)at == 0;
	case RECORD_UINT64:
		return *(const uint64_t *)at == 0;
	case RECORD_OBJECT:
		return *(struct json_object *const *)at == NULL;
	case RECORD_LIST:
		return strv_count(*(char *const *const *)at) == 0;
	}
	return true;
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
	struct json_object *object;

	if ((field->flags & RECORD_OMIT_UNSET) != 0 && is_unset(field, at))
		return;
	switch (field->type) {
	case RECORD_STRING:
		json_set_string(json, field->key, *(const char *const *)at);
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
	case RECORD_LIST:
		json_set(
		    json, field->key, strv_to_json(*(char *const *const *)at));
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
too_long(const char *at, const char *key, size_t size, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;

	json_path_key(&path, at, key);
	return err_set(
	    err, -EINVAL, "%s: longer than %zu bytes", path.data, size);
}

static int
check_entry(struct json_object *entry, const char *list, size_t index,
    size_t size, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (!json_object_is_type(entry, json_type_string)) {
		json_path_index(&path, list, index);
		return err_set(err, -EINVAL, "%s: expected a string, found %s",
		    path.data, json_type_words(entry));
	}
	if (size == 0 || (size_t)json_object_get_string_len(entry) <= size)
		return 0;
	json_path_index(&path, list, index);
	return err_set(
	    err, -EINVAL, "%s: longer than %zu bytes", path.data, size);
}

static int
read_list(struct json_object *json, const char *at,
    const struct record_field *field, char ***list, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *array = NULL;
	size_t count;
	int r;

	r = json_get_array(json, at, field->key, &array, err);
	if (r < 0)
		return r;
	count = json_object_array_length(array);
	json_path_key(&path, at, field->key);
	if (field->max > 0 && count > (size_t)field->max)
		return err_set(err, -EINVAL,
		    "%s: has %zu entries, at most %lld are allowed", path.data,
		    count, (long long)field->max);
	for (size_t i = 0; i < count && r == 0; i++)
		r = check_entry(json_object_array_get_idx(array, i), path.data,
		    i, field->size, err);
	if (r < 0)
		return r;
	strv_free(*list);
	*list = count == 0 ? NULL : strv_from_json(array);
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
		if (r == 0 && field->size > 0 && strlen(string) > field->size)
			return too_long(at, field->key, field->size, err);
		if (r == 0)
			xstrset(m.string, string);
		return r;
	case RECORD_LIST:
		return read_list(json, at, field, m.list, err);
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

static bool
is_missing(struct json_object *json, const char *key)
{
	return json_object_is_type(json, json_type_object) &&
	    json_object_object_get(json, key) == NULL;
}

int
record_from_json(const struct record_field *fields, size_t count,
    struct json_object *json, const char *at, void *record, struct err *err)
{
	struct err words = { 0 };
	int r;

	for (size_t i = 0; i < count; i++) {
		/* The words of an error take longer than everything else. */
		if ((fields[i].flags & RECORD_REQUIRED) == 0 &&
		    is_missing(json, fields[i].key))
			continue;
		r = read_field(json, at, &fields[i],
		    member_of(&fields[i], record), &words);
		if (r < 0)
			return err_set(err, r, "%s", words.msg);
	}
	return 0;
}

static bool
is_known(const struct record_field *fields, size_t count,
    const char *const *others, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].key, key) == 0)
			return true;
	for (; others != NULL && *others != NULL; others++)
		if (strcmp(*others, key) == 0)
			return true;
	return false;
}

static int
unknown(const struct record_field *fields, size_t count,
    const char *const *others, const char *at, const char *key, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	cleanup_strv char **keys = NULL;
	const char *nearest;

	for (size_t i = 0; i < count; i++)
		strv_add(&keys, fields[i].key);
	if (others != NULL)
		strv_add_all(&keys, others);
	json_path_key(&path, at, key);
	nearest = text_nearest(key, strv_const(keys));
	if (nearest == NULL)
		return err_set(err, -EINVAL, "%s: unknown key", path.data);
	return err_set(err, -EINVAL, "%s: unknown key; did you mean \"%s\"?",
	    path.data, nearest);
}

static int
check_keys(const struct record_field *fields, size_t count,
    const char *const *others, struct json_object *json, const char *at,
    struct err *err)
{
	json_object_object_foreach(json, key, value)
	{
		(void)value;
		if (!is_known(fields, count, others, key))
			return unknown(fields, count, others, at, key, err);
	}
	return 0;
}

int
record_known(const struct record_field *fields, size_t count,
    const char *const *others, struct json_object *json, const char *at,
    struct err *err)
{
	if (json_object_is_type(json, json_type_object))
		return check_keys(fields, count, others, json, at, err);
	return err_set(err, -EINVAL, "%s%sexpected an object, found %s", at,
	    *at == '\0' ? "" : ": ", json_type_words(json));
}

static void
copy_field(const struct record_field *field, const void *from, union member to)
{
	switch (field->type) {
	case RECORD_STRING:
		xstrset(to.string, *(const char *const *)from);
		break;
	case RECORD_BOOL:
		*to.boolean = *(const bool *)from;
		break;
	case RECORD_INT:
		*to.number = *(const int *)from;
		break;
	case RECORD_INT64:
		*to.number64 = *(const int64_t *)from;
		break;
	case RECORD_UINT64:
		*to.unsigned64 = *(const uint64_t *)from;
		break;
	case RECORD_WORD:
		memcpy(to.at, from, sizeof(unsigned));
		break;
	case RECORD_OBJECT:
		json_object_put(*to.object);
		*to.object =
		    json_object_get(*(struct json_object *const *)from);
		break;
	case RECORD_LIST:
		strv_clear(to.list);
		if (!is_unset(field, from))
			*to.list =
			    strv_copy(strv_const(*(char *const *const *)from));
		break;
	}
}

void
record_copy(const struct record_field *fields, size_t count, const void *record,
    void *copy)
{
	for (size_t i = 0; i < count; i++)
		copy_field(&fields[i], (const char *)record + fields[i].offset,
		    member_of(&fields[i], copy));
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
		else if (fields[i].type == RECORD_LIST)
			strv_clear(m.list);
	}
}
