/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "view-private.h"
#include "view.h"

#define WIDTH_MAX  12 /* of a column that is as wide as its longest text */
#define STATE_MAX  15 /* of that of the status: "waiting for you" */
#define WHAT_LEAST 10 /* columns */
#define WHAT_GOOD  20 /* from ROOMY columns on */
#define ROOMY      60

static bool
is_of(const struct top_row *at, const char *section)
{
	return strcmp(at->section, section) == 0;
}

/* What is said about a worker: its task, or why it does not work on it. */
static void
top_worker_words(
    struct top_clock *clock, struct json_object *row, struct buf *out)
{
	const char *title = json_string_or(row, "title", "");
	const char *remark = json_string_or(row, "remark", NULL);
	int64_t until = json_int_or(row, "until_unix", 0);

	if (view_is(row, "status", "limited") && until > 0) {
		buf_adds(out, "until ");
		top_add_moment(clock, until, out);
		buf_addc(out, ' ');
	}
	if (remark != NULL)
		buf_adds(out, remark);
	else
		buf_adds(out, title);
}

/* --- what is in the columns ------------------------------------------ */

static void
add_key(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	(void)clock;
	/* The name of a file is long, and says what the title says; a host has
	 * a column of its own. */
	if (is_of(at, "workers") && at->row != NULL &&
	    json_string_or(at->row, "host", NULL) != NULL)
		buf_adds(out, json_string_or(at->row, "name", at->key));
	else if (!is_of(at, VIEW_HOSTS))
		buf_adds(out, is_of(at, "todo") ? "-" : at->key);
}

/* The member that says how a row is doing. */
static void
add_state(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	static const char *const members[] = { "outcome", "status", "state",
		"step", "level", NULL };

	(void)clock;
	if (is_of(at, "repairs") || is_of(at, "needs")) {
		buf_adds(out,
		    json_string_or(
			at->row, is_of(at, "needs") ? "what" : "kind", "-"));
		return;
	}
	if (is_of(at, "workers")) {
		buf_adds(out, view_row_status(at->row));
		return;
	}
	for (const char *const *m = members; *m != NULL; m++)
		if (json_string_or(at->row, *m, NULL) != NULL) {
			buf_adds(out, json_string_or(at->row, *m, NULL));
			return;
		}
	buf_addc(out, '-');
}

static void
add_since(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	static const char *const members[] = { "finished_unix", "since_unix",
		"queued_unix", "assigned_unix", "created_unix", "at_unix",
		"seen_unix", NULL };

	for (const char *const *m = members; *m != NULL; m++)
		if (json_int_or(at->row, *m, 0) > 0) {
			top_add_age(clock, json_int_or(at->row, *m, 0), out);
			return;
		}
}

static void
add_when(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	int64_t at_unix = json_int_or(at->row, "at_ms", 0) / 1000;

	if (is_of(at, "needs"))
		return;
	if (at_unix == 0)
		at_unix = json_int_or(at->row, "at_unix",
		    json_int_or(at->row, "finished_unix", 0));
	top_add_moment(clock, at_unix, out);
}

static void
add_who(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	(void)clock;
	buf_adds(out,
	    is_of(at, "repairs")   ? json_string_or(at->row, "class", "") :
		is_of(at, "needs") ? json_string_or(at->row, "who", "") :
				     at->key);
}

/* Without a task there is nothing that could cost something. */
static void
add_cost(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	(void)clock;
	if (json_string_or(at->row, "cost_source", NULL) != NULL)
		top_add_cost(at->row, out);
}

static void
add_what(struct top_clock *clock, const struct top_row *at, struct buf *out)
{
	struct json_object *row = at->row;
	const char *title = json_string_or(row, "title", NULL);
	const char *reason =
	    json_string_or(row, "words", json_string_or(row, "reason", NULL));

	if (is_of(at, "workers")) {
		top_worker_words(clock, row, out);
		return;
	}
	if (is_of(at, VIEW_HOSTS)) {
		view_host_words(row, out);
		return;
	}
	if (is_of(at, "goals"))
		buf_addf(out, "%" PRId64 " of %" PRId64 " done  ",
		    json_int_or(row, "done", 0), json_int_or(row, "total", 0));
	if (is_of(at, "landing"))
		reason = json_string_or(row, "why", NULL);
	if (is_of(at, "repairs") && json_string_or(row, "outcome", NULL))
		buf_addf(out, "%s: ", json_string_or(row, "outcome", ""));
	if (title != NULL)
		buf_adds(out, title);
	if (reason != NULL)
		buf_addf(out, "%s%s", title != NULL ? ": " : "", reason);
}

