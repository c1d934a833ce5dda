/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "view-private.h"

#define HANGS_MS    30000 /* without a heartbeat, which comes every 16 s */
#define BAR_COLUMNS 5
#define ROOMY       100 /* columns for less important words */
#define ALL_KEYS    132 /* for all keys on the last line */
#define NARROW      60 /* columns below which only a few words fit */
#define NEEDS_TALL  30 /* rows of a screen that has a line for each need, */
#define NEEDS_LINES 5 /* up to so many */

struct head {
	struct json_object *view;
	const struct top_ui *ui;
	const struct top_facts *facts;
	struct top_clock *clock;
	struct grid *grid;
};

/* room: columns that are seen. */
static void
add_daemon(
    const struct head *h, struct json_object *head, int room, struct buf *out)
{
	int64_t next_ms = h->clock->next_ms;

	if (!h->facts->live) {
		buf_adds(out,
		    h->facts->lost_ms > 0 || h->facts->there ?
			"  autod does not answer" :
			"  autod is not running");
		return;
	}
	buf_adds(out, h->grid->columns < NARROW ? "  up " : "  autod up ");
	room -= grid_text_width(out->data);
	top_add_uptime(h->clock, json_int_or(head, "started_unix", 0), out);
	if (room <= 0)
		h->clock->next_ms = next_ms;
	if (h->grid->columns >= NARROW)
		buf_addf(
		    out, " lag %" PRId64 "ms", json_int_or(head, "lag_ms", 0));
	if (json_bool_or(head, "stopping", false))
		buf_adds(out, " stopping");
	else if (json_string_or(head, "paused", NULL) != NULL)
		buf_adds(out, " paused");
	else if (json_string_or(head, "held", NULL) != NULL)
		buf_adds(out, " waits");
	if (h->grid->columns >= NARROW) {
		struct json_object *overseer = json_member(head, "overseer");

		if (!json_bool_or(head, "overseen", false))
			buf_adds(out, "  no overseer");
		else if (view_is(overseer, "state", "Running"))
			buf_adds(out, "  overseer ok");
		else
			buf_addf(out, "  overseer %s",
			    json_string_or(overseer, "state", "starting"));
	}
}

/* Since when a daemon that is there has done nothing; 0 = it does. One without
 * auto mode writes no heartbeat, but an earlier one may have. */
static int64_t
hangs_since_unix(const struct head *h)
{
	int64_t started_unix =
	    json_int_or(view_of(h->view, "head"), "started_unix", 0);
	int64_t beat_unix = h->facts->beat_ms / 1000;

	return beat_unix >= started_unix && beat_unix > 0 &&
		h->facts->now_ms - h->facts->beat_ms >= HANGS_MS ?
	    beat_unix :
	    0;
}

static enum grid_style
add_live(const struct head *h, struct buf *out)
{
	if (h->ui->frozen != NULL) {
		buf_adds(out, "[frozen]");
		return STYLE_WARN;
	}
	if (h->facts->live && hangs_since_unix(h) > 0) {
		buf_adds(out, "[hangs ");
		top_add_age(h->clock, hangs_since_unix(h), out);
		buf_addc(out, ']');
		return STYLE_BAD;
	}
	if (h->facts->live) {
		buf_adds(out, "[live]");
		return STYLE_GOOD;
	}
	buf_adds(out, "[lost");
	if (h->facts->lost_ms > 0) {
		buf_addc(out, ' ');
		top_add_age(h->clock, (h->facts->lost_ms + 999) / 1000, out);
	}
	buf_addc(out, ']');
	return STYLE_BAD;
}

/* --- the budget ------------------------------------------------------ */

/* How much of a limit is used, in parts of the bar; -1 = there is none. */
static int
bar_parts(int64_t used, int64_t limit)
{
	if (limit <= 0)
		return -1;
	if (used >= limit)
		return BAR_COLUMNS;
	return used <= 0 ? 0 :
			   (int)((double)used / (double)limit * BAR_COLUMNS);
}

/* The budget of a day is for all hosts of a fleet. */
static int64_t
spent_cost(struct json_object *budget)
{
	return json_int_or(budget, "cost_micros", 0) +
	    json_int_or(budget, "cost_others_micros", 0);
}

