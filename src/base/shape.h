/* SPDX-License-Identifier: ISC */

/*
 * The expected form of a JSON value, as a table: checks a value, with its path
 * in the error, and prints the table as JSON Schema.
 *
 * A shape is a constant and may not contain itself. Only shape_schema()
 * allocates memory for the caller.
 */
#ifndef SHAPE_H
#define SHAPE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json_object;
struct shape;

enum shape_type {
	SHAPE_ANY, /* null too */
	SHAPE_STRING,
	SHAPE_INT, /* 3, not 3.0; must fit into an int64_t */
	SHAPE_NUMBER,
	SHAPE_BOOL,
	SHAPE_OBJECT, /* members listed in of->fields */
	SHAPE_ARRAY, /* every element is described by of->fields[0] */
	SHAPE_MAP, /* any keys, every value is described by of->fields[0] */
	SHAPE_ONE, /* one of of->fields, whose names say when */
	SHAPE_TYPE_COUNT
};

#define SHAPE_OPTIONAL 1u /* may be missing */
#define SHAPE_NULLABLE 2u /* may be null */
#define SHAPE_OR_STRING                              \
	4u /* any string will do too, with the type: \
	    * "type": ["number", "string"] */
#define SHAPE_ADVICE                                         \
	8u /* the choices are printed, but not checked: they \
	    * are what the reader of the schema should write */
#define SHAPE_WANTED                                         \
	16u /* with SHAPE_OPTIONAL: printed as required, but \
	     * whoever takes it says itself that it is missing */

struct shape_field {
	const char
	    *name; /* NULL for elements, and at the end of an object's list */
	enum shape_type type;
	unsigned flags;
	const struct shape
	    *of; /* OBJECT, ARRAY and MAP: NULL = anything inside; ONE */
	int64_t min, max; /* INT: bounds; both 0 = none. NUMBER: the same, but
			   * only printed. STRING, ARRAY, MAP:
			   * minimum and maximum length in bytes or elements;
			   * max 0 = no upper bound */
	const char *const *choices; /* STRING: NULL terminated, NULL = any */
	const char *help;
};

struct shape {
	const struct shape_field *fields; /* object: ends with a NULL name;
					   * array and map: one element */
	bool open; /* object: unknown members are allowed */
	const char *help;
};

/* 0, or -EINVAL with a message such as "workers.auto-1.status: expected a
 * string, found a number". */
int shape_check(const struct shape_field *field, struct json_object *value,
    const char *at, struct err *err);

/* JSON Schema (draft 2020-12) of the field; the caller owns it. Where they
 * differ, shape_check() is authoritative: a schema counts the length of a
 * string in characters, and accepts 3.0 as an integer. */
struct json_object *shape_schema(const struct shape_field *field);

#endif
