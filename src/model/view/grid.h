/* SPDX-License-Identifier: ISC */

/*
 * A screen as a grid of cells: one character with its combining marks in each,
 * with a style. Texts from elsewhere may be written into it as they are: what
 * would control a terminal is made visible. Pure.
 */
#ifndef GRID_H
#define GRID_H

struct buf;

/* A style never says what the text does not say. */
enum grid_style {
	STYLE_PLAIN,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_REVERSE,
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_BAD,
	STYLE_TITLE,
	STYLE_LINK,
	STYLE_COUNT
};

#define GRID_CELL_BYTES 21 /* further combining marks are left out */
#define GRID_SIZE_MAX   1000 /* rows, and columns */

/* width 2: the next cell is its right half, which has width 0 and no text. */
struct grid_cell {
	char text[GRID_CELL_BYTES]; /* UTF-8, not terminated */
	uint8_t len;
	uint8_t width;
	uint8_t style;
};

struct grid {
	int rows, columns;
	struct grid_cell *cells; /* owned, a row after the other */
};

/* All blank. Sizes are brought into 1..GRID_SIZE_MAX. */
struct grid *grid_new(int rows, int columns);
void grid_free(struct grid *grid);

/* Its contents are cleared. */
void grid_resize(struct grid *grid, int rows, int columns);
void grid_clear(struct grid *grid);

/* Write text into at most max columns from a cell on; what is outside of the
 * grid is clipped. Control characters, invalid bytes and characters that nobody
 * sees are shown as text_add_visible() shows them; a wide character that would
 * be cut is left out. Returns how many columns were written. text may be NULL:
 * nothing. */
int grid_text(struct grid *grid, int row, int column, int max, const char *text,
    enum grid_style style);

/* The same, aligned to the right of `width` columns, as far as it fits. */
void grid_text_right(struct grid *grid, int row, int column, int width,
    const char *text, enum grid_style style);

/* How many columns grid_text() would need for it. */
int grid_text_width(const char *text);

/* One ASCII character, repeated. */
void grid_fill(struct grid *grid, int row, int column, int count, char c,
    enum grid_style style);

/* Change the style of what stands there. */
void grid_restyle(
    struct grid *grid, int row, int column, int count, enum grid_style style);
bool grid_equal(const struct grid *a, const struct grid *b);

/* Plain text: a line for each row, without trailing blanks. */
void grid_print(const struct grid *grid, struct buf *out);

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