static int64_t
spent_tokens(struct json_object *budget)
{
	return json_int_or(budget, "tokens", 0) +
	    json_int_or(budget, "tokens_others", 0);
}

static void
add_bar(struct json_object *budget, struct buf *out)
{
	int cost = bar_parts(
	    spent_cost(budget), json_int_or(budget, "day_cost_micros", 0));
	int tokens = bar_parts(
	    spent_tokens(budget), json_int_or(budget, "day_tokens", 0));
	int parts = cost > tokens ? cost : tokens;

	if (parts < 0)
		return;
	buf_addc(out, ' ');
	for (int i = 0; i < BAR_COLUMNS; i++)
		buf_addc(out, i < parts ? '#' : '-');
}

/* The budget's day is the local one, those of the book are UTC's: the last of
 * them says how the figure is known. */
static void
add_money(struct json_object *budget, bool narrow, struct buf *out)
{
	struct json_object *days = json_member(budget, "days");
	size_t count = json_length(days);
	struct json_object *day =
	    count > 0 ? json_object_array_get_idx(days, count - 1) : NULL;
	int64_t limit = json_int_or(budget, "day_cost_micros", 0);
	int64_t micros = spent_cost(budget);

	buf_adds(out, "today ");
	if (micros <= 0 && spent_tokens(budget) > 0) {
		buf_addc(out, '?');
	} else {
		buf_addc(out, '$');
		top_add_dollars(micros, out);
		if (micros > 0 &&
		    (!view_is(day, "cost_source", "reported") ||
			json_int_or(budget, "cost_others_micros", 0) > 0))
			buf_adds(out, " est.");
		if (json_int_or(day, "unpriced", 0) > 0)
			buf_adds(out, " +?");
	}
	if (limit > 0) {
		buf_adds(out, " /");
		if (limit % 1000000 == 0)
			buf_addf(out, "%" PRId64, limit / 1000000);
		else
			top_add_dollars(limit, out);
	}
	if (narrow)
		return;
	add_bar(budget, out);
	buf_adds(out, "  ");
	top_add_count(spent_tokens(budget), out);
	if (json_int_or(budget, "day_tokens", 0) > 0) {
		buf_addc(out, '/');
		top_add_count(json_int_or(budget, "day_tokens", 0), out);
	}
	buf_adds(out, " tok");
}

/* Rows of a section whose member is this word, or, for NULL, is missing. */
static int
count_rows(struct json_object *rows, const char *member, const char *word)
{
	int count = 0;

	JSON_MEMBERS (it, rows) {
		const char *value = json_string_or(it.val, member, NULL);

		if (word == NULL ? value == NULL : text_is(value, word))
			count++;
	}
	return count;
}

/* Of this run, or of all that is known without one. */
static int
count_ended(struct json_object *view, const char *outcome)
{
	const char *run = json_string_or(view_of(view, "head"), "run_id", NULL);
	int count = 0;

	JSON_MEMBERS (it, view_of(view, "ended"))
		if (view_is(it.val, "outcome", outcome) &&
		    (run == NULL || view_is(it.val, "run_id", run)))
			count++;
	return count;
}

static void
draw_budget(const struct head *h, int row)
{
	struct json_object *tasks = view_of(h->view, "tasks");
	int64_t todo = json_int_or(view_of(h->view, "head"), "todo", -1);
	int limited =
	    count_rows(view_of(h->view, "workers"), "status", "limited");
	int landing = json_object_object_length(view_of(h->view, "landing"));
	cleanup_buf struct buf text = BUF_INIT;

	add_money(view_of(h->view, "budget"), h->grid->columns < NARROW, &text);
	buf_addf(&text, "  %slanded %d failed %d",
	    h->grid->columns >= NARROW &&
		    json_string_or(view_of(h->view, "head"), "run_id", NULL) !=
			NULL ?
		"run: " :
		"",
	    count_ended(h->view, "landed"),
	    count_ended(h->view, "failed") + count_ended(h->view, "aborted") +
		count_ended(h->view, "dead-letter"));
	buf_addf(&text, " queue %" PRId64 "%s",
	    count_rows(tasks, "worker", NULL) + (todo > 0 ? todo : 0),
	    todo < 0 ? "+" : "");
	if (landing > 0 && h->grid->columns >= ROOMY)
		buf_addf(&text, " landing %d", landing);
	if (limited > 0)
		buf_addf(
		    &text, "  %d limit%s", limited, limited == 1 ? "" : "s");
	grid_text(h->grid, row, 0, h->grid->columns, text.data, STYLE_PLAIN);
}

