/* SPDX-License-Identifier: ISC */

/*
 * TOML 1.0, complete and strict, into a json-c tree that remembers where each
 * value stood. Tables are objects (in the order of the text), arrays arrays,
 * dates and times strings with a mark of their own (2024-02-29T07:32:00Z, with
 * T and Z whatever the text had). A line's end inside of a string is \n, also
 * where the text has CRLF. A NUL in a key ("\u0000") is kept as C0 80.
 *
 * The marks are json-c userdata of each value and are freed with it. A copy by
 * json_object_deep_copy() is not possible, as it refuses foreign userdata.
 *
 * Proven by the public toml-test suite and a fuzzer.
 */
#ifndef TOML_H
#define TOML_H

#include <stddef.h>

struct err;
struct json_object;

enum toml_type {
	TOML_NONE, /* no value of ours */
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOL,
	TOML_DATETIME, /* with an offset; stored as a string */
	TOML_DATETIME_LOCAL, /* these three too */
	TOML_DATE_LOCAL,
	TOML_TIME_LOCAL,
	TOML_ARRAY,
	TOML_TABLE,
	TOML_TYPE_COUNT
};

/* Where a value came from. start and end are byte offsets of the value's text
 * (end exclusive); of a [table] they are those of its header line, and tail is
 * where a further key of that very table can be inserted: behind its last
 * key/value line (and that line's comment and newline), before the blank lines
 * and comments that lead to the next header. Tables that have no header of
 * their own (implicit, dotted, inline) have tail 0; implicit and dotted ones
 * have no text either, and start = end is where they were first named. An
 * array of [[tables]] has the start and end of its first header. */
struct toml_mark {
	enum toml_type type;
	unsigned line; /* from 1; of the key, or of the header */
	size_t start, end, tail;
};

/* Parse a whole document. The caller owns *ret_root (json_object_put), an
 * object. -EINVAL with "line 3: ..." in the words; err->code is the same and
 * *ret_line (may be NULL) tells the line. -E2BIG over TOML_SIZE_MAX bytes or
 * TOML_DEPTH_MAX levels. */
#define TOML_SIZE_MAX  (4 * 1024 * 1024)
#define TOML_DEPTH_MAX 64
int toml_parse(const char *bytes, size_t len, struct json_object **ret_root,
    unsigned *ret_line, struct err *err);

/* The mark of a value of such a tree; of anything else, a mark of TOML_NONE.
 * The root's mark is a table whose tail is where a first-level key goes. */
struct toml_mark toml_mark_of(struct json_object *value);

const char *toml_type_name(enum toml_type type); /* "a string", "a date" */

#endif
