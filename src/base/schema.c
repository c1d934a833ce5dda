/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "schema-private.h"
#include "schema.h"

/* A pointer to one member, by the type of its field. */
union schema_member {
	void *at;
	char **string;
	const char **text;
	bool *boolean;
	int *number;
	int64_t *number64;
	double *real;
	struct json_object **object;
	char ***list;
	void **pointer;
	void ***pointers;
};

static union schema_member
schema_member_of(const struct schema_field *field, const void *record)
{
	return (union schema_member){ .at = (char *)(uintptr_t)record +
		    field->offset };
}

static size_t *
schema_count_of(const struct schema_field *field, const void *record)
{
	return (void *)((char *)(uintptr_t)record + field->count);
}

/* The i-th struct of a list. */
static void *
schema_entry_of(
    const struct schema_field *field, union schema_member m, size_t i)
{
	if (field->type == SCHEMA_POINTERS)
		return (*m.pointers)[i];
	return (char *)(field->type == SCHEMA_ROWS ? *m.pointer : m.at) +
	    i * field->of->size;
}

static void
schema_release_field(const struct schema_field *field, void *record);

/* NULL for a value behind the last word. */
static const char *
word_of(const struct schema_field *field, const void *member)
{
	unsigned word;

	memcpy(&word, member, sizeof word);
	for (unsigned i = 0; i < word; i++)
		if (field->words[i] == NULL)
			return NULL;
	return field->words[word];
}

static int64_t
number_of(const struct schema_field *field, union schema_member m)
{
	return field->type == SCHEMA_INT32 ? *m.number : *m.number64;
}

static bool
is_unset(const struct schema_field *field, const void *record)
{
	union schema_member m = schema_member_of(field, record);

	if (field->own != NULL)
		return false;
	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_TEXT:
		return *m.string == NULL;
	case SCHEMA_WORD:
		return word_of(field, m.at) == NULL;
	case SCHEMA_BOOL:
		return !*m.boolean;
	case SCHEMA_INT:
	case SCHEMA_INT32:
	case SCHEMA_UINT64:
		return (field->flags & SCHEMA_UNKNOWN) != 0 ?
		    number_of(field, m) < 0 :
		    number_of(field, m) == 0;
	case SCHEMA_TRUTH:
		return *m.number < 0;
	case SCHEMA_NUMBER:
		return !isfinite(*m.real);
	case SCHEMA_LIST:
		return strv_count(*m.list) == 0;
	case SCHEMA_STRUCT: {
		SCHEMA_FOREACH (f, field->of)
			if (f->is_member && !is_unset(f, m.at))
				return false;
		return true;
	}
	case SCHEMA_ROWS:
	case SCHEMA_POINTERS:
	case SCHEMA_SLOTS:
		return *schema_count_of(field, record) == 0;
	default:
		return *m.pointer == NULL;
	}
}

void *
schema_new(const struct schema *schema)
{
	void *record = xcalloc(1, schema->size);

	if (schema->blank != NULL)
		memcpy(record, schema->blank, schema->size);
	return record;
}

/* --- to JSON --------------------------------------------------------- */

static void
write_number(
    struct json_object *json, const struct schema_field *field, int64_t value)
{
	if ((value == 0 &&
		(field->flags & (SCHEMA_ZERO_IS_NULL | SCHEMA_UNIX)) != 0) ||
	    (value < 0 && (field->flags & SCHEMA_UNKNOWN) != 0))
		json_set(json, field->name, NULL);
	else
		json_set_int(json, field->name,
		    (field->flags & SCHEMA_UNIX) != 0 ? value / 1000 : value);
}

static void
write_text(
    struct json_object *json, const struct schema_field *field, const char *s)
{
	cleanup_buf struct buf line = BUF_INIT, part = BUF_INIT;
	size_t len;

	if (s == NULL || (field->flags & (SCHEMA_CUT | SCHEMA_LINE)) == 0) {
		json_set_string(json, field->name, s);
		return;
	}
	if ((field->flags & SCHEMA_LINE) != 0) {
		text_add_line(&line, s, strlen(s));
		s = line.data;
	}
	len = strlen(s);
	buf_add(&part, s,
	    field->max > 0 ? text_cut(s, len, (size_t)field->max) : len);
	json_set_string(json, field->name, part.data);
}

