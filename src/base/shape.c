/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "shape.h"
#include "text.h"

#define SHAPE_DIALECT "https://json-schema.org/draft/2020-12/schema"

/* How much of an invalid string is shown. */
#define SHAPE_SHOWN 40

/* The current position, as a chain of stack frames: the path is only built when
 * there is an error. */
struct shape_at {
	const struct shape_at *up;
	const char *key; /* NULL: an element; at the top level, the path so
			  * far */
	size_t index;
};

static const struct {
	const char *words; /* with an article, for people */
	const char *schema; /* JSON Schema's name, NULL = anything */
	const char *least, *most; /* its names for the bounds */
} shape_types[SHAPE_TYPE_COUNT] = {
	[SHAPE_ANY] = { "anything", NULL, NULL, NULL },
	[SHAPE_STRING] = { "a string", "string", "minLength", "maxLength" },
	[SHAPE_INT] = { "an integer", "integer", "minimum", "maximum" },
	[SHAPE_NUMBER] = { "a number", "number", "minimum", "maximum" },
	[SHAPE_BOOL] = { "a boolean", "boolean", NULL, NULL },
	[SHAPE_OBJECT] = { "an object", "object", NULL, NULL },
	[SHAPE_ARRAY] = { "an array", "array", "minItems", "maxItems" },
	[SHAPE_MAP] = { "an object", "object", "minProperties",
	    "maxProperties" },
	[SHAPE_ONE] = { "one of several", NULL, NULL, NULL },
};

static void
shape_add_path(struct buf *out, const struct shape_at *at)
{
	cleanup_buf struct buf up = BUF_INIT;

	if (at->up == NULL) {
		buf_adds(out, at->key);
		return;
	}
	shape_add_path(&up, at->up);
	if (at->key == NULL)
		json_path_index(out, up.data, at->index);
	else
		json_path_key(out, up.data, at->key);
}

