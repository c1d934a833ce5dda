/* SPDX-License-Identifier: ISC */

/*
 * llmc top: a grid of cells that is drawn on a terminal (grid.c), what a
 * terminal sends (key-input.c), what a person has chosen to see and how keys
 * change it (top-ui.c), and frames of the view (top-frame.c). Pure.
 */
#ifndef TOP_H
#define TOP_H

struct buf;
struct json_object;
struct top_lines;

/* --- the grid ----------------------------------------------------------- */

/*
 * One character with its combining marks in each cell, with a style. Texts from
 * elsewhere may be written into it as they are: what would control a terminal
 * is made visible.
 */

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

void grid_clear(struct grid *grid);

/* Write text into at most max columns from a cell on; what is outside of the
 * grid is clipped. Control characters, invalid bytes and invisible characters
 * are shown as text_add_visible() shows them; a wide character that would be
 * cut is left out. Returns how many columns were written. text may be NULL:
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

/* --- keys --------------------------------------------------------------- */

/*
 * Characters, arrows, pages, function keys. Sequences that mean nothing here
 * (mouse, focus, answers, Alt with a key) are swallowed whole, however they are
 * cut. The caller has the clock.
 */

/* The keys of llmc top: a character is its code point, and the others follow
 * after the last code point. */
enum top_key {
	TOP_KEY_NONE = 0,
	TOP_KEY_TAB = '\t',
	TOP_KEY_ENTER = '\r',
	TOP_KEY_ESC = 0x1b,
	TOP_KEY_SPACE = ' ',
	TOP_KEY_BACKSPACE = 0x7f,
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_BACKTAB, /* Shift-Tab */
	TOP_KEY_F1,
	TOP_KEY_F10,
	TOP_KEY_RESIZE, /* the terminal has another size */
	TOP_KEY_INTERRUPT, /* Ctrl-C */
	TOP_KEY_REDRAW, /* Ctrl-L */
	TOP_KEY_LAST = TOP_KEY_REDRAW
};

#define KEY_INPUT_PARAMS 16 /* bytes; longer sequences are swallowed */

enum key_input_state {
	KEY_INPUT_GROUND,
	KEY_INPUT_UTF8,
	KEY_INPUT_ESC,
	KEY_INPUT_CSI,
	KEY_INPUT_SS3,
	KEY_INPUT_SKIP, /* so many bytes */
	KEY_INPUT_STRING, /* until BEL or ESC \ */
	KEY_INPUT_STRING_ESC,
};

struct key_input {
	enum key_input_state state;
	char bytes[KEY_INPUT_PARAMS]; /* of the character, or parameters */
	size_t len; /* may be more than fit */
	int skip;
	bool pasting;
};

#define KEY_INPUT_INIT \
	{              \
		0      \
	}

/* A key. pasted: it was not typed, so it is text and no command. */
typedef void key_input_fn(uint32_t key, bool pasted, void *arg);

void key_input_feed(struct key_input *input, const char *bytes, size_t len,
    key_input_fn *fn, void *arg);

/* How long to wait for the rest of what has begun; 0 = nothing has. */
int64_t key_input_wait_ms(const struct key_input *input);

/* The rest did not come: an Esc was the key, anything else is dropped. */
void key_input_timeout(struct key_input *input, key_input_fn *fn, void *arg);

/* --- what a person has chosen to see ------------------------------------ */

/* Keys only change this and say what is to be done: the caller does it. */

/* The lists, in the order of their keys 1 to 4. */
enum top_screen {
	TOP_WORKERS,
	TOP_TASKS,
	TOP_EVENTS,
	TOP_FAILURES,
	TOP_SCREENS
};

/* What covers the list. */
enum top_page {
	TOP_PAGE_NONE,
	TOP_PAGE_DETAIL, /* of the chosen row */
	TOP_PAGE_COST,
	TOP_PAGE_CHARTS,
	TOP_PAGE_HELP,
};

enum top_sort {
	TOP_SORT_NAME, /* fixed */
	TOP_SORT_AGE, /* the longest in its status first */
	TOP_SORT_COST, /* the most expensive first */
	TOP_SORTS
};

