/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "top.h"
#include "view-private.h"

/* Shown below a combining mark that has nothing to combine with. */
#define DOTTED_CIRCLE "\xe2\x97\x8c"

static const struct grid_cell blank = { .text = " ", .len = 1, .width = 1 };

/* --- the grid -------------------------------------------------------- */

static int
size_within(int size)
{
	return size < 1 ? 1 : size > GRID_SIZE_MAX ? GRID_SIZE_MAX : size;
}

struct grid *
grid_new(int rows, int columns)
{
	struct grid *grid = xcalloc(1, sizeof *grid);

	grid->rows = size_within(rows);
	grid->columns = size_within(columns);
	grid->cells = xcalloc(
	    (size_t)grid->rows * (size_t)grid->columns, sizeof *grid->cells);
	grid_clear(grid);
	return grid;
}

void
grid_free(struct grid *grid)
{
	if (grid == NULL)
		return;
	free(grid->cells);
	free(grid);
}

void
grid_clear(struct grid *grid)
{
	size_t count = (size_t)grid->rows * (size_t)grid->columns;

	for (size_t i = 0; i < count; i++)
		grid->cells[i] = blank;
}

static struct grid_cell *
grid_cell_at(const struct grid *grid, int row, int column)
{
	return &grid->cells[(size_t)row * (size_t)grid->columns +
	    (size_t)column];
}

static bool
cell_equal(const struct grid_cell *a, const struct grid_cell *b)
{
	return a->len == b->len && a->width == b->width &&
	    a->style == b->style && memcmp(a->text, b->text, a->len) == 0;
}

/* --- writing --------------------------------------------------------- */

/* A cell is about to be replaced: the other half of a wide character goes. */
static void
free_cell(struct grid *grid, int row, int column)
{
	struct grid_cell *cell = grid_cell_at(grid, row, column);

	if (cell->width == 2)
		cell[1] = (struct grid_cell){ .text = " ",
			.len = 1,
			.width = 1,
			.style = cell[1].style };
	else if (cell->width == 0)
		cell[-1] = (struct grid_cell){ .text = " ",
			.len = 1,
			.width = 1,
			.style = cell[-1].style };
}

static struct grid_cell *
put(struct grid *grid, int row, int column, const char *text, size_t len,
    int width, enum grid_style style)
{
	struct grid_cell *cell = grid_cell_at(grid, row, column);

	free_cell(grid, row, column);
	if (width == 2)
		free_cell(grid, row, column + 1);
	*cell = (struct grid_cell){ .len = (uint8_t)len,
		.width = (uint8_t)width,
		.style = (uint8_t)style };
	memcpy(cell->text, text, len);
	if (width == 2)
		cell[1] = (struct grid_cell){ .style = (uint8_t)style };
	return cell;
}

/* Where the next character goes; grid NULL: only columns are counted. */
struct pen {
	struct grid *grid;
	int row, column, end;
	enum grid_style style;
	struct grid_cell *last; /* that marks combine with */
	int written;
	bool full;
};

/* One character that a terminal may get. */
static void
put_character(struct pen *pen, const char *text, size_t len)
{
	bool ascii = len == 1 && *text >= 0x20 && *text < 0x7f;
	int width = ascii ? 1 : text_width(text, len);

	if (width == 0) {
		struct grid_cell *cell;

		if (pen->written == 0)
			put_character(
			    pen, DOTTED_CIRCLE, sizeof DOTTED_CIRCLE - 1);
		cell = pen->last;
		if (cell == NULL || cell->len + len > sizeof cell->text)
			return;
		memcpy(cell->text + cell->len, text, len);
		cell->len = (uint8_t)(cell->len + len);
		return;
	}
	if (pen->full || pen->column + width > pen->end) {
		pen->full = true;
		pen->last = NULL;
		return;
	}
	pen->last = pen->grid != NULL && pen->column >= 0 ?
	    put(pen->grid, pen->row, pen->column, text, len, width,
		pen->style) :
	    NULL;
	pen->column += width;
	pen->written += width;
}

static void
write_text(struct pen *pen, const char *text)
{
	size_t left = strlen(text), n;

	for (; left > 0 && !pen->full; text += n, left -= n) {
		char small[] = { 0, 0, 0, 0, 0 };
		cleanup_buf struct buf visible = BUF_INIT;

		n = text_utf8_len(text, left);
		if (n == 1 && *text >= 0x20 && *text < 0x7f) {
			put_character(pen, text, 1);
			continue;
		}
		n = n == 0 ? 1 : n;
		memcpy(small, text, n);
		text_add_visible(&visible, small, n, false);
		if (visible.len == n && memcmp(visible.data, small, n) == 0)
			put_character(pen, small, n);
		else /* an escape, in ASCII */
			for (size_t i = 0; i < visible.len; i++)
				put_character(pen, visible.data + i, 1);
	}
}

