/* SPDX-License-Identifier: ISC */

/* What a program said, for a prompt. */
#ifndef EXCERPT_H
#define EXCERPT_H

#include <stddef.h>

struct buf;

#define EXCERPT_MAX ((size_t)8 * 1024) /* bytes */

/* Append the end of the output as a fenced block: at most EXCERPT_MAX bytes of
 * whole lines (of one longer line, its end), with a line before it that says
 * how much is missing. Colours and other control characters are left out. An
 * output that says nothing becomes "It said nothing." Ends with a newline. */
void excerpt_add(const char *output, struct buf *out);

/* Append the text without colours and other control characters; a lone CR, as
 * of a progress bar, ends a line. */
void excerpt_plain(const char *text, struct buf *out);

/* Append the text, which should not end with a newline, as a fenced block that
 * nothing in it can close. */
void excerpt_fence(const char *text, struct buf *out);

#endif
