/* SPDX-License-Identifier: ISC */

/* JSON values against their schema, and the schema as JSON Schema. */

#include "base.h"

#include <math.h>

#include "schema-private.h"

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

/* How much of an invalid string is shown. */
#define SHOWN 40

/* The current position, as a chain of stack frames: the path is only built when
 * there is an error. */
struct place {
	const struct place *up;
	const char *key; /* NULL: an element; at the top level, the path so
			  * far */
	size_t index;
};

static const struct {
	const char *words; /* with an article, for people */
	const char *schema; /* JSON Schema's name, NULL = anything */
	const char *least, *most; /* its names for the bounds */
} types[] = {
	[SCHEMA_ANY] = { "anything", NULL, NULL, NULL },
	[SCHEMA_STRING] = { "a string", "string", "minLength", "maxLength" },
	[SCHEMA_INT] = { "an integer", "integer", "minimum", "maximum" },
	[SCHEMA_NUMBER] = { "a number", "number", "minimum", "maximum" },
	[SCHEMA_BOOL] = { "a boolean", "boolean", NULL, NULL },
	[SCHEMA_OBJECT] = { "an object", "object", NULL, NULL },
	[SCHEMA_ARRAY] = { "an array", "array", "minItems", "maxItems" },
	[SCHEMA_MAP] = { "an object", "object", "minProperties",
	    "maxProperties" },
	[SCHEMA_ONE] = { "one of several", NULL, NULL, NULL },
};

/* --- members --------------------------------------------------------- */

/* What members are in JSON. */
static const enum schema_type forms[SCHEMA_TYPE_COUNT] = {
	[SCHEMA_STRING] = SCHEMA_STRING,
	[SCHEMA_INT] = SCHEMA_INT,
	[SCHEMA_NUMBER] = SCHEMA_NUMBER,
	[SCHEMA_BOOL] = SCHEMA_BOOL,
	[SCHEMA_OBJECT] = SCHEMA_OBJECT,
	[SCHEMA_ARRAY] = SCHEMA_ARRAY,
	[SCHEMA_MAP] = SCHEMA_MAP,
	[SCHEMA_ONE] = SCHEMA_ONE,
	[SCHEMA_TEXT] = SCHEMA_STRING,
	[SCHEMA_WORD] = SCHEMA_STRING,
	[SCHEMA_INT32] = SCHEMA_INT,
	[SCHEMA_UINT64] = SCHEMA_INT,
	[SCHEMA_TRUTH] = SCHEMA_BOOL,
	[SCHEMA_LIST] = SCHEMA_ARRAY,
	[SCHEMA_STRUCT] = SCHEMA_OBJECT,
	[SCHEMA_POINTER] = SCHEMA_OBJECT,
	[SCHEMA_ROWS] = SCHEMA_ARRAY,
	[SCHEMA_POINTERS] = SCHEMA_ARRAY,
	[SCHEMA_SLOTS] = SCHEMA_ARRAY,
};

/* May what is written of the member be null? */
static bool
is_null(const struct schema_field *field)
{
	switch (field->type) {
	case SCHEMA_STRING:
	case SCHEMA_TEXT:
	case SCHEMA_NUMBER:
	case SCHEMA_POINTER:
	case SCHEMA_TRUTH:
		return true;
	case SCHEMA_INT:
	case SCHEMA_INT32:
	case SCHEMA_UINT64:
		return (field->flags &
			   (SCHEMA_ZERO_IS_NULL | SCHEMA_UNKNOWN |
			       SCHEMA_UNIX)) != 0;
	case SCHEMA_OBJECT:
	case SCHEMA_ARRAY:
	case SCHEMA_MAP:
		return field->own == NULL;
	default:
		return false;
	}
}

/* The field as JSON alone: as its member is written. */
static struct schema_field
form_of(const struct schema_field *field)
{
	struct schema_field form = *field;
	bool number;

	form.type = forms[field->type];
	if (!field->is_member)
		return form;
	number = form.type == SCHEMA_INT;
	if ((field->flags & SCHEMA_OMIT_UNSET) != 0)
		form.flags |= SCHEMA_OPTIONAL;
	else if ((field->flags & SCHEMA_REQUIRED) == 0 && is_null(field))
		form.flags |= SCHEMA_NULLABLE;
	if (number && field->max == 0)
		form.max = INT64_MAX;
	if (form.type == SCHEMA_STRING && field->size > 0)
		form.max = (int64_t)field->size;
	return form;
}

