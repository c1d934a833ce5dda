/* SPDX-License-Identifier: ISC */

/*
 * Aligned columns for people: knows the terminal's width and characters two
 * columns wide. Columns are two blanks apart. Where the rows are wider than
 * the terminal, the widest flexible columns are cut with an ellipsis; a width
 * of 0 (not a terminal) cuts nothing.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

struct buf;
struct table;

struct table_column {
	const char *title; /* copied; NULL = no heading */
	bool right; /* numbers */
	bool flexible; /* may be cut */
};

/* The caller frees the table; it owns copies of all it was given. */
struct table *table_new(const struct table_column *columns, int count);
void table_free(struct table *table);

/* One row, count strings, copied; NULL = empty. Control characters are shown
 * as in text_add_visible(), blanks at the end of a cell are dropped. */
void table_row(struct table *table, const char *const *cells);

/* Colour of a cell of the newest row: an SGR parameter such as "32" or "1;31".
 * Only printed when table_print() is given colours. NULL takes it away. */
void table_colour(struct table *table, int column, const char *sgr);

/* No blanks at the end of a line. Headings only when a column has a title. */
void table_print(
    const struct table *table, int width, bool colours, struct buf *out);

#endif