static struct json_object *
rows_of(const struct schema_field *field, const void *record)
{
	struct json_object *list = json_object_new_array();
	union schema_member m = schema_member_of(field, record);

	for (size_t i = 0; i < *schema_count_of(field, record); i++)
		json_object_array_add(
		    list, schema_json(field->of, schema_entry_of(field, m, i)));
	return list;
}

static void
write_field(struct json_object *json, const struct schema_field *field,
    const void *record)
{
	union schema_member m = schema_member_of(field, record);

	if (field->own != NULL) {
		const void *member = m.at;
		struct json_object *value = NULL;

		if (field->own->to_json == NULL)
			return;
		value = field->own->to_json(member);
		if (value != NULL || (field->flags & SCHEMA_OMIT_UNSET) == 0)
			json_set(json, field->name, value);
		return;
	}
	if ((field->flags & SCHEMA_OMIT_UNSET) != 0 && is_unset(field, record))
		return;
	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_TEXT:
		write_text(json, field, *m.string);
		break;
	case SCHEMA_BOOL:
		json_set_bool(json, field->name, *m.boolean);
		break;
	case SCHEMA_INT:
	case SCHEMA_INT32:
	case SCHEMA_UINT64:
		write_number(json, field, number_of(field, m));
		break;
	case SCHEMA_TRUTH:
		json_set(json, field->name,
		    *m.number < 0 ? NULL :
				    json_object_new_boolean(*m.number > 0));
		break;
	case SCHEMA_NUMBER:
		json_set(json, field->name,
		    isfinite(*m.real) ? json_object_new_double(*m.real) : NULL);
		break;
	case SCHEMA_WORD:
		json_set_string(json, field->name, word_of(field, m.at));
		break;
	case SCHEMA_LIST:
		json_set(json, field->name, strv_to_json(*m.list));
		break;
	case SCHEMA_STRUCT:
		if (schema_is_flat(field))
			schema_add(field->of, m.at, json);
		else
			json_set(
			    json, field->name, schema_json(field->of, m.at));
		break;
	case SCHEMA_POINTER:
		json_set(json, field->name,
		    *m.pointer != NULL ? schema_json(field->of, *m.pointer) :
					 NULL);
		break;
	case SCHEMA_ROWS:
	case SCHEMA_POINTERS:
	case SCHEMA_SLOTS:
		json_set(json, field->name, rows_of(field, record));
		break;
	default:
		json_set(json, field->name, json_object_get(*m.object));
		break;
	}
}

struct json_object *
schema_json(const struct schema *schema, const void *record)
{
	struct json_object *json = json_object_new_object();

	schema_add(schema, record, json);
	return json;
}

struct json_object *
schema_list(const struct schema *schema, const void *records, size_t count)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(list,
		    schema_json(
			schema, (const char *)records + i * schema->size));
	return list;
}

void
schema_add(
    const struct schema *schema, const void *record, struct json_object *json)
{
	SCHEMA_FOREACH (f, schema)
		if (f->is_member)
			write_field(json, f, record);
}

void
schema_order(const struct schema *schema, struct json_object *json)
{
	struct json_object *value;

	SCHEMA_FOREACH (f, schema) {
		if (schema_is_flat(f)) {
			schema_order(f->of, json);
			continue;
		}
		if (!json_object_object_get_ex(json, f->name, &value))
			continue;
		json_object_get(value);
		json_object_object_del(json, f->name);
		json_set(json, f->name, value);
		if (f->of != NULL && f->type == SCHEMA_STRUCT)
			schema_order(f->of, value);
	}
}

/* --- image ----------------------------------------------------------- */

static void
image_text(const char *text, struct buf *out)
{
	if (text != NULL)
		buf_add(out, text, strlen(text) + 1);
	else
		buf_add(out, "\xff", 1); /* no byte of UTF-8 */
}