/* --- what needs a person --------------------------------------------- */

static void
add_need(struct json_object *need, struct buf *out)
{
	const char *what = json_string_or(need, "what", "");
	const char *words = json_string_or(need, "words", what);

	buf_addf(out, "%s %s", json_string_or(need, "who", "?"), what);
	if (strcmp(words, what) != 0)
		buf_addf(out, ": %s", words);
}

/* A line for each, with what to type, where there is room; else all of them on
 * one line. Returns how many lines. */
static int
draw_needs(const struct head *h, int row)
{
	cleanup_json struct json_object *needs = view_needs_list(h->view);
	size_t count = json_object_array_length(needs), lines = 0;
	cleanup_free char *title = xasprintf("!NEEDS YOU %zu  ", count);
	cleanup_buf struct buf all = BUF_INIT;
	int columns = h->grid->columns, indent = (int)strlen(title);

	if (count == 0 && h->grid->rows < 8)
		return 0;
	if (count == 0) {
		grid_text(
		    h->grid, row, 0, columns, " nothing needs you", STYLE_DIM);
		return 1;
	}
	grid_text(h->grid, row, 0, columns, title, STYLE_BAD);
	for (size_t i = 0; h->grid->rows < NEEDS_TALL && i < count; i++) {
		buf_adds(&all, i > 0 ? " | " : "");
		add_need(json_object_array_get_idx(needs, i), &all);
	}
	if (all.len > 0) {
		grid_text(h->grid, row, indent, columns - indent, all.data,
		    STYLE_BAD);
		return 1;
	}
	for (; lines < count && lines < NEEDS_LINES; lines++) {
		struct json_object *need =
		    json_object_array_get_idx(needs, lines);
		const char *command = json_string_or(need, "command", "");
		int at = row + (int)lines;
		cleanup_buf struct buf text = BUF_INIT;

		add_need(need, &text);
		grid_text(h->grid, at, indent,
		    columns - indent - grid_text_width(command) - 2, text.data,
		    STYLE_BAD);
		grid_text_right(h->grid, at, 0, columns, command, STYLE_BOLD);
	}
	return (int)lines;
}

int
top_head_draw(struct json_object *view, const struct top_ui *ui,
    const struct top_facts *facts, struct top_clock *clock, struct grid *grid)
{
	struct head h = { view, ui, facts, clock, grid };
	int row = 1;
	struct json_object *head = view_of(h.view, "head");
	cleanup_buf struct buf left = BUF_INIT, right = BUF_INIT;
	int columns = h.grid->columns, end;
	enum grid_style style;

	style = add_live(&h, &right);
	end = columns - grid_text_width(right.data);
	grid_text_right(h.grid, 0, 0, columns, right.data, style);
	if (columns >= 40) {
		buf_clear(&right);
		top_add_now(h.clock, &right);
		end -= 2 + (int)right.len;
		grid_text(h.grid, 0, end, columns, right.data, STYLE_PLAIN);
	}
	if (columns >= 70)
		buf_adds(&left, "llmc top  ");
	buf_addf(&left, "%s@%s", json_string_or(head, "project", "?"),
	    json_string_or(head, "branch", "?"));
	add_daemon(&h, head, end - 1, &left);
	grid_text(h.grid, 0, 0, end - 1, left.data, STYLE_TITLE);
	if (grid->rows >= 7)
		draw_budget(&h, row++);
	if (json_int_or(head, "outage_since_unix", 0) > 0 && grid->rows >= 8) {
		buf_clear(&left);
		buf_adds(&left, "!the service does not answer since ");
		top_add_moment(
		    h.clock, json_int_or(head, "outage_since_unix", 0), &left);
		grid_text(h.grid, row++, 0, columns, left.data, STYLE_BAD);
	}
	if (grid->rows >= 4)
		row += draw_needs(&h, row);
	return row;
}

/* --- the last line --------------------------------------------------- */

/* Words before, and the end of a text that is typed, as far as it fits. */
static void
draw_typed(
    struct grid *grid, int row, const char *before, const struct buf *typed)
{
	int width = grid_text(grid, row, 0, grid->columns, before, STYLE_BOLD);
	int room = grid->columns - width - 1;
	const char *text = typed->data;
	size_t left = typed->len;

