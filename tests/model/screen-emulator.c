/* SPDX-License-Identifier: ISC */

#include "screen-emulator.h"

/* Of each byte: a check that passes is to cost nothing. */
#define MUST(what)                           \
	do {                                 \
		if (!(what))                 \
			ck_abort_msg(#what); \
	} while (0)

struct emulator {
	struct grid *grid;
	enum grid_colours colours;
	int row, column; /* column == columns: behind the last one */
	enum grid_style style;
};

static struct grid_cell *
cell_at(const struct emulator *e, int column)
{
	return &e->grid->cells[e->row * e->grid->columns + column];
}

static void
erase(const struct emulator *e, int column)
{
	*cell_at(e, column) = (struct grid_cell){ " ", 1, 1, STYLE_PLAIN };
}

/* Half of a wide character does not stay. */
static void
spoil(const struct emulator *e, int column)
{
	if (cell_at(e, column)->width == 2)
		erase(e, column + 1);
	if (cell_at(e, column)->width == 0)
		erase(e, column - 1);
}

/* The style whose parameters these are: found by drawing each. */
static enum grid_style
style_of(const struct emulator *e, const char *sgr, size_t len)
{
	if (len == sizeof "\033[0m" - 1)
		return STYLE_PLAIN;
	for (int style = 0; style < STYLE_COUNT; style++) {
		struct grid *a = grid_new(1, 1), *b = grid_new(1, 1);
		struct buf out = BUF_INIT;
		bool same;

		grid_text(b, 0, 0, 1, "x", (enum grid_style)style);
		grid_draw(a, b, e->colours, &out);
		same = memmem(out.data, out.len, sgr, len) != NULL;
		buf_release(&out);
		grid_free(a);
		grid_free(b);
		if (same)
			return (enum grid_style)style;
	}
	ck_abort_msg("no style has these parameters");
}

static size_t
control(struct emulator *e, const char *bytes, size_t len)
{
	size_t n = 2 + strspn(bytes + 2, "0123456789;");
	int a = 1, b = 1;

	MUST(n < len);
	MUST(bytes[1] == '[');
	sscanf(bytes + 2, "%d;%d", &a, &b);
	switch (bytes[n]) {
	case 'm':
		e->style = style_of(e, bytes, n + 1);
		break;
	case 'H':
		e->row = a - 1;
		e->column = b - 1;
		break;
	case 'G':
		e->column = a - 1;
		break;
	case 'J':
		MUST(a == 2);
		grid_clear(e->grid);
		break;
	case 'K':
		MUST(n == 2);
		MUST(e->style == STYLE_PLAIN);
		spoil(e, e->column);
		for (int i = e->column; i < e->grid->columns; i++)
			erase(e, i);
		break;
	default:
		ck_abort_msg("unknown control sequence %c", bytes[n]);
	}
	MUST(e->row < e->grid->rows);
	if (bytes[n] != 'm')
		MUST(e->column < e->grid->columns);
	return n + 1;
}

static size_t
character(struct emulator *e, const char *bytes, size_t len)
{
	size_t n = text_utf8_len(bytes, len);
	int width = text_width(bytes, n);
	struct grid_cell *cell;

	MUST(n > 0);
	MUST((unsigned char)*bytes >= 0x20 && *bytes != 0x7f);
	if (width == 0) {
		cell = cell_at(e, e->column - 1);
		if (cell->width == 0)
			cell--;
		memcpy(cell->text + cell->len, bytes, n);
		cell->len = (uint8_t)(cell->len + n);
		return n;
	}
	MUST(e->column + width <= e->grid->columns);
	for (int i = 0; i < width; i++)
		spoil(e, e->column + i);
	cell = cell_at(e, e->column);
	*cell = (struct grid_cell){ .len = (uint8_t)n,
		.width = (uint8_t)width,
		.style = (uint8_t)e->style };
	memcpy(cell->text, bytes, n);
	if (width == 2)
		cell[1] = (struct grid_cell){ .style = (uint8_t)e->style };
	e->column += width;
	return n;
}

void
screen_emulate(struct grid *screen, enum grid_colours colours,
    const char *bytes, size_t len)
{
	struct emulator e = { .grid = screen, .colours = colours };
	size_t n;

	for (; len > 0; bytes += n, len -= n)
		n = *bytes == '\033' ? control(&e, bytes, len) :
				       character(&e, bytes, len);
	MUST(e.style == STYLE_PLAIN);
}

bool
screen_same(const struct grid *a, const struct grid *b)
{
	bool same = a->rows == b->rows && a->columns == b->columns;

	for (int i = 0; same && i < a->rows * a->columns; i++) {
		const struct grid_cell *x = &a->cells[i], *y = &b->cells[i];

		same = x->len == y->len && x->width == y->width &&
		    x->style == y->style &&
		    memcmp(x->text, y->text, x->len) == 0;
	}
	return same;
}
