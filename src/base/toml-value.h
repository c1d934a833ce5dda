/* SPDX-License-Identifier: ISC */

/* TOML numbers, booleans and dates, for toml*.c only. */
#ifndef TOML_VALUE_H
#define TOML_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "toml.h"

struct err;
struct json_object;
struct toml_reader;

/* Read a number, boolean, date or time. The caller owns *ret_value. */
int toml_value_read(struct toml_reader *reader, struct json_object **ret_value,
    enum toml_type *ret_type);

/* Check a value from json-c: NULL can only mean out of memory, which is
 * fatal. */
struct json_object *toml_value_must(struct json_object *value);

/* A cursor over the text of a TOML document, for toml*.c only. */

/* The text is checked before it is read (toml_reader_check): it is valid UTF-8,
 * and the only control characters are tab, LF and the CR of CRLF. */
struct toml_reader {
	const char *text; /* owned by the caller */
	size_t len, at;
	unsigned line; /* of text[at], from 1 */
	struct err *err; /* may be NULL */
};

int toml_reader_check(struct toml_reader *reader);

/* -EINVAL with "line N: ..."; the second one says what was found instead. */
int toml_reader_fail(struct toml_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int toml_reader_expected(struct toml_reader *reader, const char *what);

/* The byte at the cursor, '\0' at the end (the check allows no other NUL). */
char toml_reader_peek(const struct toml_reader *reader);
bool toml_reader_at(const struct toml_reader *reader, const char *s);
bool toml_reader_at_newline(const struct toml_reader *reader);

void toml_reader_skip_blanks(struct toml_reader *reader);
void toml_reader_skip_comment(struct toml_reader *reader);
void toml_reader_skip_newline(struct toml_reader *reader);
/* Skip all three, in any number. */
void toml_reader_skip_space(struct toml_reader *reader);

#endif