static void
image_field(
    const struct schema_field *field, const void *record, struct buf *out)
{
	cleanup_json struct json_object *json = NULL;
	union schema_member m = schema_member_of(field, record);

	switch (field->own == NULL ? field->type : SCHEMA_ANY) {
	case SCHEMA_STRING:
	case SCHEMA_TEXT:
		image_text(*m.string, out);
		break;
	case SCHEMA_BOOL:
		buf_add(out, m.at, sizeof(bool));
		break;
	case SCHEMA_INT32:
	case SCHEMA_TRUTH:
	case SCHEMA_WORD:
		buf_add(out, m.at, sizeof(int));
		break;
	case SCHEMA_INT:
	case SCHEMA_UINT64:
	case SCHEMA_NUMBER:
		buf_add(out, m.at, sizeof(int64_t));
		break;
	case SCHEMA_LIST:
		for (char **s = *m.list; s != NULL && *s != NULL; s++)
			image_text(*s, out);
		image_text(NULL, out);
		break;
	case SCHEMA_STRUCT:
		schema_image(field->of, m.at, out);
		break;
	default:
		json = json_object_new_object();
		write_field(json, field, record);
		json_print(json, false, out);
		break;
	}
}

void
schema_image(const struct schema *schema, const void *record, struct buf *out)
{
	SCHEMA_FOREACH (f, schema)
		if (f->is_member)
			image_field(f, record, out);
}

/* --- copy and release ------------------------------------------------ */

/* Add one that is blank to a list. */
static void *
schema_add_entry(const struct schema_field *field, void *record)
{
	union schema_member m = schema_member_of(field, record);
	size_t *count = schema_count_of(field, record);
	size_t size = field->of->size;
	void *entry;

	if (field->type == SCHEMA_POINTERS) {
		*m.pointers =
		    xreallocarray(*m.pointers, *count + 1, sizeof(void *));
		return (*m.pointers)[(*count)++] = schema_new(field->of);
	}
	if (field->type == SCHEMA_ROWS)
		*m.pointer = xreallocarray(*m.pointer, *count + 1, size);
	entry = schema_entry_of(field, m, (*count)++);
	memset(entry, 0, size);
	if (field->of->blank != NULL)
		memcpy(entry, field->of->blank, size);
	return entry;
}

static void
copy_field(const struct schema_field *field, const void *record, void *copy)
{
	union schema_member from = schema_member_of(field, record);
	union schema_member to = schema_member_of(field, copy);

	if (field->own != NULL) {
		if (field->own->copy != NULL)
			field->own->copy(from.at, to.at);
		else
			memcpy(to.at, from.at, field->own->size);
		return;
	}
	switch (field->type) {
	case SCHEMA_STRING:
		xstrset(to.string, *from.string);
		break;
	case SCHEMA_BOOL:
		*to.boolean = *from.boolean;
		break;
	case SCHEMA_INT32:
	case SCHEMA_TRUTH:
	case SCHEMA_WORD:
		memcpy(to.at, from.at, sizeof(int));
		break;
	case SCHEMA_INT:
	case SCHEMA_UINT64:
		*to.number64 = *from.number64;
		break;
	case SCHEMA_NUMBER:
		*to.real = *from.real;
		break;
	case SCHEMA_TEXT:
		*to.pointer = *from.pointer;
		break;
	case SCHEMA_LIST:
		strv_clear(to.list);
		if (strv_count(*from.list) > 0)
			*to.list = strv_copy(strv_const(*from.list));
		break;
	case SCHEMA_STRUCT:
		schema_copy(field->of, from.at, to.at);
		break;
	case SCHEMA_POINTER:
		schema_free(field->of, take_ptr(to.pointer));
		if (*from.pointer != NULL) {
			*to.pointer = schema_new(field->of);
			schema_copy(field->of, *from.pointer, *to.pointer);
		}
		break;
	case SCHEMA_ROWS:
	case SCHEMA_POINTERS:
	case SCHEMA_SLOTS:
		schema_release_field(field, copy);
		for (size_t i = 0; i < *schema_count_of(field, record); i++)
			schema_copy(field->of, schema_entry_of(field, from, i),
			    schema_add_entry(field, copy));
		break;
	default:
		json_object_put(*to.object);
		*to.object = json_object_get(*from.object);
		break;
	}
}

