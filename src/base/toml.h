/* SPDX-License-Identifier: ISC */

/*
 * TOML 1.0, complete and strict, parsed into a json-c tree that records where
 * each value was. Tables are objects (in the order of the text), arrays are
 * arrays, dates and times are strings with a mark of their own (always written
 * as 2024-02-29T07:32:00Z, with T and Z). A line ending inside a string is \n,
 * even if the text has CRLF. A NUL in a key ("\u0000") is kept as C0 80.
 *
 * The marks are json-c userdata of each value and are freed with it.
 * json_object_deep_copy() does not work on such a tree, as it refuses foreign
 * userdata.
 *
 * Tested with the public toml-test suite and a fuzzer.
 */
#ifndef TOML_H
#define TOML_H

#include <stddef.h>

struct err;
struct json_object;

enum toml_type {
	TOML_NONE, /* not a value from a TOML tree */
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOL,
	TOML_DATETIME, /* with an offset; stored as a string */
	TOML_DATETIME_LOCAL, /* so are these three */
	TOML_DATE_LOCAL,
	TOML_TIME_LOCAL,
	TOML_ARRAY,
	TOML_TABLE,
	TOML_TYPE_COUNT
};

/* The origin of a value. start and end are the byte offsets of its text (end
 * exclusive). For a [table] they are those of its header line, and tail is
 * where another key of that table can be inserted: after its last key/value
 * line (with its comment and newline), before the blank lines and comments that
 * lead to the next header. Tables without a header of their own (implicit,
 * dotted, inline) have tail 0. Implicit and dotted tables have no text either;
 * start = end is where they were first named. An array of [[tables]] has the
 * start and end of its first header. */
struct toml_mark {
	enum toml_type type;
	unsigned line; /* counted from 1; of the key, or of the header */
	size_t start, end, tail;
};

/* The mark of a value from a TOML tree; TOML_NONE for any other. The root's
 * mark is a table whose tail is where a top-level key goes. */
struct toml_mark toml_mark_of(struct json_object *value);
const char *toml_mark_type_name(enum toml_type type); /* "a string", "a date" */

/* --- for toml*.c only ------------------------------------------------- */

enum toml_origin {
	TOML_ORIGIN_VALUE, /* after a '=', or inside such a value */
	TOML_ORIGIN_ROOT,
	TOML_ORIGIN_HEADER, /* [table], or one element of [[array]] */
	TOML_ORIGIN_HEADERS, /* the array that [[array]] headers fill */
	TOML_ORIGIN_IMPLICIT, /* a in [a.b] */
	TOML_ORIGIN_DOTTED, /* a in a.b = 1 */
};

/* TOML_ORIGIN_VALUE for values that are not from a TOML tree. */
enum toml_origin toml_mark_origin(struct json_object *value);

/* Parse a whole document. The caller owns *ret_root (json_object_put), an
 * object. -EINVAL with "line 3: ..." in the message; *ret_line (may be NULL) is
 * set to the line. -E2BIG over TOML_SIZE_MAX bytes or TOML_DEPTH_MAX levels. */
#define TOML_SIZE_MAX  (4 * 1024 * 1024)
#define TOML_DEPTH_MAX 64

int toml_parse(const char *bytes, size_t len, struct json_object **ret_root,
    unsigned *ret_line, struct err *err);

#endif