extern const char *const top_sort_words[TOP_SORTS + 1];

enum top_do {
	TOP_NOTHING,
	TOP_REDRAW,
	TOP_QUIT,
	TOP_ATTACH, /* target: a worker */
	TOP_LOGS, /* of a worker */
	/* These were asked about, and confirmed. */
	TOP_PAUSE, /* a worker */
	TOP_RESUME, /* a worker or a task */
	TOP_ACCEPT, /* a worker */
	TOP_REJECT, /* a worker; text: why */
	TOP_MESSAGE, /* a worker; text */
};

/* The strings are valid until the next key. */
struct top_action {
	enum top_do what;
	const char *target, *text; /* NULL = none */
};

struct top_ui {
	enum top_screen screen;
	enum top_page page;
	char *chosen[TOP_SCREENS]; /* key of a row, NULL = the first one */
	int first; /* row of the list that is on top */
	int scroll; /* of the page, in lines */
	struct buf filter; /* rows that contain it; empty = all */
	bool typing; /* the filter */
	bool problems; /* only rows that need a person */
	enum top_sort sort;

	enum top_do asked; /* waits for y, or for a text; TOP_NOTHING = none */
	char *target; /* that is asked about */
	struct buf text; /* that is typed for it */
	char *notice; /* shown until the next key */

	struct json_object *frozen; /* the view that is kept, NULL = none */
	int64_t frozen_ms; /* the time then; 0 = at the next frame */

	struct json_object *charts; /* owned (charts.h); NULL = not known */
	char *charts_missing; /* owned: why; NULL = they are asked for */

	int list_rows, page_rows, page_lines; /* of the last frame */
	/* The wall clock time at which the last frame will look different
	 * although nothing has happened: draw another one then. INT64_MAX =
	 * never. */
	int64_t next_change_ms;
};

void top_ui_init(struct top_ui *ui);
void top_ui_release(struct top_ui *ui);

/* view: as it is now. A key that means nothing is TOP_NOTHING; every change to
 * what is shown is TOP_REDRAW at least. Also whatever an action does, draw a
 * frame after it. */
struct top_action
top_key(struct top_ui *ui, struct json_object *view, uint32_t key);

/* Say something on the last line, such as what an action has answered. */
void top_ui_notice(struct top_ui *ui, const char *words);

/* The view that is shown: this one, or the frozen one. */
struct json_object *
top_ui_view(const struct top_ui *ui, struct json_object *view);

/* Does the action ask for a text, not only for y? */
bool top_asks_text(enum top_do what);

/* --- one frame: of the view, of what was chosen, and of the time -------- */

/* Borrowed from the view, except the name. */
struct top_row {
	char *name; /* "section/key", unique */
	const char *section, *key;
	struct json_object *row;
	bool needs; /* a person */
};

struct top_rows {
	struct top_row *rows;
	size_t count;
	size_t hidden; /* by the filter, or because they are no problems */
};

/* Those of ui->screen. view: as top_ui_view() says. */
void top_rows_make(const struct top_ui *ui, struct json_object *view,
    struct top_rows *ret_rows);
void top_rows_release(struct top_rows *rows);

/* The index of the row that is chosen, 0 if it is gone or none was. */
size_t top_rows_chosen(const struct top_rows *rows, const struct top_ui *ui);
void top_help_add(struct top_lines *lines);

struct top_facts {
	bool live; /* the daemon sends its changes */
	bool there; /* it does not, but it runs */
	int64_t lost_ms; /* since when it does not; 0 = it never did */
	int64_t beat_ms; /* when it last wrote its heartbeat; 0 = unknown */
	int64_t now_ms; /* wall clock */
	int utc_offset_s; /* of the local time */
	bool utf8; /* the terminal shows more than ASCII */
};

/* Fill the grid, of any size. The ui's positions are brought into what there is
 * to show. */
void top_frame(struct json_object *view, struct top_ui *ui,
    const struct top_facts *facts, struct grid *grid);

#endif
