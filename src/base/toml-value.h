/* SPDX-License-Identifier: ISC */

/*
 * Inside of the TOML reader, for toml*.c only: the text under the cursor, the
 * strings and scalars in it, and how each value of the tree came to be.
 */
#ifndef TOML_VALUE_H
#define TOML_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "toml.h"

struct buf;

/* The text is checked before it is read (toml_reader_check): all of it is
 * valid UTF-8, the only control characters are tab, LF and the CR of CRLF. */
struct toml_reader {
	const char *text; /* the caller's */
	size_t len, at;
	unsigned line; /* of text[at], from 1 */
	struct err *err; /* may be NULL */
};

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
enum toml_origin toml_origin_of(struct json_object *value);

int toml_reader_check(struct toml_reader *reader);

/* -EINVAL with "line N: ..."; the second says what is there instead. */
int toml_fail(struct toml_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int toml_expected(struct toml_reader *reader, const char *what);

/* The byte at the cursor, '\0' at the end (no other NUL passes the check). */
char toml_peek(const struct toml_reader *reader);
bool toml_at(const struct toml_reader *reader, const char *s);
bool toml_at_newline(const struct toml_reader *reader);

void toml_skip_blanks(struct toml_reader *reader);
void toml_skip_comment(struct toml_reader *reader);
void toml_skip_newline(struct toml_reader *reader);
/* All of the three, as often as they come. */
void toml_skip_space(struct toml_reader *reader);

/* Read the string at the cursor, which stands on its first quote, and append
 * what it says. A key may not span lines. */
int toml_read_string(struct toml_reader *reader, bool is_key, struct buf *out);

/* Read a number, boolean, date or time. The caller owns *ret_value. */
int toml_read_scalar(struct toml_reader *reader, struct json_object **ret_value,
    enum toml_type *ret_type);

/* json-c's answer, or the end: NULL can only mean exhausted memory. */
struct json_object *toml_must(struct json_object *value);

#endif