int
grid_text(struct grid *grid, int row, int column, int max, const char *text,
    enum grid_style style)
{
	struct pen pen = {
		.grid = grid, .row = row, .column = column, .style = style
	};

	if (text == NULL || row < 0 || row >= grid->rows || column < 0 ||
	    column >= grid->columns || max <= 0)
		return 0;
	pen.end = max > grid->columns - column ? grid->columns : column + max;
	write_text(&pen, text);
	return pen.written;
}

int
grid_text_width(const char *text)
{
	struct pen pen = { .end = GRID_SIZE_MAX * GRID_SIZE_MAX };

	if (text == NULL)
		return 0;
	write_text(&pen, text);
	return pen.written;
}

void
grid_text_right(struct grid *grid, int row, int column, int width,
    const char *text, enum grid_style style)
{
	int needed = grid_text_width(text);
	int shift = needed < width ? width - needed : 0;

	grid_text(grid, row, column + shift, width - shift, text, style);
}

void
grid_fill(struct grid *grid, int row, int column, int count, char c,
    enum grid_style style)
{
	if (row < 0 || row >= grid->rows)
		return;
	for (int i = 0; i < count && column + i < grid->columns; i++)
		if (column + i >= 0)
			put(grid, row, column + i, &c, 1, 1, style);
}

void
grid_restyle(
    struct grid *grid, int row, int column, int count, enum grid_style style)
{
	if (row < 0 || row >= grid->rows)
		return;
	for (int i = 0; i < count && column + i < grid->columns; i++) {
		struct grid_cell *cell = column + i >= 0 ?
		    grid_cell_at(grid, row, column + i) :
		    NULL;

		if (cell == NULL || cell->width == 0)
			continue;
		cell->style = (uint8_t)style;
		if (cell->width == 2)
			cell[1].style = (uint8_t)style;
	}
}

/* --- plain text ------------------------------------------------------ */

void
grid_print(const struct grid *grid, struct buf *out)
{
	for (int row = 0; row < grid->rows; row++) {
		size_t end = out->len;

		for (int column = 0; column < grid->columns; column++) {
			const struct grid_cell *c =
			    grid_cell_at(grid, row, column);

			buf_add(out, c->text, c->len);
			if (c->len > 1 || (c->len == 1 && *c->text != ' '))
				end = out->len;
		}
		buf_truncate(out, end);
		buf_addc(out, '\n');
	}
}

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
	const struct grid_cell *new = grid_cell_at(d->after, row, column);

	return d->before == NULL ? /* the screen was cleared */
	    !is_erased(new) :
	    !cell_equal(grid_cell_at(d->before, row, column), new);
}

static void
set_style(struct drawing *d, enum grid_style style)
{
	if (style == d->style)
		return;
	buf_addf(d->out, "\033[0%sm", styles[style][d->colours]);
	d->style = style;
}

/* Repeat a few cells that have not changed, if they are plain to write. */
static bool
close_gap(struct drawing *d, int row, int column)
{
	if (d->unsure || d->row != row || d->column > column ||
	    column - d->column > GAP_MAX)
		return false;
	for (int i = d->column; i < column; i++) {
		const struct grid_cell *cell = grid_cell_at(d->after, row, i);

		if (cell->len != 1 || cell->style != d->style)
			return false;
	}
	for (; d->column < column; d->column++)
		buf_addc(d->out, *grid_cell_at(d->after, row, d->column)->text);
	return true;
}

