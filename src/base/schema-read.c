/* SPDX-License-Identifier: ISC */

/* Records from JSON. */

#include "base.h"
#include "schema-private.h"
#include "word.h"

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