/* An element of an array; false = it may be anything. */
static bool
element_of(const struct schema_field *field, enum schema_type member,
    struct schema_field *ret_element)
{
	*ret_element = (struct schema_field){ .type = SCHEMA_STRING,
		.max = (int64_t)field->size };
	if (member == SCHEMA_LIST)
		return true;
	if (field->of == NULL)
		return false;
	if (member == SCHEMA_ARRAY)
		*ret_element = field->of->fields[0];
	else
		*ret_element = (struct schema_field){ .type = SCHEMA_OBJECT,
			.of = field->of };
	return true;
}

/* --- check ----------------------------------------------------------- */

static void
add_path(struct buf *out, const struct place *at)
{
	cleanup_buf struct buf up = BUF_INIT;

	if (at->up == NULL) {
		buf_adds(out, at->key);
		return;
	}
	add_path(&up, at->up);
	if (at->key == NULL)
		json_path_index(out, up.data, at->index);
	else
		json_path_key(out, up.data, at->key);
}

static int fail(struct err *err, const struct place *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int
fail(struct err *err, const struct place *at, const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	va_list ap;

	if (err == NULL)
		return -EINVAL;
	add_path(&text, at);
	if (text.len > 0)
		buf_adds(&text, ": ");
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	return err_set(err, -EINVAL, "%s", text.data);
}

static bool
has_type(enum schema_type type, struct json_object *value)
{
	switch (type) {
	case SCHEMA_STRING:
		return json_object_is_type(value, json_type_string);
	case SCHEMA_INT:
		return json_object_is_type(value, json_type_int);
	case SCHEMA_NUMBER:
		return json_object_is_type(value, json_type_int) ||
		    json_object_is_type(value, json_type_double);
	case SCHEMA_BOOL:
		return json_object_is_type(value, json_type_boolean);
	case SCHEMA_OBJECT:
	case SCHEMA_MAP:
		return json_object_is_type(value, json_type_object);
	case SCHEMA_ARRAY:
		return json_object_is_type(value, json_type_array);
	default:
		return true;
	}
}

static int
check_type(const struct schema_field *field, struct json_object *value,
    const struct place *at, struct err *err)
{
	cleanup_buf struct buf found = BUF_INIT;

	if (has_type(field->type, value))
		return 0;
	/* "expected an integer, found a number" would be confusing. */
	if (field->type == SCHEMA_INT &&
	    json_object_is_type(value, json_type_double))
		json_print(value, false, &found);
	else
		buf_adds(&found, json_type_words(value));
	return fail(err, at, "expected %s%s, found %s",
	    types[field->type].words,
	    (field->flags & SCHEMA_OR_STRING) != 0 ? " or a string" : "",
	    found.data);
}

/* A length in `unit`s: bytes, elements or members. */
static int
check_length(const struct schema_field *field, size_t length, const char *unit,
    const struct place *at, struct err *err)
{
	if (field->min > 0 && length < (uint64_t)field->min)
		return fail(err, at,
		    "expected %" PRId64 " or more %s, found %zu", field->min,
		    unit, length);
	if (field->max > 0 && length > (uint64_t)field->max)
		return fail(err, at,
		    "expected %" PRId64 " or fewer %s, found %zu", field->max,
		    unit, length);
	return 0;
}

static int
check_string(const struct schema_field *field, struct json_object *value,
    const struct place *at, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *s = json_object_get_string(value);
	size_t len = (size_t)json_object_get_string_len(value);
	int r;

	r = check_length(field, len, "bytes", at, err);
	if (r < 0 || field->choices == NULL ||
	    (field->flags & SCHEMA_ADVICE) != 0)
		return r;
	for (size_t i = 0; field->choices[i] != NULL; i++) {
		if (strcmp(s, field->choices[i]) == 0)
			return 0;
		buf_addf(&text, "%s%s", i > 0 ? ", " : "", field->choices[i]);
	}
	buf_adds(&text, "; found ");
	text_add_json(&text, s, text_cut(s, len, SHOWN));
	if (len > SHOWN)
		buf_adds(&text, "...");
	return fail(err, at, "expected one of %s", text.data);
}

static int
check_number(const struct schema_field *field, struct json_object *value,
    const struct place *at, struct err *err)
{
	int64_t number = json_object_get_int64(value);

	if (field->type == SCHEMA_NUMBER) {
		if (!isfinite(json_object_get_double(value)))
			return fail(err, at, "number out of range");
		return 0;
	}
	/* No bounds given: anything that fits into int64_t. */
	if (json_object_get_uint64(value) > INT64_MAX)
		return fail(err, at, "integer out of range");
	if (field->min == 0 && field->max == 0)
		return 0;
	if (number < field->min || number > field->max)
		return fail(err, at,
		    "expected an integer from %" PRId64 " to %" PRId64
		    ", found %" PRId64,
		    field->min, field->max, number);
	return 0;
}

static int check_value(const struct schema_field *field,
    struct json_object *value, const struct place *at, struct err *err);

static int
check_members(const struct schema *schema, struct json_object *value,
    const struct place *at, struct err *err)
{
	struct place below = { .up = at };
	struct json_object *member;
	int r = 0;

	SCHEMA_FOREACH (f, schema) {
		below.key = f->name;
		if ((f->flags & SCHEMA_PRIVATE) != 0)
			continue;
		if (schema_is_flat(f))
			r = check_members(f->of, value, at, err);
		else if (json_object_object_get_ex(value, f->name, &member))
			r = check_value(f, member, &below, err);
		else if ((form_of(f).flags & SCHEMA_OPTIONAL) == 0)
			r = fail(err, &below, "missing");
		if (r < 0)
			return r;
	}
	return 0;
}

static int
check_object(const struct schema *schema, struct json_object *value,
    const struct place *at, struct err *err)
{
	struct json_object_iterator it = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);
	struct place below = { .up = at };

	for (; !schema->open && !json_object_iter_equal(&it, &end);
	     json_object_iter_next(&it)) {
		below.key = json_object_iter_peek_name(&it);
		if (schema_find(schema, below.key, false) == NULL) {
			cleanup_strv char **names = NULL;
			const char *near;

			schema_names(schema, false, &names);
			near = text_nearest(below.key, strv_const(names));
			if (near == NULL)
				return fail(err, &below, "unknown member");
			return fail(err, &below,
			    "unknown member, did you mean \"%s\"?", near);
		}
	}
	return check_members(schema, value, at, err);
}