void
schema_copy(const struct schema *schema, const void *record, void *copy)
{
	SCHEMA_FOREACH (f, schema)
		if (f->is_member)
			copy_field(f, record, copy);
}

void *
schema_clone(const struct schema *schema, const void *record)
{
	void *copy = record == NULL ? NULL : schema_new(schema);

	if (record != NULL)
		schema_copy(schema, record, copy);
	return copy;
}

static void
release_rows(const struct schema_field *field, void *record)
{
	union schema_member m = schema_member_of(field, record);
	size_t *count = schema_count_of(field, record);

	for (size_t i = 0; i < *count; i++) {
		schema_release(field->of, schema_entry_of(field, m, i));
		if (field->type == SCHEMA_POINTERS)
			free((*m.pointers)[i]);
	}
	*count = 0;
	if (field->type != SCHEMA_SLOTS)
		free(take_ptr(m.pointer));
}

static void
schema_release_field(const struct schema_field *field, void *record)
{
	union schema_member m = schema_member_of(field, record);

	if (field->own != NULL) {
		if (field->own->release != NULL)
			field->own->release(m.at);
		return;
	}
	switch (field->type) {
	case SCHEMA_STRING:
		free(take_ptr(m.string));
		break;
	case SCHEMA_LIST:
		strv_clear(m.list);
		break;
	case SCHEMA_STRUCT:
		schema_release(field->of, m.at);
		break;
	case SCHEMA_POINTER:
		schema_free(field->of, take_ptr(m.pointer));
		break;
	case SCHEMA_ROWS:
	case SCHEMA_POINTERS:
	case SCHEMA_SLOTS:
		release_rows(field, record);
		break;
	case SCHEMA_ANY:
	case SCHEMA_OBJECT:
	case SCHEMA_ARRAY:
	case SCHEMA_MAP:
	case SCHEMA_ONE:
		json_object_put(take_ptr(m.object));
		break;
	default:
		break;
	}
}

void
schema_release(const struct schema *schema, void *record)
{
	SCHEMA_FOREACH (f, schema)
		if (f->is_member)
			schema_release_field(f, record);
}

void
schema_free(const struct schema *schema, void *record)
{
	if (record == NULL)
		return;
	schema_release(schema, record);
	free(record);
}

/* Records from JSON. */

/* Enum types differ but have the same size, so copy the bytes. */
static void
set_word(void *member, unsigned word)
{
	memcpy(member, &word, sizeof word);
}

static int read_fields(const struct schema *schema, struct json_object *json,
    const char *at, bool strict, void *record, struct err *err);

static int
read_number(struct json_object *json, const char *at,
    const struct schema_field *field, union schema_member m, struct err *err)
{
	bool clamp = (field->flags & SCHEMA_CLAMP) != 0;
	int64_t unit = (field->flags & SCHEMA_UNIX) != 0 ? 1000 : 1;
	int64_t most = field->type == SCHEMA_INT32 ? INT_MAX : INT64_MAX / unit;
	int64_t number;
	int r;

	if (field->max > 0)
		most = field->max;
	r = json_get_int(json, at, field->name, clamp ? INT64_MIN : field->min,
	    clamp ? INT64_MAX : most, &number, err);
	if (r < 0)
		return r;
	number = number < field->min ? field->min :
	    number > most            ? most :
				       number;
	if (field->type == SCHEMA_INT32)
		*m.number = (int)number;
	else
		*m.number64 = number * unit;
	return 0;
}

static int
too_long(struct err *err, const char *path, size_t size)
{
	return err_set(err, -EINVAL, "%s: longer than %zu bytes", path, size);
}

static int
read_string(struct json_object *json, const char *at,
    const struct schema_field *field, char **member, struct err *err)
{
	size_t most = field->size > 0 ? field->size : (size_t)field->max;
	cleanup_buf struct buf path = BUF_INIT;
	const char *string = NULL;
	int r = json_get_string(json, at, field->name, &string, err);

	if (r < 0)
		return r;
	if (most > 0 && strlen(string) > most) {
		json_path_key(&path, at, field->name);
		return too_long(err, path.data, most);
	}
	xstrset(member, string);
	return 0;
}