	while (left > 0 && grid_text_width(text) > room) {
		size_t n = text_utf8_len(text, left);

		n = n > 0 ? n : 1;
		text += n;
		left -= n;
	}
	width += grid_text(grid, row, width, room, text, STYLE_PLAIN);
	grid_text(grid, row, width, 1, "_", STYLE_BOLD);
}

static void
draw_screens(const struct top_ui *ui, struct grid *grid, int row)
{
	static const char *const names[TOP_SCREENS] = { "1workers", "2tasks",
		"3events", "4failures" };
	bool narrow = grid->columns < NARROW;
	int column = 1;
	cleanup_buf struct buf more = BUF_INIT;

	for (int i = 0; i < TOP_SCREENS; i++) {
		if (narrow && (enum top_screen)i != ui->screen)
			continue;
		column += grid_text(grid, row, column, grid->columns, names[i],
		    (enum top_screen)i == ui->screen ? STYLE_REVERSE :
						       STYLE_PLAIN);
		column++;
	}
	if (ui->filter.len > 0)
		buf_addf(&more, "[/%s] ", ui->filter.data);
	if (ui->problems)
		buf_adds(&more, "[problems] ");
	if (ui->sort != TOP_SORT_NAME)
		buf_addf(&more, "[by %s] ", top_sort_words[ui->sort]);
	column += 1 +
	    grid_text(
		grid, row, column + 1, grid->columns, more.data, STYLE_WARN);
	grid_text(grid, row, column, grid->columns,
	    narrow ? "Tab ? q" :
		grid->columns < ALL_KEYS ?
		     "/filter p problems Enter a attach ? q" :
		     "/filter p problems s sort Enter a "
		     "attach l logs $ cost c charts Space freeze "
		     "P R A X M act ? q",
	    STYLE_PLAIN);
}

void
top_foot_draw(const struct top_ui *ui, struct grid *grid, int row)
{
	if (ui->asked != TOP_NOTHING) {
		static const char *const verbs[] = {
			[TOP_PAUSE] = "pause",
			[TOP_RESUME] = "resume",
			[TOP_ACCEPT] = "accept the work of",
			[TOP_REJECT] = "reject the work of",
			[TOP_MESSAGE] = "message to",
		};
		cleanup_free char *words = NULL;

		if (top_asks_text(ui->asked)) {
			words = xasprintf("%s %s (Enter: send, Esc: do not): ",
			    verbs[ui->asked], ui->target);
			draw_typed(grid, row, words, &ui->text);
			return;
		}
		words = xasprintf("%s %s? y: yes, any other key: no",
		    verbs[ui->asked], ui->target);
		grid_text(grid, row, 0, grid->columns, words, STYLE_BOLD);
	} else if (ui->typing) {
		draw_typed(grid, row, "/", &ui->filter);
	} else if (ui->notice != NULL) {
		struct top_clock never = { .next_ms = INT64_MAX };
		struct top_lines lines;
		int count;

		/* On as many lines as it needs, upwards from the last one: an
		 * answer that says what to do is to be read whole. */
		top_lines_init(&lines, grid->columns, &never);
		top_lines_add(&lines, 0, STYLE_BOLD, ui->notice);
		count = (int)lines.count < row ? (int)lines.count : row;
		for (int i = 0; i < count; i++)
			grid_fill(
			    grid, row - i, 0, grid->columns, ' ', STYLE_PLAIN);
		top_lines_draw(&lines, 0, grid, row - count + 1, 0, count);
		top_lines_release(&lines);
	} else if (ui->page != TOP_PAGE_NONE) {
		cleanup_buf struct buf text = BUF_INIT;
		int last = ui->scroll + ui->page_rows;

		buf_adds(&text, " Esc back  ? help");
		if (ui->page_lines > ui->page_rows)
			buf_addf(&text, "  %d-%d of %d lines", ui->scroll + 1,
			    last < ui->page_lines ? last : ui->page_lines,
			    ui->page_lines);
		grid_text(grid, row, 0, grid->columns, text.data, STYLE_PLAIN);
	} else {
		draw_screens(ui, grid, row);
	}
}