/* --- the columns ----------------------------------------------------- */

struct column {
	const char *title;
	int width; /* 0 = of its longest text; WHAT takes what remains */
	int gap; /* after it */
	bool right;
	int rank; /* the highest are left out first */
	/* What is in it; NULL = this member, a text or a number above 0. */
	void (*add)(
	    struct top_clock *clock, const struct top_row *at, struct buf *out);
	const char *key;
};

#define COLUMNS_MAX 9

/* Left out where no row has one. */
static const char HOST[] = "HOST";

static const struct column columns[TOP_SCREENS][COLUMNS_MAX + 1] = {
	[TOP_WORKERS] = {
	    { HOST, 0, 1, false, 1, NULL, "host" },
	    { "WORKER", 0, 1, false, 0, add_key, NULL },
	    { "STATUS", 12, 1, false, 1, add_state, NULL },
	    { "FOR", 3, 2, true, 2, add_since, NULL },
	    { "TASK", 0, 1, false, 4, NULL, "task" },
	    { "TRY", 3, 1, true, 6, NULL, "attempt" },
	    { "TURN", 4, 1, true, 7, NULL, "turns" },
	    { "COST", 6, 2, true, 5, add_cost, NULL },
	    { "WHAT", 0, 0, false, 3, add_what, NULL },
	    { 0 },
	},
	[TOP_TASKS] = {
	    { "ID", 0, 1, false, 0, add_key, NULL },
	    { "STATE", 12, 1, false, 1, add_state, NULL },
	    { "FOR", 3, 2, true, 2, add_since, NULL },
	    { HOST, 0, 1, false, 5, NULL, "host" },
	    { "WORKER", 0, 1, false, 4, NULL, "worker" },
	    { "TRY", 3, 1, true, 6, NULL, "attempts" },
	    { "TURN", 4, 1, true, 7, NULL, "turns" },
	    { "COST", 6, 2, true, 5, add_cost, NULL },
	    { "WHAT", 0, 0, false, 3, add_what, NULL },
	    { 0 },
	},
	[TOP_EVENTS] = {
	    { "WHEN", 5, 1, false, 1, add_when, NULL },
	    { "WHAT", 0, 0, false, 0, add_what, NULL },
	    { 0 },
	},
	[TOP_FAILURES] = {
	    { "WHEN", 5, 1, false, 1, add_when, NULL },
	    { "KIND", 12, 1, false, 2, add_state, NULL },
	    { "WHO", 0, 1, false, 4, add_who, NULL },
	    { "WHAT", 0, 0, false, 3, add_what, NULL },
	    { 0 },
	},
};

struct table {
	const struct column *columns;
	int widths[COLUMNS_MAX]; /* 0 = left out */
	struct top_clock *clock;
	struct grid *grid;
	struct top_region region;
};

static bool
is_what(const struct column *c)
{
	return c->add == add_what;
}

static void
add_cell(const struct column *c, struct top_clock *clock,
    const struct top_row *at, struct buf *out)
{
	int64_t number;

	if (c->add != NULL) {
		c->add(clock, at, out);
		return;
	}
	number = json_int_or(at->row, c->key, 0);
	if (number > 0)
		buf_addf(out, "%" PRId64, number);
	else
		buf_adds(out, json_string_or(at->row, c->key, ""));
}

static int
longest(const struct column *c, const struct top_rows *rows)
{
	cleanup_buf struct buf text = BUF_INIT;
	int most = c->title == HOST ? 0 : (int)strlen(c->title);
	int limit = c->add == add_state ? STATE_MAX : WIDTH_MAX;

	for (size_t i = 0; i < rows->count; i++) {
		int width;

		buf_clear(&text);
		add_cell(c, NULL, &rows->rows[i], &text);
		width = grid_text_width(text.data);
		most = width > most ? width : most;
	}
	if (c->title == HOST && most > 0 && most < (int)strlen(HOST))
		most = (int)strlen(HOST);
	return most < limit ? most : limit;
}

