/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "grid-draw.h"
#include "grid.h"

/* A gap of unchanged cells is written again rather than jumped over if it is at
 * most so wide; blanks at the end are erased if there are so many. */
#define GAP_MAX   5
#define ERASE_MIN 4

/* The parameters of SGR after a reset, by what the terminal can show. */
static const char *const styles[STYLE_COUNT][GRID_COLOURS_COUNT] = {
	[STYLE_PLAIN] = { "", "", "", "" },
	[STYLE_DIM] = { ";2", ";2", ";38;5;245", ";38;2;138;138;138" },
	[STYLE_BOLD] = { ";1", ";1", ";1", ";1" },
	[STYLE_REVERSE] = { ";7", ";7", ";7", ";7" },
	[STYLE_GOOD] = { "", ";32", ";38;5;71", ";38;2;95;175;95" },
	[STYLE_WARN] = { ";1", ";33", ";38;5;178", ";38;2;215;175;0" },
	[STYLE_BAD] = { ";1", ";1;31", ";1;38;5;203", ";1;38;2;255;95;95" },
	[STYLE_TITLE] = { ";1", ";1;36", ";1;38;5;74", ";1;38;2;95;175;215" },
	[STYLE_LINK] = { ";4", ";4;34", ";4;38;5;75", ";4;38;2;95;175;255" },
};

struct drawing {
	const struct grid *before; /* of the same size; NULL = unknown */
	const struct grid *after;
	enum grid_colours colours;
	struct buf *out;
	int row, column; /* of the cursor */
	bool unsure; /* its column */
	enum grid_style style;
};

static const struct grid_cell *
cell_at(const struct grid *grid, int row, int column)
{
	return &grid->cells[(size_t)row * (size_t)grid->columns +
	    (size_t)column];
}

/* A cell that erasing makes. */
static bool
is_erased(const struct grid_cell *cell)
{
	return cell->len == 1 && *cell->text == ' ' &&
	    cell->style == STYLE_PLAIN;
}

static bool
changed(const struct drawing *d, int row, int column)
{
	const struct grid_cell *new = cell_at(d->after, row, column), *old;

	if (d->before == NULL) /* the screen was cleared */
		return !is_erased(new);
	old = cell_at(d->before, row, column);
	return old->len != new->len || old->width != new->width ||
	    old->style != new->style ||
	    memcmp(old->text, new->text, new->len) != 0;
}

static void
set_style(struct drawing *d, enum grid_style style)
{
	if (style == d->style)
		return;
	buf_addf(d->out, "\033[0%sm", styles[style][d->colours]);
	d->style = style;
}

/* Is the next character sure to come where it should? Terminals differ in the
 * width of some characters that are not ASCII. */
static bool
is_there(const struct drawing *d, int row, int column, bool ascii)
{
	return d->row == row && d->column == column && !(d->unsure && ascii);
}

/* Repeat a few cells that have not changed, if they are plain to write. */
static bool
close_gap(struct drawing *d, int row, int column)
{
	if (d->unsure || d->row != row || d->column > column ||
	    column - d->column > GAP_MAX)
		return false;
	for (int i = d->column; i < column; i++) {
		const struct grid_cell *cell = cell_at(d->after, row, i);

		if (cell->len != 1 || cell->style != d->style)
			return false;
	}
	for (; d->column < column; d->column++)
		buf_addc(d->out, *cell_at(d->after, row, d->column)->text);
	return true;
}

static void
move(struct drawing *d, int row, int column, bool ascii)
{
	if (is_there(d, row, column, ascii) || close_gap(d, row, column))
		return;
	if (d->row == row)
		buf_addf(d->out, "\033[%dG", column + 1);
	else
		buf_addf(d->out, "\033[%d;%dH", row + 1, column + 1);
	d->row = row;
	d->column = column;
	d->unsure = false;
}

static void
draw_cell(struct drawing *d, int row, int column)
{
	const struct grid_cell *cell = cell_at(d->after, row, column);
	bool ascii = cell->len == 1;

	move(d, row, column, ascii);
	set_style(d, (enum grid_style)cell->style);
	buf_add(d->out, cell->text, cell->len);
	d->column = column + cell->width;
	/* In the last column, the cursor may be behind the edge. */
	if (!ascii || d->column == d->after->columns)
		d->unsure = true;
}

static void
draw_row(struct drawing *d, int row)
{
	int columns = d->after->columns, end = columns, erased = 0;

	while (end > 0 && is_erased(cell_at(d->after, row, end - 1)))
		end--;
	for (int i = end; i < columns; i++)
		erased += changed(d, row, i) ? 1 : 0;
	for (int i = 0; i < (erased >= ERASE_MIN ? end : columns); i++)
		if (changed(d, row, i) && cell_at(d->after, row, i)->width > 0)
			draw_cell(d, row, i);
	if (erased < ERASE_MIN)
		return;
	move(d, row, end, true);
	set_style(d, STYLE_PLAIN);
	buf_adds(d->out, "\033[K");
}

void
grid_draw(const struct grid *before, const struct grid *after,
    enum grid_colours colours, struct buf *out)
{
	struct drawing d = { .before = before,
		.after = after,
		.colours = colours,
		.out = out,
		.row = -1 };

	if (before != NULL &&
	    (before->rows != after->rows || before->columns != after->columns))
		d.before = NULL;
	if (d.before == NULL)
		buf_adds(out, "\033[0m\033[H\033[2J");
	for (int row = 0; row < after->rows; row++)
		draw_row(&d, row);
	set_style(&d, STYLE_PLAIN);
}
