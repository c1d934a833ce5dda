/* SPDX-License-Identifier: ISC */

/* Short forms for what many files do with JSON: a loop over an array, and the
 * schema of an object. */
#ifndef JSON_SHORT_H
#define JSON_SHORT_H

#include "json.h"
#include "schema.h"

/* The first value; they stand one after the other, until one is added. */
static inline struct json_object **
json_items(struct json_object *array)
{
	static struct json_object *none[1];

	return json_length(array) > 0 ?
	    (struct json_object **)json_object_get_array(array)->array :
	    none;
}

/* For each value, from the first on; not at all for what is no array. The loop
 * must not add to the array nor remove from it. */
/* A name that is declared. NOLINTBEGIN(bugprone-macro-parentheses) */
#define JSON_EACH(value, array)                                         \
	for (struct json_object *value = NULL,                          \
				**value##_at = json_items(array),       \
				**value##_end =                         \
				    value##_at + json_length(array);    \
	     value##_at < value##_end && ((value = *value##_at), true); \
	     value##_at++)
/* NOLINTEND(bugprone-macro-parentheses) */

/* A member of an object, and the place of the next one. */
struct json_at {
	const char *key;
	struct json_object *val;
	const struct lh_entry *next;
};

static inline struct json_at
json_first(struct json_object *object)
{
	return (struct json_at){ .next = json_object_is_type(
					     object, json_type_object) ?
		    json_object_get_object(object)->head :
		    NULL };
}

static inline bool
json_next(struct json_at *at)
{
	if (at->next == NULL)
		return false;
	at->key = lh_entry_k(at->next);
	at->val = (struct json_object *)(uintptr_t)lh_entry_v(at->next);
	at->next = at->next->next;
	return true;
}

/* For each member of an object: it.key, it.val; not at all for what is none.
 * The loop may remove this member, and must not add one. */
/* A name that is declared. NOLINTBEGIN(bugprone-macro-parentheses) */
#define JSON_MEMBERS(it, object) \
	for (struct json_at it = json_first(object); json_next(&it);)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Add the values of the other array, which has them, too. */
static inline void
json_add_all(struct json_object *array, struct json_object *other)
{
	JSON_EACH (value, other)
		json_object_array_add(array, json_object_get(value));
}

/* What the values of a map or of an array are: STRING, INT. */
#define SCHEMA_VALUES(kind)      \
	(&(const struct schema){ \
	    .fields = &(const struct schema_field){ .type = SCHEMA_##kind } })

/* The schema of JSON alone, of its fields. */
#define SCHEMA_SHAPE(...)                       \
	{                                       \
		SCHEMA_FIELDS                   \
		{                               \
			__VA_ARGS__, SCHEMA_END \
		}                               \
	}

#endif