/* Leave out columns until the others fit; the first two stay. */
static void
fit_columns(struct table *t)
{
	for (;;) {
		int sum = 1, worst = -1;

		for (int i = 0; t->columns[i].title != NULL; i++) {
			if (t->widths[i] == 0)
				continue;
			sum += t->widths[i] + t->columns[i].gap;
			if (t->columns[i].rank > 1 &&
			    (worst < 0 ||
				t->columns[i].rank > t->columns[worst].rank))
				worst = i;
		}
		if (sum <= t->region.columns || worst < 0)
			return;
		t->widths[worst] = 0;
	}
}

static void
make_columns(struct table *t, const struct top_rows *rows)
{
	int used = 1, what = -1;

	for (int i = 0; t->columns[i].title != NULL; i++) {
		const struct column *c = &t->columns[i];

		if (is_what(c))
			t->widths[i] =
			    t->region.columns >= ROOMY ? WHAT_GOOD : WHAT_LEAST;
		else
			t->widths[i] = c->width == 0 ||
				(c->add == add_state &&
				    longest(c, rows) > c->width) ?
			    longest(c, rows) :
			    c->width;
	}
	fit_columns(t);
	for (int i = 0; t->columns[i].title != NULL; i++) {
		if (t->widths[i] == 0)
			continue;
		if (is_what(&t->columns[i]))
			what = i;
		else
			used += t->widths[i] + t->columns[i].gap;
	}
	if (what >= 0 && t->region.columns > used)
		t->widths[what] = t->region.columns - used;
}

/* --- drawing --------------------------------------------------------- */

static void
draw_text(const struct table *t, int line, int column, int width, bool right,
    const char *text, enum grid_style style)
{
	int room = t->region.columns - column;

	width = width < room ? width : room;
	column += t->region.column;
	if (right)
		grid_text_right(t->grid, line, column, width, text, style);
	else
		grid_text(t->grid, line, column, width, text, style);
}

/* At the end of the line: the tool that runs; what a person would type. */
static int
draw_note(const struct table *t, const struct top_row *at, int line, int column,
    int width)
{
	const char *note = is_of(at, "workers") ?
	    json_string_or(at->row, "tool", NULL) :
	    is_of(at, "needs") ? json_string_or(at->row, "command", NULL) :
				 NULL;
	cleanup_free char *words = NULL;
	int needed;

	if (note == NULL)
		return width;
	words = xasprintf("[%s]", note);
	needed = grid_text_width(words);
	if (needed + WHAT_LEAST > width)
		return width;
	draw_text(
	    t, line, column + width - needed, needed, false, words, STYLE_DIM);
	return width - needed - 1;
}

static void
draw_row(const struct table *t, const struct top_row *at, int line)
{
	int column = 1;

	if (at->needs)
		draw_text(t, line, 0, 1, false, "!", STYLE_BAD);
	for (int i = 0; t->columns[i].title != NULL; i++) {
		const struct column *c = &t->columns[i];
		int width = t->widths[i];
		enum grid_style style = STYLE_PLAIN;
		cleanup_buf struct buf text = BUF_INIT;

		if (width == 0)
			continue;
		add_cell(c, t->clock, at, &text);
		if (c->add == add_state)
			style = top_word_style(text.data);
		if (is_what(c))
			width = draw_note(t, at, line, column, width);
		draw_text(t, line, column, width, c->right, text.data, style);
		column += t->widths[i] + c->gap;
	}
}

/* --- headlines ------------------------------------------------------- */

/* Does a section begin with this row? */
static bool
begins(const struct top_rows *rows, const struct top_ui *ui, size_t i)
{
	return (ui->screen == TOP_TASKS || ui->screen == TOP_FAILURES ||
		   is_of(&rows->rows[0], VIEW_HOSTS)) &&
	    (i == 0 || !is_of(&rows->rows[i], rows->rows[i - 1].section));
}

int
top_list_lines(const struct top_rows *rows, const struct top_ui *ui)
{
	int lines = 0;

	for (size_t i = 0; i < rows->count; i++)
		lines += begins(rows, ui, i) ? 2 : 1;
	return lines > 0 ? lines : 1;
}

