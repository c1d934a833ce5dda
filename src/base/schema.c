/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "schema-private.h"

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

void *
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

void
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
