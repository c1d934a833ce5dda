/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "table.h"

#define TABLE_GAP      2
#define TABLE_ELLIPSIS "\xe2\x80\xa6" /* one column wide */

struct table_cell {
	char *text; /* safe to print */
	char *sgr; /* NULL = no colour */
	int width;
};

struct table {
	struct table_column *columns; /* their titles are in headings */
	struct table_cell *headings; /* one per column */
	struct table_cell *cells; /* rows times count */
	bool has_headings;
	size_t count, rows, rows_cap;
};

static void
table_cell_set(struct table_cell *cell, const char *s)
{
	struct buf text = BUF_INIT;

	if (s != NULL)
		text_add_visible(&text, s, strlen(s), false);
	while (text.len > 0 && text.data[text.len - 1] == ' ')
		buf_truncate(&text, text.len - 1);
	cell->width = text_width(text.data, text.len);
	cell->text = buf_take(&text);
	cell->sgr = NULL;
}

static void
table_cells_free(struct table_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(cells[i].text);
		free(cells[i].sgr);
	}
	free(cells);
}

struct table *
table_new(const struct table_column *columns, int count)
{
	struct table *table = xcalloc(1, sizeof *table);

	table->count = (size_t)count;
	table->columns = xcalloc(table->count, sizeof *table->columns);
	table->headings = xcalloc(table->count, sizeof *table->headings);
	for (size_t i = 0; i < table->count; i++) {
		table->columns[i] = columns[i];
		table->columns[i].title = NULL;
		table_cell_set(&table->headings[i], columns[i].title);
		if (columns[i].title != NULL)
			table->has_headings = true;
	}
	return table;
}

void
table_free(struct table *table)
{
	if (table == NULL)
		return;
	table_cells_free(table->headings, table->count);
	table_cells_free(table->cells, table->rows * table->count);
	free(table->columns);
	free(table);
}

void
table_row(struct table *table, const char *const *cells)
{
	struct table_cell *row;

	if (table->rows == table->rows_cap) {
		table->rows_cap = table->rows_cap * 2 + 16;
		table->cells = xreallocarray(table->cells,
		    table->rows_cap * table->count, sizeof *table->cells);
	}
	row = table->cells + table->rows++ * table->count;
	for (size_t i = 0; i < table->count; i++)
		table_cell_set(&row[i], cells[i]);
}

void
table_colour(struct table *table, int column, const char *sgr)
{
	struct table_cell *cell;

	if (table->rows == 0 || column < 0 || (size_t)column >= table->count)
		return;
	cell = table->cells + (table->rows - 1) * table->count + column;
	free(cell->sgr);
	cell->sgr = sgr == NULL ? NULL : xstrdup(sgr);
}

/* The widths of all columns; the caller frees them. */
static int *
table_measure(const struct table *table, int width)
{
	int *widths = xcalloc(table->count, sizeof *widths);
	int64_t total = 0;

	for (size_t i = 0; i < table->count; i++) {
		widths[i] = table->headings[i].width;
		for (size_t row = 0; row < table->rows; row++) {
			int w = table->cells[row * table->count + i].width;

			if (w > widths[i])
				widths[i] = w;
		}
		total += widths[i] + (i > 0 ? TABLE_GAP : 0);
	}
	if (width > 0) {
		int64_t excess = total - width;

		/* Narrow the widest flexible columns until the rows fit, or
		 * as far as possible. */
		for (; excess > 0; excess--) {
			int *widest = NULL;

			for (size_t i = 0; i < table->count; i++)
				if (table->columns[i].flexible &&
				    widths[i] > 1 &&
				    (widest == NULL || widths[i] >= *widest))
					widest = &widths[i];
			if (widest == NULL)
				break;
			--*widest;
		}
	}
	return widths;
}

/* `blanks` is the padding due before this cell; it is only printed if something
 * follows. Returns the padding due after this cell. */
static size_t
table_print_cell(const struct table_cell *cell, bool right, int width,
    bool colours, size_t blanks, struct buf *out)
{
	bool coloured = colours && cell->sgr != NULL;
	bool cut = cell->width > width;
	size_t len = strlen(cell->text), pad;
	int used = cell->width;
	size_t count;

	if (len == 0)
		return blanks + (size_t)width;
	if (cut) {
		len = text_width_cut(cell->text, len, width - 1);
		used = text_width(cell->text, len) + 1;
	}
	pad = (size_t)(width - used);
	count = blanks + (right ? pad : 0);
	buf_reserve(out, count);
	memset(out->data + out->len, ' ', count);
	buf_grew(out, count);
	if (coloured)
		buf_addf(out, "\033[%sm", cell->sgr);
	buf_add(out, cell->text, len);
	if (cut)
		buf_adds(out, TABLE_ELLIPSIS);
	if (coloured)
		buf_adds(out, "\033[0m");
	return right ? 0 : pad;
}

static void
table_print_row(const struct table *table, const struct table_cell *row,
    const int *widths, bool colours, struct buf *out)
{
	size_t blanks = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (i > 0)
			blanks += TABLE_GAP;
		blanks = table_print_cell(&row[i], table->columns[i].right,
		    widths[i], colours, blanks, out);
	}
	buf_addc(out, '\n');
}

void
table_print(const struct table *table, int width, bool colours, struct buf *out)
{
	cleanup_free int *widths = table_measure(table, width);

	if (table->has_headings)
		table_print_row(table, table->headings, widths, colours, out);
	for (size_t row = 0; row < table->rows; row++)
		table_print_row(table, table->cells + row * table->count,
		    widths, colours, out);
}