static void
draw_headline(
    const struct table *t, const struct top_rows *rows, size_t first, int line)
{
	static const struct {
		const char *section, *words;
	} names[] = {
		{ VIEW_HOSTS, "hosts" },
		{ "workers", "workers" },
		{ "goals", "goals" },
		{ "landing", "landing queue" },
		{ "tasks", "tasks" },
		{ "todo", "not taken yet" },
		{ "ended", "ended" },
		{ "needs", "needs you" },
		{ "repairs", "failures and repairs" },
	};
	const char *section = rows->rows[first].section, *words = section;
	cleanup_free char *text = NULL;
	size_t count = 0;

	for (size_t i = first;
	     i < rows->count && is_of(&rows->rows[i], section); i++)
		count++;
	for (size_t i = 0; i < nitems(names); i++)
		if (strcmp(names[i].section, section) == 0)
			words = names[i].words;
	text = xasprintf("-- %s %zu ", words, count);
	for (int i = 0; i < t->region.columns; i++)
		draw_text(t, line, i, 1, false, "-", STYLE_DIM);
	draw_text(t, line, 0, t->region.columns, false, text, STYLE_DIM);
}

/* --- the list -------------------------------------------------------- */

static int
line_of(const struct top_rows *rows, const struct top_ui *ui, size_t row)
{
	int line = 0;

	for (size_t i = 0; i < row; i++)
		line += begins(rows, ui, i) ? 2 : 1;
	return line + (rows->count > 0 && begins(rows, ui, row) ? 1 : 0);
}

/* Scroll as little as it takes to show the chosen line, with the headline
 * before the first row. */
static void
scroll(struct top_ui *ui, int chosen, int lines, int rows)
{
	if (ui->first > lines - rows)
		ui->first = lines - rows;
	if (ui->first < chosen - rows + 1)
		ui->first = chosen - rows + 1;
	if (ui->first > chosen)
		ui->first = chosen;
	if (chosen <= 1 && chosen < rows)
		ui->first = 0;
	if (ui->first < 0)
		ui->first = 0;
	ui->list_rows = rows;
}

void
top_list_draw(const struct top_rows *rows, struct top_ui *ui,
    struct top_clock *clock, struct grid *grid, struct top_region region,
    bool titles)
{
	struct table t = { columns[ui->screen], { 0 }, clock, grid, region };
	size_t chosen = top_rows_chosen(rows, ui);
	int line = 0, top = region.row + (titles ? 1 : 0);
	int height = region.rows - (titles ? 1 : 0);

	if (region.rows <= 0 || region.columns <= 0)
		return;
	make_columns(&t, rows);
	if (titles) {
		int column = 1;

		for (int i = 0; t.columns[i].title != NULL; i++) {
			if (t.widths[i] == 0)
				continue;
			draw_text(&t, t.region.row, column, t.widths[i],
			    t.columns[i].right, t.columns[i].title, STYLE_BOLD);
			column += t.widths[i] + t.columns[i].gap;
		}
	}
	scroll(ui, line_of(rows, ui, chosen), top_list_lines(rows, ui), height);
	if (rows->count == 0 && height > 0) {
		static const char *const words[TOP_SCREENS] = {
			[TOP_WORKERS] = "no workers",
			[TOP_TASKS] = "no tasks",
			[TOP_EVENTS] = "nothing has happened yet",
			[TOP_FAILURES] = "no failures",
		};
		cleanup_buf struct buf text = BUF_INIT;

		buf_adds(&text, words[ui->screen]);
		if (rows->hidden > 0 && ui->filter.len > 0)
			buf_addf(&text, " with \"%s\"; Esc shows %zu",
			    ui->filter.data, rows->hidden);
		else if (rows->hidden > 0)
			buf_addf(
			    &text, " that need you; p shows %zu", rows->hidden);
		draw_text(
		    &t, top, 1, t.region.columns, false, text.data, STYLE_DIM);
	}
	for (size_t i = 0; i < rows->count && line - ui->first < height; i++) {
		int at;

		if (begins(rows, ui, i)) {
			at = line++ - ui->first;
			if (at >= 0)
				draw_headline(&t, rows, i, top + at);
		}
		at = line++ - ui->first;
		if (at < 0 || at >= height)
			continue;
		draw_row(&t, &rows->rows[i], top + at);
		if (i != chosen)
			continue;
		grid_restyle(grid, top + at, region.column, region.columns,
		    STYLE_REVERSE);
		grid_text(grid, top + at, region.column, 1, ">", STYLE_REVERSE);
	}
}
