/* SPDX-License-Identifier: ISC */

/* Where each value of a TOML tree stood in the text, and what it was there. */
#ifndef TOML_MARK_H
#define TOML_MARK_H

#include <stddef.h>

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

/* The mark of a value of such a tree; of anything else, a mark of TOML_NONE.
 * The root's mark is a table whose tail is where a first-level key goes. */
struct toml_mark toml_mark_of(struct json_object *value);

const char *toml_mark_type_name(enum toml_type type); /* "a string", "a date" */

/* --- for toml*.c only ------------------------------------------------- */

enum toml_origin {
	TOML_ORIGIN_VALUE, /* behind a '=', or inside of such a value */
	TOML_ORIGIN_ROOT,
	TOML_ORIGIN_HEADER, /* [table], or one element of [[array]] */
	TOML_ORIGIN_HEADERS, /* the array that [[array]] headers fill */
	TOML_ORIGIN_IMPLICIT, /* a in [a.b] */
	TOML_ORIGIN_DOTTED, /* a in a.b = 1 */
};

/* Note on a value how it came to be; a copy of the mark lives as long as the
 * value. Replaces what was noted before. */
void toml_mark_set(struct json_object *value, enum toml_origin origin,
    const struct toml_mark *mark);
void toml_mark_tail(struct json_object *table, size_t tail);

/* TOML_ORIGIN_VALUE for what is not of a TOML tree. */
enum toml_origin toml_mark_origin(struct json_object *value);

#endif
