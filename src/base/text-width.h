/* SPDX-License-Identifier: ISC */

/* How many terminal columns a string takes. */
#ifndef TEXT_WIDTH_H
#define TEXT_WIDTH_H

#include <stddef.h>

/* The width in columns: 0 for combining marks, 2 for wide characters and emoji,
 * independent of the locale. Control characters count 0, invalid bytes 1. */
int text_width(const char *s, size_t len);

/* The longest prefix in bytes that fits into max columns, cut between
 * characters. */
size_t text_width_cut(const char *s, size_t len, int max);

#endif
