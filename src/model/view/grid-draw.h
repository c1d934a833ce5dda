/* SPDX-License-Identifier: ISC */

/*
 * The bytes that turn one screen into another, for any terminal that knows the
 * cursor moves and colours of ECMA-48. Pure.
 */
#ifndef GRID_DRAW_H
#define GRID_DRAW_H

struct buf;
struct grid;

/* What the terminal can show; without colours, bold and the like remain. */
enum grid_colours {
	GRID_COLOURS_NONE,
	GRID_COLOURS_16,
	GRID_COLOURS_256,
	GRID_COLOURS_TRUE,
	GRID_COLOURS_COUNT
};

/* Append what turns a terminal that shows `before` into one that shows `after`;
 * NULL or one of another size: whatever it shows. Nothing if they are equal.
 * The terminal's style is plain before and afterwards; the cursor is moved. */
void grid_draw(const struct grid *before, const struct grid *after,
    enum grid_colours colours, struct buf *out);

#endif