static int shape_fail(struct err *err, const struct shape_at *at,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int
shape_fail(struct err *err, const struct shape_at *at, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	va_list ap;

	if (err == NULL)
		return -EINVAL;
	shape_add_path(&text, at);
	if (text.len > 0)
		buf_adds(&text, ": ");
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_set(err, -EINVAL, "%s", text.data);
}

static bool
shape_has_type(enum shape_type type, struct json_object *value)
{
	switch (type) {
	case SHAPE_STRING:
		return json_object_is_type(value, json_type_string);
	case SHAPE_INT:
		return json_object_is_type(value, json_type_int);
	case SHAPE_NUMBER:
		return json_object_is_type(value, json_type_int) ||
		    json_object_is_type(value, json_type_double);
	case SHAPE_BOOL:
		return json_object_is_type(value, json_type_boolean);
	case SHAPE_OBJECT:
	case SHAPE_MAP:
		return json_object_is_type(value, json_type_object);
	case SHAPE_ARRAY:
		return json_object_is_type(value, json_type_array);
	default:
		return true;
	}
}

static int
shape_check_type(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	cleanup_buf struct buf found = BUF_INIT;

	if (shape_has_type(field->type, value))
		return 0;
	/* "expected an integer, found a number" would be confusing. */
	if (field->type == SHAPE_INT &&
	    json_object_is_type(value, json_type_double))
		json_print(value, false, &found);
	else
		buf_adds(&found, json_type_words(value));
	return shape_fail(err, at, "expected %s%s, found %s",
	    shape_types[field->type].words,
	    field->flags & SHAPE_OR_STRING ? " or a string" : "", found.data);
}

/* A length in `unit`s: bytes, elements or members. */
static int
shape_check_length(const struct shape_field *field, size_t length,
    const char *unit, const struct shape_at *at, struct err *err)
{
	if (field->min > 0 && length < (uint64_t)field->min)
		return shape_fail(err, at,
		    "expected %" PRId64 " or more %s, found %zu", field->min,
		    unit, length);
	if (field->max > 0 && length > (uint64_t)field->max)
		return shape_fail(err, at,
		    "expected %" PRId64 " or fewer %s, found %zu", field->max,
		    unit, length);
	return 0;
}

static int
shape_check_string(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *s = json_object_get_string(value);
	size_t len = (size_t)json_object_get_string_len(value);
	int r;

	r = shape_check_length(field, len, "bytes", at, err);
	if (r < 0 || field->choices == NULL || field->flags & SHAPE_ADVICE)
		return r;
	for (size_t i = 0; field->choices[i] != NULL; i++) {
		if (strcmp(s, field->choices[i]) == 0)
			return 0;
		buf_addf(&text, "%s%s", i > 0 ? ", " : "", field->choices[i]);
	}
	buf_adds(&text, "; found ");
	text_add_json(&text, s, text_cut(s, len, SHAPE_SHOWN));
	if (len > SHAPE_SHOWN)
		buf_adds(&text, "...");
	return shape_fail(err, at, "expected one of %s", text.data);
}

static int
shape_check_number(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	int64_t number = json_object_get_int64(value);

	if (field->type == SHAPE_NUMBER) {
		if (!isfinite(json_object_get_double(value)))
			return shape_fail(err, at, "number out of range");
		return 0;
	}
	/* No bounds given: anything that fits into int64_t. */
	if (json_object_get_uint64(value) > INT64_MAX)
		return shape_fail(err, at, "integer out of range");
	if (field->min == 0 && field->max == 0)
		return 0;
	if (number < field->min || number > field->max)
		return shape_fail(err, at,
		    "expected an integer from %" PRId64 " to %" PRId64
		    ", found %" PRId64,
		    field->min, field->max, number);
	return 0;
}

static int shape_check_value(const struct shape_field *field,
    struct json_object *value, const struct shape_at *at, struct err *err);

static const struct shape_field *
shape_find(const struct shape *shape, const char *name)
{
	for (const struct shape_field *f = shape->fields; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static int
shape_unknown(
    const struct shape *shape, const struct shape_at *at, struct err *err)
{
	cleanup_free const char **names = NULL;
	const char *near;
	size_t count = 0;

	while (shape->fields[count].name != NULL)
		count++;
	names = xcalloc(count + 1, sizeof *names);
	for (size_t i = 0; i < count; i++)
		names[i] = shape->fields[i].name;
	near = text_nearest(at->key, names);
	if (near == NULL)
		return shape_fail(err, at, "unknown member");
	return shape_fail(
	    err, at, "unknown member, did you mean \"%s\"?", near);
}

static int
shape_check_object(const struct shape *shape, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	struct json_object_iterator it = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);
	struct shape_at below = { .up = at };
	struct json_object *member;
	int r;

	for (; !shape->open && !json_object_iter_equal(&it, &end);
	     json_object_iter_next(&it)) {
		below.key = json_object_iter_peek_name(&it);
		if (shape_find(shape, below.key) == NULL)
			return shape_unknown(shape, &below, err);
	}
	for (const struct shape_field *f = shape->fields; f->name != NULL;
	     f++) {
		below.key = f->name;
		if (json_object_object_get_ex(value, f->name, &member))
			r = shape_check_value(f, member, &below, err);
		else if (f->flags & SHAPE_OPTIONAL)
			r = 0;
		else
			r = shape_fail(err, &below, "missing");
		if (r < 0)
			return r;
	}
	return 0;
}

static int
shape_check_map(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	struct json_object_iterator it = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);
	struct shape_at below = { .up = at };
	int r;

	r = shape_check_length(field, (size_t)json_object_object_length(value),
	    "members", at, err);
	if (r < 0 || field->of == NULL)
		return r;
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		below.key = json_object_iter_peek_name(&it);
		r = shape_check_value(&field->of->fields[0],
		    json_object_iter_peek_value(&it), &below, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
shape_check_array(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	size_t length = json_object_array_length(value);
	struct shape_at below = { .up = at };
	int r;

	r = shape_check_length(field, length, "elements", at, err);
	if (r < 0 || field->of == NULL)
		return r;
	for (; below.index < length; below.index++) {
		r = shape_check_value(&field->of->fields[0],
		    json_object_array_get_idx(value, below.index), &below, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
shape_check_one(const struct shape *shape, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	cleanup_buf struct buf names = BUF_INIT;

	for (const struct shape_field *f = shape->fields; f->name != NULL;
	     f++) {
		if (shape_check_value(f, value, at, NULL) == 0)
			return 0;
		buf_addf(&names, "%s%s", names.len > 0 ? ", " : "", f->name);
	}
	return shape_fail(err, at, "does not match any of: %s", names.data);
}

static int
shape_check_value(const struct shape_field *field, struct json_object *value,
    const struct shape_at *at, struct err *err)
{
	int r;

	if (value == NULL && (field->flags & SHAPE_NULLABLE))
		return 0;
	if ((field->flags & SHAPE_OR_STRING) &&
	    json_object_is_type(value, json_type_string))
		return 0;
	r = shape_check_type(field, value, at, err);
	if (r < 0)
		return r;
	switch (field->type) {
	case SHAPE_STRING:
		return shape_check_string(field, value, at, err);
	case SHAPE_INT:
	case SHAPE_NUMBER:
		return shape_check_number(field, value, at, err);
	case SHAPE_OBJECT:
		return field->of == NULL ?
		    0 :
		    shape_check_object(field->of, value, at, err);
	case SHAPE_ARRAY:
		return shape_check_array(field, value, at, err);
	case SHAPE_MAP:
		return shape_check_map(field, value, at, err);
	case SHAPE_ONE:
		return shape_check_one(field->of, value, at, err);
	default:
		return 0;
	}
}

int
shape_check(const struct shape_field *field, struct json_object *value,
    const char *at, struct err *err)
{
	struct shape_at top = { .key = at };

	return shape_check_value(field, value, &top, err);
}

static struct json_object *
shape_made(struct json_object *value)
{
	if (value == NULL)
		fatalx("out of memory: a JSON schema");
	return value;
}

static void
shape_append(struct json_object *array, const char *text)
{
	struct json_object *value = NULL;

	if (text != NULL)
		value = shape_made(json_object_new_string(text));
	if (json_object_array_add(array, value) < 0)
		fatalx("out of memory: a JSON schema");
}

static struct json_object *shape_schema_of(const struct shape_field *field);

static void
shape_schema_type(const struct shape_field *field, struct json_object *schema)
{
	const char *name = shape_types[field->type].schema;
	bool nullable = field->flags & SHAPE_NULLABLE;
	bool or_string = field->flags & SHAPE_OR_STRING;
	struct json_object *list;

	if (name != NULL && (nullable || or_string)) {
		list = shape_made(json_object_new_array());
		shape_append(list, name);
		if (or_string)
			shape_append(list, "string");
		if (nullable)
			shape_append(list, "null");
		json_set(schema, "type", list);
	} else if (name != NULL)
		json_set_string(schema, "type", name);
	if (field->type != SHAPE_STRING || field->choices == NULL)
		return;
	list = shape_made(json_object_new_array());
	for (size_t i = 0; field->choices[i] != NULL; i++)
		shape_append(list, field->choices[i]);
	if (nullable)
		shape_append(list, NULL);
	json_set(schema, "enum", list);
}

static void
shape_schema_bounds(const struct shape_field *field, struct json_object *schema)
{
	const char *least = shape_types[field->type].least;
	const char *most = shape_types[field->type].most;
	bool number = field->type == SHAPE_INT || field->type == SHAPE_NUMBER;

	if (least == NULL || (field->min == 0 && field->max == 0))
		return;
	if (number || field->min > 0)
		json_set_int(schema, least, field->min);
	if (number || field->max > 0)
		json_set_int(schema, most, field->max);
}

static void
shape_schema_members(const struct shape *shape, struct json_object *schema)
{
	struct json_object *properties = shape_made(json_object_new_object());
	struct json_object *required = shape_made(json_object_new_array());

	for (const struct shape_field *f = shape->fields; f->name != NULL;
	     f++) {
		json_set(properties, f->name, shape_schema_of(f));
		if (!(f->flags & SHAPE_OPTIONAL) || (f->flags & SHAPE_WANTED))
			shape_append(required, f->name);
	}
	json_set(schema, "properties", properties);
	if (json_object_array_length(required) > 0)
		json_set(schema, "required", required);
	else
		json_object_put(required);
	json_set_bool(schema, "additionalProperties", shape->open);
}

static void
shape_schema_choices(const struct shape *shape, struct json_object *schema)
{
	struct json_object *list = shape_made(json_object_new_array());
	struct json_object *choice;

	for (const struct shape_field *f = shape->fields; f->name != NULL;
	     f++) {
		choice = shape_schema_of(f);
		json_set_string(choice, "title", f->name);
		if (json_object_array_add(list, choice) < 0)
			fatalx("out of memory: a JSON schema");
	}
	json_set(schema, "anyOf", list);
}

/* Fill an object that may already hold "$schema". */
static void
shape_schema_fill(const struct shape_field *field, struct json_object *schema)
{
	const struct shape *of = field->of;

	if (field->help != NULL)
		json_set_string(schema, "description", field->help);
	else if (of != NULL && of->help != NULL)
		json_set_string(schema, "description", of->help);
	shape_schema_type(field, schema);
	shape_schema_bounds(field, schema);
	if (of == NULL)
		return;
	if (field->type == SHAPE_OBJECT)
		shape_schema_members(of, schema);
	else if (field->type == SHAPE_ARRAY)
		json_set(schema, "items", shape_schema_of(&of->fields[0]));
	else if (field->type == SHAPE_MAP)
		json_set(schema, "additionalProperties",
		    shape_schema_of(&of->fields[0]));
	else if (field->type == SHAPE_ONE)
		shape_schema_choices(of, schema);
}

static struct json_object *
shape_schema_of(const struct shape_field *field)
{
	struct json_object *schema = shape_made(json_object_new_object());

	shape_schema_fill(field, schema);
	return schema;
}

struct json_object *
shape_schema(const struct shape_field *field)
{
	struct json_object *schema = shape_made(json_object_new_object());

	json_set_string(schema, "$schema", SHAPE_DIALECT);
	shape_schema_fill(field, schema);
	return schema;
}
