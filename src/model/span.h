/* SPDX-License-Identifier: ISC */

/* A part of a text that is not terminated, for readers that look ahead. */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *s;
	size_t len;
};

bool span_is_alnum(char c);
bool span_begins(struct span text, const char *word);
/* Without its first len bytes; there must be as many. */
struct span span_after(struct span text, size_t len);

/* The offset of the word, or of the end. */
size_t span_find(struct span text, const char *word);
/* The length of what the text begins with: */
size_t span_line(struct span text); /* its first line, without the newline */
size_t span_blank(struct span text); /* blanks and tabs */
size_t span_run(struct span text, const char *others); /* letters, digits and
							* others */
size_t span_quote(struct span text); /* a quote with its backslashes, or 0 */

#endif