static void
move(struct drawing *d, int row, int column, bool ascii)
{
	/* Terminals differ in the width of some characters that are not
	 * ASCII. */
	if ((d->row == row && d->column == column && !(d->unsure && ascii)) ||
	    close_gap(d, row, column))
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
draw_row(struct drawing *d, int row)
{
	int columns = d->after->columns, end = columns, erased = 0;

	while (end > 0 && is_erased(grid_cell_at(d->after, row, end - 1)))
		end--;
	for (int i = end; i < columns; i++)
		erased += changed(d, row, i) ? 1 : 0;
	for (int i = 0; i < (erased >= ERASE_MIN ? end : columns); i++)
		if (changed(d, row, i) &&
		    grid_cell_at(d->after, row, i)->width > 0) {
			const struct grid_cell *cell =
			    grid_cell_at(d->after, row, i);
			bool ascii = cell->len == 1;

			move(d, row, i, ascii);
			set_style(d, (enum grid_style)cell->style);
			buf_add(d->out, cell->text, cell->len);
			d->column = i + cell->width;
			/* In the last column, the cursor may be behind the
			 * edge. */
			if (!ascii || d->column == d->after->columns)
				d->unsure = true;
		}
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

#define ESC                  0x1b
#define SEQUENCE_WAIT_MS     50
#define PASTE_WAIT_MS        2000
#define PASTE_BEGIN          "200"
#define PASTE_END            "201"
#define MOUSE_BYTES          3 /* after CSI M: button, column, row */
#define LINUX_FUNCTION_BYTES 1 /* after CSI [ */

/* "ESC [ number ~" */
static const struct {
	const char *number;
	uint32_t key;
} numbered[] = {
	{ "1", TOP_KEY_HOME },
	{ "4", TOP_KEY_END },
	{ "5", TOP_KEY_PAGE_UP },
	{ "6", TOP_KEY_PAGE_DOWN },
	{ "7", TOP_KEY_HOME },
	{ "8", TOP_KEY_END },
	{ "11", TOP_KEY_F1 },
	{ "21", TOP_KEY_F10 },
};

/* "ESC [ letter", "ESC [ 1 ; modifiers letter" and "ESC O letter" */
static uint32_t
key_of_letter(char letter)
{
	switch (letter) {
	case 'A':
		return TOP_KEY_UP;
	case 'B':
		return TOP_KEY_DOWN;
	case 'C':
		return TOP_KEY_RIGHT;
	case 'D':
		return TOP_KEY_LEFT;
	case 'F':
		return TOP_KEY_END;
	case 'H':
		return TOP_KEY_HOME;
	case 'P':
		return TOP_KEY_F1;
	default:
		return 0;
	}
}

static uint32_t
key_of_csi(const char *params, char final)
{
	size_t len = strcspn(params, ";");

	if (final == 'Z')
		return TOP_KEY_BACKTAB;
	if (final != '~')
		return params[0] == '\0' || (len == 1 && params[0] == '1') ?
		    key_of_letter(final) :
		    0;
	for (size_t i = 0; i < nitems(numbered); i++)
		if (strlen(numbered[i].number) == len &&
		    memcmp(numbered[i].number, params, len) == 0)
			return numbered[i].key;
	return 0;
}

static void
begin(struct key_input *in, enum key_input_state state)
{
	in->state = state;
	in->len = 0;
}

static void
skip(struct key_input *in, int bytes)
{
	begin(in, KEY_INPUT_SKIP);
	in->skip = bytes;
}

/* Only text is taken from a paste; its lines become one. */
static void
give(const struct key_input *in, uint32_t key, key_input_fn *fn, void *arg)
{
	if (in->pasting && (key == TOP_KEY_ENTER || key == TOP_KEY_TAB))
		key = ' ';
	if (key == 0 ||
	    (in->pasting &&
		(key < ' ' || key == TOP_KEY_BACKSPACE || key >= TOP_KEY_UP)))
		return;
	fn(key, in->pasting, arg);
}

static uint32_t
key_of_byte(unsigned char byte)
{
	switch (byte) {
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case '\t':
		return TOP_KEY_TAB;
	case '\b':
	case 0x7f:
		return TOP_KEY_BACKSPACE;
	case 'C' & 0x1f:
		return TOP_KEY_INTERRUPT;
	case 'L' & 0x1f:
		return TOP_KEY_REDRAW;
	default:
		return byte;
	}
}

static void
on_csi(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	if (byte >= 0x40 && byte <= 0x7e) {
		char final = (char)byte;
		char params[KEY_INPUT_PARAMS + 1] = "";
		bool whole = in->len <= KEY_INPUT_PARAMS;

		if (whole)
			memcpy(params, in->bytes, in->len);
		begin(in, KEY_INPUT_GROUND);
		if (!whole)
			return;
		if (final == 'M' && params[0] == '\0' && !in->pasting)
			skip(in, MOUSE_BYTES);
		else if (final == '[' && params[0] == '\0' && !in->pasting)
			skip(in, LINUX_FUNCTION_BYTES);
		else if (final == '~' && strcmp(params, PASTE_BEGIN) == 0)
			in->pasting = true;
		else if (final == '~' && strcmp(params, PASTE_END) == 0)
			in->pasting = false;
		else
			give(in, key_of_csi(params, final), fn, arg);
	} else if (byte >= 0x20 && byte <= 0x3f) {
		if (in->len < KEY_INPUT_PARAMS)
			in->bytes[in->len] = (char)byte;
		if (in->len <= KEY_INPUT_PARAMS)
			in->len++;
	} else if (byte == ESC) {
		begin(in, KEY_INPUT_ESC);
	} else {
		begin(in, KEY_INPUT_GROUND);
	}
}

static void
on_esc(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	switch (byte) {
	case ESC: /* typed twice */
		give(in, TOP_KEY_ESC, fn, arg);
		break;
	case '[':
		begin(in, KEY_INPUT_CSI);
		break;
	case 'O':
		begin(in, KEY_INPUT_SS3);
		break;
	case 'P':
	case 'X':
	case ']':
	case '^':
	case '_':
		begin(in, KEY_INPUT_STRING);
		break;
	default: /* Alt with a key */
		begin(in, KEY_INPUT_GROUND);
	}
}

static void
on_ground(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	if (byte == ESC) {
		begin(in, KEY_INPUT_ESC);
	} else if (byte >= 0xc2 && byte <= 0xf4) {
		begin(in, KEY_INPUT_UTF8);
		in->bytes[in->len++] = (char)byte;
	} else if (byte < 0x80) {
		give(in, key_of_byte(byte), fn, arg);
	}
}

static void
on_utf8(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	unsigned char lead = (unsigned char)in->bytes[0];
	uint32_t codepoint;

	if ((byte & 0xc0) != 0x80) {
		begin(in, KEY_INPUT_GROUND);
		on_ground(in, byte, fn, arg);
		return;
	}
	in->bytes[in->len++] = (char)byte;
	if (in->len < (lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2))
		return;
	in->state = KEY_INPUT_GROUND;
	if (text_utf8_decode(in->bytes, in->len, &codepoint) == in->len &&
	    codepoint >= 0xa0)
		give(in, codepoint, fn, arg);
}

static void
take(struct key_input *in, unsigned char byte, key_input_fn *fn, void *arg)
{
	switch (in->state) {
	case KEY_INPUT_GROUND:
		on_ground(in, byte, fn, arg);
		break;
	case KEY_INPUT_UTF8:
		on_utf8(in, byte, fn, arg);
		break;
	case KEY_INPUT_ESC:
		on_esc(in, byte, fn, arg);
		break;
	case KEY_INPUT_CSI:
		on_csi(in, byte, fn, arg);
		break;
	case KEY_INPUT_SS3:
		if (byte >= '0' && byte <= ';')
			return; /* modifiers */
		begin(in, byte == ESC ? KEY_INPUT_ESC : KEY_INPUT_GROUND);
		if (byte == 'M')
			give(in, TOP_KEY_ENTER, fn, arg); /* of the keypad */
		else if (byte != ESC)
			give(in, key_of_letter((char)byte), fn, arg);
		break;
	case KEY_INPUT_SKIP:
		if (--in->skip <= 0)
			begin(in, KEY_INPUT_GROUND);
		break;
	case KEY_INPUT_STRING:
		if (byte == ESC)
			begin(in, KEY_INPUT_STRING_ESC);
		else if (byte == '\a')
			begin(in, KEY_INPUT_GROUND);
		break;
	case KEY_INPUT_STRING_ESC:
		begin(in, KEY_INPUT_GROUND);
		if (byte != '\\') {
			begin(in, KEY_INPUT_ESC);
			on_esc(in, byte, fn, arg);
		}
		break;
	}
}

void
key_input_feed(struct key_input *in, const char *bytes, size_t len,
    key_input_fn *fn, void *arg)
{
	for (size_t i = 0; i < len; i++)
		take(in, (unsigned char)bytes[i], fn, arg);
}

int64_t
key_input_wait_ms(const struct key_input *in)
{
	if (in->pasting)
		return PASTE_WAIT_MS;
	return in->state == KEY_INPUT_GROUND ? 0 : SEQUENCE_WAIT_MS;
}

void
key_input_timeout(struct key_input *in, key_input_fn *fn, void *arg)
{
	bool esc = in->state == KEY_INPUT_ESC && !in->pasting;

	in->pasting = false;
	begin(in, KEY_INPUT_GROUND);
	if (esc)
		give(in, TOP_KEY_ESC, fn, arg);
}
