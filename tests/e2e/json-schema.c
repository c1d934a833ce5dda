/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "json-schema.h"

struct check {
	struct json_object *schema;
	struct json_object *value;
	const char *at;
	const char *keyword;
	struct buf *why;
};

static bool
fail(const struct check *c)
{
	buf_addf(c->why, "%s: does not match \"%s\"",
	    c->at[0] != '\0' ? c->at : "(top)", c->keyword);
	return false;
}

static bool
is_type(struct json_object *value, const char *name)
{
	static const struct {
		const char *name;
		enum json_type type;
	} types[] = {
		{ "null", json_type_null },
		{ "boolean", json_type_boolean },
		{ "integer", json_type_int },
		{ "number", json_type_double },
		{ "number", json_type_int },
		{ "string", json_type_string },
		{ "array", json_type_array },
		{ "object", json_type_object },
	};

	for (size_t i = 0; i < nitems(types); i++)
		if (strcmp(types[i].name, name) == 0 &&
		    json_object_get_type(value) == types[i].type)
			return true;
	return false;
}

static bool
check_type(const struct check *c, struct json_object *rule)
{
	if (json_object_is_type(rule, json_type_string))
		return is_type(c->value, json_object_get_string(rule));
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (is_type(c->value,
			json_object_get_string(
			    json_object_array_get_idx(rule, i))))
			return true;
	return false;
}

static bool
check_enum(const struct check *c, struct json_object *rule)
{
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (json_object_equal(
			c->value, json_object_array_get_idx(rule, i)))
			return true;
	return false;
}

/* Keywords for another type do not apply. */
static bool
check_properties(const struct check *c, struct json_object *rule)
{
	struct json_object *member;
	struct json_object_iter it;

	if (!json_object_is_type(c->value, json_type_object))
		return true;
	json_object_object_foreachC(rule, it)
	{
		cleanup_buf struct buf at = BUF_INIT;

		if (!json_object_object_get_ex(c->value, it.key, &member))
			continue;
		json_path_key(&at, c->at, it.key);
		if (!schema_matches(it.val, member, at.data, c->why))
			return false;
	}
	return true;
}

static bool
check_additional(const struct check *c, struct json_object *rule)
{
	struct json_object *known =
	    json_object_object_get(c->schema, "properties");
	struct json_object_iter it;

	if (!json_object_is_type(c->value, json_type_object))
		return true;
	json_object_object_foreachC(c->value, it)
	{
		cleanup_buf struct buf at = BUF_INIT;

		if (known != NULL &&
		    json_object_object_get_ex(known, it.key, NULL))
			continue;
		json_path_key(&at, c->at, it.key);
		if (json_object_is_type(rule, json_type_boolean)) {
			if (!json_object_get_boolean(rule))
				return false;
		} else if (!schema_matches(rule, it.val, at.data, c->why)) {
			return false;
		}
	}
	return true;
}

static bool
check_required(const struct check *c, struct json_object *rule)
{
	if (!json_object_is_type(c->value, json_type_object))
		return true;
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (!json_object_object_get_ex(c->value,
			json_object_get_string(
			    json_object_array_get_idx(rule, i)),
			NULL))
			return false;
	return true;
}

static bool
check_items(const struct check *c, struct json_object *rule)
{
	if (!json_object_is_type(c->value, json_type_array))
		return true;
	for (size_t i = 0; i < json_object_array_length(c->value); i++) {
		cleanup_buf struct buf at = BUF_INIT;

		json_path_index(&at, c->at, i);
		if (!schema_matches(rule,
			json_object_array_get_idx(c->value, i), at.data,
			c->why))
			return false;
	}
	return true;
}

/* The size that a bound of that kind ("imum", "Length", ...) applies to; false
 * if it does not apply to the value. */
static bool
measure(struct json_object *value, const char *kind, int64_t *ret)
{
	switch (json_object_get_type(value)) {
	case json_type_int:
		*ret = json_object_get_int64(value);
		return strcmp(kind, "imum") == 0;
	case json_type_string:
		*ret = json_object_get_string_len(value);
		return strcmp(kind, "Length") == 0;
	case json_type_array:
		*ret = (int64_t)json_object_array_length(value);
		return strcmp(kind, "Items") == 0;
	case json_type_object:
		*ret = json_object_object_length(value);
		return strcmp(kind, "Properties") == 0;
	default:
		return false;
	}
}

static bool
check_bound(const struct check *c, struct json_object *rule)
{
	int64_t bound = json_object_get_int64(rule), found;

	if (!measure(c->value, c->keyword + strlen("min"), &found))
		return true;
	return c->keyword[1] == 'i' ? found >= bound : found <= bound;
}

static bool
check_any_of(const struct check *c, struct json_object *rule)
{
	for (size_t i = 0; i < json_object_array_length(rule); i++) {
		cleanup_buf struct buf why = BUF_INIT;

		if (schema_matches(json_object_array_get_idx(rule, i), c->value,
			c->at, &why))
			return true;
	}
	return false;
}

static bool
check_nothing(const struct check *c, struct json_object *rule)
{
	(void)c;
	(void)rule;
	return true;
}

static const struct {
	const char *name;
	bool (*check)(const struct check *c, struct json_object *rule);
} keywords[] = {
	{ "$schema", check_nothing },
	{ "description", check_nothing },
	{ "title", check_nothing },
	{ "anyOf", check_any_of },
	{ "type", check_type },
	{ "enum", check_enum },
	{ "properties", check_properties },
	{ "additionalProperties", check_additional },
	{ "required", check_required },
	{ "items", check_items },
	{ "minimum", check_bound },
	{ "maximum", check_bound },
	{ "minLength", check_bound },
	{ "maxLength", check_bound },
	{ "minItems", check_bound },
	{ "maxItems", check_bound },
	{ "minProperties", check_bound },
	{ "maxProperties", check_bound },
};

bool
schema_matches(struct json_object *schema, struct json_object *value,
    const char *at, struct buf *why)
{
	struct check c = { schema, value, at, NULL, why };

	json_object_object_foreach(schema, name, rule)
	{
		size_t i = 0;

		c.keyword = name;
		while (
		    i < nitems(keywords) && strcmp(keywords[i].name, name) != 0)
			i++;
		if (i == nitems(keywords))
			return fail(&c);
		if (!keywords[i].check(&c, rule))
			return why->len > 0 ? false : fail(&c);
	}
	return true;
}
