/* SPDX-License-Identifier: ISC */

/* Texts of agents: cleaned, cut, and split into lines. Pure. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Without blanks around it and without control characters, valid UTF-8, cut
 * between characters; lines: newlines and tabs stay. The caller frees it. */
char *report_text(const char *text, size_t len, size_t max, bool lines);
/* The word that is equal but for its case; NULL = none of them. */
const char *report_word(const char *const *words, const char *text);

struct report_line {
	const char *text;
	bool fenced; /* in a fenced code block, or one of its fences */
};

struct report_lines {
	char *copy;
	struct report_line *at;
	size_t count;
};

/* The lines of the last max bytes of a text. */
void report_lines_split(
    const char *text, size_t len, size_t max, struct report_lines *ret_lines);
void report_lines_release(struct report_lines *lines);
#define cleanup_report_lines __attribute__((cleanup(report_lines_release)))

/* What follows the mark of a list item ("- ", "2. "); NULL = it is none. */
const char *report_item(const char *line);
bool report_is_blank(const char *line);

#endif