static int
check_entry(struct json_object *entry, const char *list, size_t index,
    size_t size, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;

	if (json_object_is_type(entry, json_type_string) &&
	    (size == 0 || (size_t)json_object_get_string_len(entry) <= size))
		return 0;
	json_path_index(&path, list, index);
	if (json_object_is_type(entry, json_type_string))
		return too_long(err, path.data, size);
	return err_set(err, -EINVAL, "%s: expected a string, found %s",
	    path.data, json_type_words(entry));
}

/* The array of a member, not longer than it may be; and its path. */
static int
get_array(struct json_object *json, const char *at,
    const struct schema_field *field, struct json_object **ret_array,
    struct buf *path, struct err *err)
{
	size_t count;
	int r = json_get_array(json, at, field->name, ret_array, err);

	if (r < 0)
		return r;
	json_path_key(path, at, field->name);
	count = json_object_array_length(*ret_array);
	if (field->max > 0 && count > (size_t)field->max)
		return err_set(err, -EINVAL,
		    "%s: has %zu entries, at most %lld are allowed", path->data,
		    count, (long long)field->max);
	return 0;
}

static int
read_list(struct json_object *json, const char *at,
    const struct schema_field *field, char ***list, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *array = NULL;
	size_t count;
	int r = get_array(json, at, field, &array, &path, err);

	count = r == 0 ? json_object_array_length(array) : 0;
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
read_rows(struct json_object *json, const char *at,
    const struct schema_field *field, bool strict, void *record,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *array = NULL;
	int r = get_array(json, at, field, &array, &path, err);

	if (r < 0)
		return r;
	schema_release_field(field, record);
	for (size_t i = 0; r == 0 && i < json_object_array_length(array); i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		r = read_fields(field->of, json_object_array_get_idx(array, i),
		    item.data, strict, schema_add_entry(field, record), err);
	}
	return r == -ENOENT ? -EINVAL : r;
}

static int
read_part(struct json_object *json, const char *at,
    const struct schema_field *field, bool strict, union schema_member m,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *object = NULL;
	void *part = m.at;
	int r = json_get_object(json, at, field->name, &object, err);

	if (r < 0)
		return r;
	if (field->type == SCHEMA_POINTER) {
		schema_free(field->of, *m.pointer);
		part = *m.pointer = schema_new(field->of);
	}
	json_path_key(&path, at, field->name);
	r = read_fields(field->of, object, path.data, strict, part, err);
	return r == -ENOENT ? -EINVAL : r;
}

/* Any JSON of the field's own type. */
static int
read_json(struct json_object *json, const char *at,
    const struct schema_field *field, struct json_object **member,
    struct err *err)
{
	struct json_object *value = NULL;
	int r = 0;

	if (field->type == SCHEMA_ARRAY)
		r = json_get_array(json, at, field->name, &value, err);
	else if (field->type == SCHEMA_OBJECT || field->type == SCHEMA_MAP)
		r = json_get_object(json, at, field->name, &value, err);
	else
		value = json_member(json, field->name);
	if (r < 0)
		return r;
	json_object_put(*member);
	*member = json_object_get(value);
	return 0;
}

static int
read_field(struct json_object *json, const char *at,
    const struct schema_field *field, bool strict, void *record,
    struct err *err)
{
	union schema_member m = schema_member_of(field, record);
	unsigned word = 0;
	bool truth = false;
	double real = 0;
	int r;

	if (field->own != NULL) {
		void *member = m.at;
		struct json_object *value = json_member(json, field->name);
		cleanup_buf struct buf path = BUF_INIT;

		if (field->own->from_json == NULL)
			return 0;
		json_path_key(&path, at, field->name);
		if (value == NULL)
			return err_set(err, -ENOENT, "%s: missing", path.data);
		return field->own->from_json(value, path.data, member, err);
	}
	switch (field->type) {
	case SCHEMA_STRING:
		return read_string(json, at, field, m.string, err);
	case SCHEMA_TEXT:
		return json_get_string(json, at, field->name, m.text, err);
	case SCHEMA_LIST:
		return read_list(json, at, field, m.list, err);
	case SCHEMA_BOOL:
		return json_get_bool(json, at, field->name, m.boolean, err);
	case SCHEMA_TRUTH:
		r = json_get_bool(json, at, field->name, &truth, err);
		if (r == 0)
			*m.number = truth;
		return r;
	case SCHEMA_WORD:
		r = word_get(json, at, field->name, field->words, &word, err);
		if (r == 0)
			set_word(m.at, word);
		return r;
	case SCHEMA_INT:
	case SCHEMA_INT32:
	case SCHEMA_UINT64:
		return read_number(json, at, field, m, err);
	case SCHEMA_NUMBER:
		r = json_get_double(json, at, field->name, &real, err);
		if (r == 0)
			*m.real = real;
		return r;
	case SCHEMA_STRUCT:
	case SCHEMA_POINTER:
		return read_part(json, at, field, strict, m, err);
	case SCHEMA_ROWS:
	case SCHEMA_POINTERS:
	case SCHEMA_SLOTS:
		return read_rows(json, at, field, strict, record, err);
	default:
		return read_json(json, at, field, m.object, err);
	}
}

static int
check_object(struct json_object *json, const char *at, struct err *err)
{
	if (json_object_is_type(json, json_type_object))
		return 0;
	return err_set(err, -EINVAL, "%s%sexpected an object, found %s", at,
	    *at == '\0' ? "" : ": ", json_type_words(json));
}

/* Into the record and into the structs that are flat in it. */
static int
read_members(const struct schema *schema, struct json_object *json,
    const char *at, bool strict, void *record, struct err *err)
{
	struct err words = { 0 };
	int r;

	SCHEMA_FOREACH (f, schema) {
		if (!f->is_member)
			continue;
		/* The words of an error take longer than everything else. */
		if (schema_is_flat(f))
			r = read_members(f->of, json, at, strict,
			    schema_member_of(f, record).at, &words);
		else if ((f->flags & SCHEMA_REQUIRED) == 0 &&
		    json_member(json, f->name) == NULL)
			r = 0;
		else
			r = read_field(json, at, f, strict, record, &words);
		if (r < 0)
			return err_set(err, r, "%s", words.msg);
	}
	return 0;
}

static int
read_fields(const struct schema *schema, struct json_object *json,
    const char *at, bool strict, void *record, struct err *err)
{
	int r;

	strict |= schema->strict;
	r = strict && !schema->open ?
	    schema_known(schema, NULL, json, at, err) :
	    check_object(json, at, err);
	if (r == 0)
		r = read_members(schema, json, at, strict, record, err);
	if (r == 0 && schema->check != NULL)
		r = schema->check(record, at, err);
	return r;
}

int
schema_read(const struct schema *schema, struct json_object *json,
    const char *at, void *record, struct err *err)
{
	return read_fields(schema, json, at, false, record, err);
}

void *
schema_make(const struct schema *schema, struct json_object *json,
    const char *at, struct err *err)
{
	void *record = schema_new(schema);

	if (schema_read(schema, json, at, record, err) == 0)
		return record;
	schema_free(schema, record);
	return NULL;
}

/* --- names ----------------------------------------------------------- */

/* The first member that is in neither; NULL = none. */
static const char *
find_unknown(const struct schema *schema, const char *const *others,
    struct json_object *json)
{
	json_object_object_foreach(json, key, value)
	{
		(void)value;
		if (schema_find(schema, key, true) == NULL &&
		    !strv_has(others, key))
			return key;
	}
	return NULL;
}

int
schema_known(const struct schema *schema, const char *const *others,
    struct json_object *json, const char *at, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	cleanup_strv char **names = NULL;
	const char *nearest, *unknown;
	int r = check_object(json, at, err);

	if (r < 0)
		return r;
	unknown = find_unknown(schema, others, json);
	if (unknown == NULL)
		return 0;
	schema_names(schema, true, &names);
	if (others != NULL)
		strv_add_all(&names, others);
	json_path_key(&path, at, unknown);
	nearest = text_nearest(unknown, strv_const(names));
	if (nearest == NULL)
		return err_set(err, -EINVAL, "%s: unknown key", path.data);
	return err_set(err, -EINVAL, "%s: unknown key; did you mean \"%s\"?",
	    path.data, nearest);
}
