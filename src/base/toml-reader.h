/* SPDX-License-Identifier: ISC */

/* The text of a TOML document under a cursor, for toml*.c only. */
#ifndef TOML_READER_H
#define TOML_READER_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* The text is checked before it is read (toml_reader_check): all of it is
 * valid UTF-8, the only control characters are tab, LF and the CR of CRLF. */
struct toml_reader {
	const char *text; /* the caller's */
	size_t len, at;
	unsigned line; /* of text[at], from 1 */
	struct err *err; /* may be NULL */
};

int toml_reader_check(struct toml_reader *reader);

/* -EINVAL with "line N: ..."; the second says what is there instead. */
int toml_reader_fail(struct toml_reader *reader, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
int toml_reader_expected(struct toml_reader *reader, const char *what);

/* The byte at the cursor, '\0' at the end (no other NUL passes the check). */
char toml_reader_peek(const struct toml_reader *reader);
bool toml_reader_at(const struct toml_reader *reader, const char *s);
bool toml_reader_at_newline(const struct toml_reader *reader);

void toml_reader_skip_blanks(struct toml_reader *reader);
void toml_reader_skip_comment(struct toml_reader *reader);
void toml_reader_skip_newline(struct toml_reader *reader);
/* All of the three, as often as they come. */
void toml_reader_skip_space(struct toml_reader *reader);

#endif
