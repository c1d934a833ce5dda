/* SPDX-License-Identifier: ISC */

/*
 * Structs as JSON objects: one table of fields for reading and writing.
 *
 * Reading changes only members whose fields are present and not null: the
 * caller sets the defaults before, and checks afterwards that the values are
 * consistent. Fields that are not in the table are ignored; record_known()
 * refuses them.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json_object;

enum record_type {
	RECORD_STRING, /* char *, owned */
	RECORD_BOOL, /* bool */
	RECORD_INT, /* int, not negative */
	RECORD_INT64, /* int64_t, not negative */
	RECORD_UINT64, /* uint64_t, up to INT64_MAX */
	RECORD_WORD, /* an enum, by its words */
	RECORD_OBJECT, /* struct json_object *, an object, owned */
	RECORD_LIST, /* char **, as in strv.h, owned; empty is NULL */
};

enum record_flag {
	RECORD_REQUIRED = 1 << 0, /* missing is -ENOENT */
	RECORD_CLAMP = 1 << 1, /* a number out of range is clamped; a time
				* before 1970 becomes "never" */
	RECORD_ZERO_IS_NULL = 1 << 2, /* 0 is written as null */
	RECORD_OMIT_UNSET = 1 << 3, /* omit what is NULL, 0 or false, and a word
				     * outside the list */
};

struct record_field {
	const char *key;
	enum record_type type;
	size_t offset; /* of the member */
	unsigned flags;
	int64_t max; /* of a number, or entries of a list; 0 = no limit but the
		      * type's */
	size_t size; /* bytes of a string, or of an entry of a list; 0 = no
		      * limit */
	const char *const *words; /* of a WORD, NULL terminated */
};

/* A row of the table; its type follows from the member. It may be followed by
 * .flags, .max, .size and .words. */
#define RECORD_FIELD(owner, name, member, ...)                   \
	{                                                        \
		.key = (name),                                   \
		.type = RECORD_TYPE_OF(((owner *)NULL)->member), \
		.offset = offsetof(owner, member), ##__VA_ARGS__ \
	}

#define RECORD_TYPE_OF(member) \
	_Generic((member),                   \
	    char *: RECORD_STRING,           \
	    char **: RECORD_LIST,            \
	    bool: RECORD_BOOL,               \
	    int: RECORD_INT,                 \
	    int64_t: RECORD_INT64,           \
	    uint64_t: RECORD_UINT64,         \
	    struct json_object *: RECORD_OBJECT, \
	    default: RECORD_WORD)

/* Add all members to json, in the order of the table. Objects are shared. */
void record_to_json(const struct record_field *fields, size_t count,
    const void *record, struct json_object *json);

/* `at` is the path of json for error messages ("" at the top level). -EINVAL
 * for a wrong type, an unknown word, or a number out of range; members before
 * it in the table have been set then. */
int record_from_json(const struct record_field *fields, size_t count,
    struct json_object *json, const char *at, void *record, struct err *err);

/* Refuse a member of json that is not in the table, nor in `others` (NULL
 * terminated, may be NULL), which the caller reads by hand. -EINVAL; the
 * message has its path and suggests the nearest key. */
int record_known(const struct record_field *fields, size_t count,
    const char *const *others, struct json_object *json, const char *at,
    struct err *err);

/* Copy every member; what was there is freed. Objects are shared. */
void record_copy(const struct record_field *fields, size_t count,
    const void *record, void *copy);

/* Free the strings, lists and objects of a record and clear them. */
void
record_release(const struct record_field *fields, size_t count, void *record);

#endif
