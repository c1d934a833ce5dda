/* SPDX-License-Identifier: ISC */

/*
 * Aligned columns for people: knows the terminal's width and double-width
 * characters. Columns are two blanks apart. If the rows are wider than the
 * terminal, the widest flexible columns are truncated with an ellipsis; with a
 * width of 0 (not a terminal) nothing is.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

struct buf;
struct table;

struct table_column {
	const char *title; /* copied; NULL = no heading */
	bool right; /* align right, for numbers */
	bool flexible; /* may be truncated */
};

/* The caller frees the table; it copies everything it is given. */
struct table *table_new(const struct table_column *columns, int count);
void table_free(struct table *table);

/* Add a row of count strings, copied; NULL = empty. Control characters are
 * shown as in text_add_visible(); blanks at the end of a cell are dropped. */
void table_row(struct table *table, const char *const *cells);

/* Colour a cell of the newest row: an SGR parameter such as "32" or "1;31".
 * Only printed if table_print() is given colours. NULL removes it. */
void table_colour(struct table *table, int column, const char *sgr);

/* Prints no blanks at the end of a line, and headings only if a column has a
 * title. */
void table_print(
    const struct table *table, int width, bool colours, struct buf *out);

#endif