static int
check_map(const struct schema_field *field, struct json_object *value,
    const struct place *at, struct err *err)
{
	struct json_object_iterator it = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);
	struct place below = { .up = at };
	int r;

	r = check_length(field, (size_t)json_object_object_length(value),
	    "members", at, err);
	if (r < 0 || field->of == NULL)
		return r;
	for (; !json_object_iter_equal(&it, &end); json_object_iter_next(&it)) {
		below.key = json_object_iter_peek_name(&it);
		r = check_value(&field->of->fields[0],
		    json_object_iter_peek_value(&it), &below, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
check_array(const struct schema_field *field, enum schema_type member,
    struct json_object *value, const struct place *at, struct err *err)
{
	size_t length = json_object_array_length(value);
	struct place below = { .up = at };
	struct schema_field element;
	int r = check_length(field, length, "elements", at, err);

	if (r < 0 || (field->flags & SCHEMA_ADVICE) != 0 ||
	    !element_of(field, member, &element))
		return r;
	for (; below.index < length; below.index++) {
		r = check_value(&element,
		    json_object_array_get_idx(value, below.index), &below, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
check_value(const struct schema_field *given, struct json_object *value,
    const struct place *at, struct err *err)
{
	struct schema_field field = form_of(given);
	int r;

	if (value == NULL && (field.flags & SCHEMA_NULLABLE) != 0)
		return 0;
	if ((field.flags & SCHEMA_OR_STRING) != 0 &&
	    json_object_is_type(value, json_type_string))
		return 0;
	r = check_type(&field, value, at, err);
	if (r < 0)
		return r;
	switch (field.type) {
	case SCHEMA_STRING:
		return check_string(&field, value, at, err);
	case SCHEMA_INT:
	case SCHEMA_NUMBER:
		return check_number(&field, value, at, err);
	case SCHEMA_OBJECT:
		return field.of == NULL ?
		    0 :
		    check_object(field.of, value, at, err);
	case SCHEMA_ARRAY:
		return check_array(&field, given->type, value, at, err);
	case SCHEMA_MAP:
		return check_map(&field, value, at, err);
	case SCHEMA_ONE: {
		const struct schema *schema = field.of;
		cleanup_buf struct buf names = BUF_INIT;

		SCHEMA_FOREACH (f, schema) {
			if (check_value(f, value, at, NULL) == 0)
				return 0;
			buf_addf(
			    &names, "%s%s", names.len > 0 ? ", " : "", f->name);
		}
		return fail(err, at, "does not match any of: %s", names.data);
	}
	default:
		return 0;
	}
}

int
schema_check(const struct schema_field *field, struct json_object *value,
    const char *at, struct err *err)
{
	struct place top = { .key = at };

	return check_value(field, value, &top, err);
}

/* --- JSON Schema ----------------------------------------------------- */

static struct json_object *
made(struct json_object *value)
{
	if (value == NULL)
		fatalx("out of memory: a JSON schema");
	return value;
}

static void
append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value) < 0)
		fatalx("out of memory: a JSON schema");
}

static void
append_text(struct json_object *array, const char *text)
{
	append(array, made(json_object_new_string(text)));
}

static struct json_object *print_of(const struct schema_field *field);

static void
print_type(const struct schema_field *field, struct json_object *schema)
{
	const char *name = types[field->type].schema;
	bool nullable = (field->flags & SCHEMA_NULLABLE) != 0;
	bool or_string = (field->flags & SCHEMA_OR_STRING) != 0;
	struct json_object *list;

	if (name != NULL && (nullable || or_string)) {
		list = made(json_object_new_array());
		append_text(list, name);
		if (or_string)
			append_text(list, "string");
		if (nullable)
			append_text(list, "null");
		json_set(schema, "type", list);
	} else if (name != NULL)
		json_set_string(schema, "type", name);
	if (field->type != SCHEMA_STRING || field->choices == NULL)
		return;
	list = made(json_object_new_array());
	for (size_t i = 0; field->choices[i] != NULL; i++)
		append_text(list, field->choices[i]);
	if (nullable)
		append(list, NULL);
	json_set(schema, "enum", list);
}

static void
print_bounds(const struct schema_field *field, struct json_object *schema)
{
	const char *least = types[field->type].least;
	const char *most = types[field->type].most;
	bool number = field->type == SCHEMA_INT || field->type == SCHEMA_NUMBER;

	if (least == NULL || (field->min == 0 && field->max == 0))
		return;
	if (number || field->min > 0)
		json_set_int(schema, least, field->min);
	if ((number || field->max > 0) && field->max < INT64_MAX)
		json_set_int(schema, most, field->max);
}

static void
print_fields(const struct schema *of, struct json_object *properties,
    struct json_object *required)
{
	SCHEMA_FOREACH (f, of) {
		unsigned flags = form_of(f).flags;

		if ((flags & SCHEMA_PRIVATE) != 0)
			continue;
		if (schema_is_flat(f)) {
			print_fields(f->of, properties, required);
			continue;
		}
		json_set(properties, f->name, print_of(f));
		if ((flags & SCHEMA_OPTIONAL) == 0 ||
		    (flags & SCHEMA_WANTED) != 0)
			append_text(required, f->name);
	}
}

/* Fill an object that may already hold "$schema". */
static void
print_field(const struct schema_field *given, struct json_object *schema)
{
	struct schema_field field = form_of(given), element;
	const struct schema *of = field.of;

	if (field.help != NULL)
		json_set_string(schema, "description", field.help);
	else if (of != NULL && of->help != NULL)
		json_set_string(schema, "description", of->help);
	print_type(&field, schema);
	print_bounds(&field, schema);
	if (field.type == SCHEMA_ARRAY) {
		if (element_of(&field, given->type, &element))
			json_set(schema, "items", print_of(&element));
		return;
	}
	if (of == NULL)
		return;
	if (field.type == SCHEMA_OBJECT) {
		struct json_object *properties = made(json_object_new_object());
		struct json_object *required = made(json_object_new_array());

		print_fields(of, properties, required);
		json_set(schema, "properties", properties);
		if (json_object_array_length(required) > 0)
			json_set(schema, "required", required);
		else
			json_object_put(required);
		json_set_bool(schema, "additionalProperties", of->open);
	} else if (field.type == SCHEMA_MAP) {
		json_set(
		    schema, "additionalProperties", print_of(&of->fields[0]));
	} else if (field.type == SCHEMA_ONE) {
		struct json_object *list = made(json_object_new_array());

		SCHEMA_FOREACH (f, of) {
			struct json_object *choice = print_of(f);

			json_set_string(choice, "title", f->name);
			append(list, choice);
		}
		json_set(schema, "anyOf", list);
	}
}

static struct json_object *
print_of(const struct schema_field *field)
{
	struct json_object *schema = made(json_object_new_object());

	print_field(field, schema);
	return schema;
}

struct json_object *
schema_print(const struct schema_field *field)
{
	struct json_object *schema = made(json_object_new_object());

	json_set_string(schema, "$schema", DIALECT);
	print_field(field, schema);
	return schema;
}

/* --- names ----------------------------------------------------------- */

const struct schema_field *
schema_find(const struct schema *schema, const char *name, bool private)
{
	const struct schema_field *found;

	SCHEMA_FOREACH (f, schema) {
		if (!private && (f->flags & SCHEMA_PRIVATE) != 0)
			continue;
		found = schema_is_flat(f) ? schema_find(f->of, name, private) :
		    strcmp(f->name, name) == 0 ? f :
						 NULL;
		if (found != NULL)
			return found;
	}
	return NULL;
}

void
schema_names(const struct schema *schema, bool private, char ***names)
{
	SCHEMA_FOREACH (f, schema) {
		if (!private && (f->flags & SCHEMA_PRIVATE) != 0)
			continue;
		if (schema_is_flat(f))
			schema_names(f->of, private, names);
		else
			strv_add(names, f->name);
	}
}
