/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "charts.h"
#include "quota.h"
#include "view-private.h"

#define MOST_SHOWN 10 /* tasks that cost most */

/* --- what it costs --------------------------------------------------- */

static void
add_limits(struct json_object *budget, struct top_lines *lines)
{
	int64_t tokens = json_int_or(budget, "day_tokens", 0);
	int64_t micros = json_int_or(budget, "day_cost_micros", 0);
	cleanup_buf struct buf text = BUF_INIT;

	if (micros > 0) {
		buf_addc(&text, '$');
		top_add_dollars(micros, &text);
	}
	if (tokens > 0) {
		buf_adds(&text, text.len > 0 ? ", " : "");
		top_add_count(tokens, &text);
		buf_adds(&text, " tokens");
	}
	buf_adds(&text, text.len > 0 ? " a day, for auto mode" : "none");
	top_lines_field(lines, "limit", STYLE_PLAIN, text.data);
}

/* What the account has used of its windows, as sessions report it. */
static void
add_windows(struct json_object *budget, struct top_clock *clock,
    struct top_lines *lines)
{
	struct json_object *windows = json_object_object_get(budget, "windows");

	for (int i = 0; i < WINDOW_COUNT; i++) {
		struct json_object *row = NULL, *used = NULL;
		cleanup_buf struct buf text = BUF_INIT;
		int64_t resets;

		json_object_object_get_ex(windows, window_words[i], &row);
		resets = json_int_or(row, "resets_unix", 0);
		if (!json_object_object_get_ex(row, "used_percent", &used) ||
		    resets * 1000 <= clock->now_ms) {
			buf_adds(&text, "not known");
		} else {
			buf_addf(&text, "%.0f%% used, resets ",
			    json_object_get_double(used));
			top_add_moment(clock, resets, &text);
		}
		top_lines_field(lines,
		    i == WINDOW_FIVE_HOUR ? "5 hours" : "7 days", STYLE_PLAIN,
		    text.data);
	}
}

/* The tasks that cost most. */
static void
add_tasks(struct json_object *view, struct top_lines *lines)
{
	struct top_ui ui;
	struct top_rows rows;
	size_t shown = 0;

	top_ui_init(&ui);
	ui.screen = TOP_TASKS;
	ui.sort = TOP_SORT_COST;
	top_rows_make(&ui, view, &rows);
	top_lines_head(lines, "TASKS THAT COST MOST, OPEN AND ENDED");
	for (size_t i = 0; i < rows.count; i++) {
		const struct top_row *at = &rows.rows[i];
		cleanup_buf struct buf text = BUF_INIT;

		if (i > 0 && strcmp(at->section, at[-1].section) != 0)
			shown = 0;
		if ((strcmp(at->section, "tasks") != 0 &&
			strcmp(at->section, "ended") != 0) ||
		    shown++ >= MOST_SHOWN)
			continue;
		top_add_cost_words(at->row, &text);
		buf_addf(&text, "  %s  %s",
		    json_string_or(at->row, "outcome",
			json_string_or(at->row, "step", "")),
		    json_string_or(at->row, "title", ""));
		top_lines_field(lines, at->key, STYLE_PLAIN, text.data);
	}
	top_rows_release(&rows);
	top_ui_release(&ui);
}

static void
top_cost_add(
    struct json_object *view, struct top_clock *clock, struct top_lines *lines)
{
	struct json_object *budget = view_of(view, "budget");
	struct json_object *days;
	size_t count;

	top_lines_add(lines, 0, STYLE_TITLE, "COST");
	add_limits(budget, lines);
	add_windows(budget, clock, lines);
	days = json_object_object_get(budget, "days");
	count = json_object_is_type(days, json_type_array) ?
	    json_object_array_length(days) :
	    0;
	top_lines_head(lines, "DAYS, WITH WORK BY HAND");
	if (count == 0)
		top_lines_add(lines, 0, STYLE_DIM, "nothing was spent yet");
	for (size_t i = count; i-- > 0;) {
		struct json_object *day = json_object_array_get_idx(days, i);
		cleanup_buf struct buf label = BUF_INIT;
		cleanup_buf struct buf text = BUF_INIT;

		top_add_day(json_int_or(day, "day", 0), &label);
		top_add_cost_words(day, &text);
		buf_adds(&text, ", ");
		top_add_count(json_int_or(day, "tokens", 0), &text);
		buf_addf(&text, " tokens, %" PRId64 " attempt%s",
		    json_int_or(day, "attempts", 0),
		    json_int_or(day, "attempts", 0) == 1 ? "" : "s");
		if (json_int_or(day, "unpriced", 0) > 0) {
			buf_adds(&text, ", and ");
			top_add_count(json_int_or(day, "unpriced", 0), &text);
			buf_adds(&text, " tokens without a price");
		}
		top_lines_field(lines, label.data, STYLE_PLAIN, text.data);
	}
	add_tasks(view, lines);
	top_lines_head(lines, "WHAT THE FIGURES MEAN");
	top_lines_add(lines, 0, STYLE_PLAIN,
	    "est. is computed from tokens and the prices in the settings; "
	    "without it, Claude Code has reported the cost. ? is unknown: a "
	    "model has no price. See: llmc config doc");
}

struct meaning {
	const char *word, *words; /* NULL, and a headline */
};

static const struct meaning meanings[] = {
	{ NULL, "KEYS" },
	{ "1 2 3 4", "workers, tasks, events, failures" },
	{ "Tab", "the next of these; Shift-Tab the one before" },
	{ "arrows", "choose a row; also j k, PgUp PgDn, g G, Home End" },
	{ "Enter", "all about the chosen row, and back" },
	{ "/", "show only rows with some words; Esc shows all" },
	{ "p", "problems: show only rows marked with !" },
	{ "s", "sort by name, age, cost" },
	{ "Space", "freeze what is shown; again: go on" },
	{ "$", "what it costs" },
	{ "c", "charts of the run: time, tasks, money, queue, goals" },
	{ "a", "attach to the worker's terminal" },
	{ "l", "logs of the worker" },
	{ "? F1", "this help" },
	{ "Esc", "back; also q on a page" },
	{ "q F10", "quit; also Ctrl-C. Ctrl-Z stops, Ctrl-L draws anew" },
	{ NULL, "KEYS THAT ACT, AND ASK FIRST" },
	{ "P R", "pause, resume the worker; R also a parked task" },
	{ "A X", "accept, reject finished work" },
	{ "M", "message to the worker" },
	{ NULL, "THE FIRST LINES" },
	{ "up", "how long autod, the daemon of llmc, has been running" },
	{ "lag", "how late it was at most in doing what was due" },
	{ "overseer", "restarts autod if it ends, and has it repaired" },
	{ "[live]", "autod sends every change" },
	{ "[lost]", "autod does not answer: this is what it said last" },
	{ "[hangs]", "autod is there and does nothing: llmc status" },
	{ "[frozen]", "Space was pressed: changes are not shown" },
	{ "today",
	    "of auto mode since midnight: money of its limit, tokens (tok)" },
	{ "est.", "an estimate, by tokens and prices; +? has no price" },
	{ "landed", "tasks of this run whose work is on the branch" },
	{ "failed", "tasks of this run that were given up" },
	{ "queue", "tasks that no worker has" },
	{ "landing", "finished work on its way to the branch" },
	{ "limits", "workers that wait for a usage limit to end" },
	{ "NEEDS YOU",
	    "the most urgent first; 4 shows all, Enter what to type" },
	{ NULL, "COLUMNS AND MARKS" },
	{ ">", "the chosen row" },
	{ "!", "this row needs a person" },
	{ "FOR", "how long it is so; since it ended" },
	{ "TRY", "attempts at the task" },
	{ "TURN", "turns of the agent; of a worker: in this attempt" },
	{ "COST", "in dollars; ~ is an estimate, ? is unknown" },
	{ "[Bash]", "the tool that the agent is running" },
	{ NULL, "STATUS OF A WORKER" },
	{ "idle", "ready, without a task" },
	{ "starting", "it is given its task" },
	{ "working", "it works on its task" },
	{ "needs_review", "finished: decide with A or X" },
	{ "reviewing", "it reviews its own work" },
	{ "rejected", "it works again, after a rejection" },
	{ "rebasing", "it resolves conflicts with the branch" },
	{ "no_changes", "finished without a change" },
	{ "accepting", "its work is landing" },
	{ "paused", "it waits for a person, or for a budget" },
	{ "limited", "it waits for a usage limit or an outage to end" },
	{ "waiting", "it waits for agents that it has spawned" },
	{ "error", "it cannot go on; WHAT says why" },
	{ "offline", "it has no session" },
	{ NULL, "STATE OF A TASK" },
	{ "todo", "in its source; no worker has taken it" },
	{ "offered", "not yet taken from its source" },
	{ "waiting", "for a worker" },
	{ "assigned", "a worker has it" },
	{ "queued", "its work waits in the landing queue" },
	{ "parked",
	    "over its budget, or stopped by oversight; R lets it go on" },
	{ "elsewhere", "another host of the fleet has it" },
	{ "settling", "ended; its source is being updated" },
	{ "landed", "its work is on the branch" },
	{ "no_changes", "ended without a change" },
	{ "failed", "given up" },
	{ "dead-letter", "failed too often, and put aside" },
	{ "aborted", "ended because it went wrong" },
	{ NULL, "STATE IN THE LANDING QUEUE" },
	{ "queued", "others are before it" },
	{ "built", "rebased; no check covers it yet" },
	{ "covered", "a check that is running covers it" },
	{ "green", "passed; it lands next" },
	{ "landing", "the branch is being moved" },
	{ "deferred", "conflicts with one before it" },
	{ "suspect", "failed; it is checked once more" },
	{ "held", "waits for a person, or for a clean checkout" },
	{ "red", "the branch itself fails its check" },
};

void
top_help_add(struct top_lines *lines)
{
	for (size_t i = 0; i < nitems(meanings); i++)
		if (meanings[i].word == NULL)
			top_lines_head(lines, meanings[i].words);
		else
			top_lines_field(lines, meanings[i].word, STYLE_PLAIN,
			    meanings[i].words);
}

#define WIDE_COLUMNS 120 /* from here on, the chosen row's detail is beside */
#define LIST_COLUMNS 80 /* of the list then, at least */
#define EVENTS_FROM  10 /* rows of a body that has room for events */

struct frame {
	struct json_object *view;
	struct top_ui *ui;
	struct top_clock clock;
	struct grid *grid;
	struct top_rows rows;
	bool utf8;
};

/* --- pages ----------------------------------------------------------- */

static void
add_charts(const struct frame *f, struct top_lines *lines)
{
	const struct top_ui *ui = f->ui;
	const struct charts_look look = { .width = lines->width,
		.utf8 = f->utf8 };
	cleanup_buf struct buf text = BUF_INIT;

	if (ui->charts == NULL) {
		top_lines_add(lines, 0, STYLE_DIM,
		    ui->charts_missing != NULL ? ui->charts_missing :
						 "reading the records ...");
		return;
	}
	charts_print(ui->charts, &look, &text);
	top_lines_add(lines, 0, STYLE_PLAIN, text.data + 1);
}

static void
add_page(struct frame *f, struct top_lines *lines)
{
	struct top_ui *ui = f->ui;

	if (ui->page == TOP_PAGE_HELP)
		top_help_add(lines);
	else if (ui->page == TOP_PAGE_COST)
		top_cost_add(f->view, &f->clock, lines);
	else if (ui->page == TOP_PAGE_CHARTS)
		add_charts(f, lines);
	else if (f->rows.count > 0)
		top_detail_add(f->view,
		    &f->rows.rows[top_rows_chosen(&f->rows, ui)], &f->clock,
		    lines);
	else
		top_lines_add(lines, 0, STYLE_DIM, "no row is chosen");
}

static void
draw_page(struct frame *f, struct top_region region)
{
	struct top_ui *ui = f->ui;
	struct top_lines lines;

	top_lines_init(&lines, region.columns - 2, &f->clock);
	add_page(f, &lines);
	ui->page_rows = region.rows > 0 ? region.rows : 0;
	ui->page_lines = (int)lines.count;
	if (ui->scroll > ui->page_lines - ui->page_rows)
		ui->scroll = ui->page_lines - ui->page_rows;
	if (ui->scroll < 0)
		ui->scroll = 0;
	top_lines_draw(&lines, ui->scroll, f->grid, region.row,
	    region.column + 1, region.rows);
	top_lines_release(&lines);
}

/* --- lists ----------------------------------------------------------- */

/* The list at the left, all about the chosen row at the right. */
static void
draw_wide(struct frame *f, struct top_region region)
{
	struct top_region left = region, right = region;
	struct top_lines lines;

	left.columns = region.columns * 9 / 16;
	if (left.columns < LIST_COLUMNS)
		left.columns = LIST_COLUMNS;
	left.columns--;
	top_list_draw(&f->rows, f->ui, &f->clock, f->grid, left, true);
	left.columns++;
	for (int i = 0; i < region.rows; i++)
		grid_text(
		    f->grid, region.row + i, left.columns, 1, "|", STYLE_DIM);
	right.column = left.columns + 2;
	right.columns = region.columns - right.column;
	if (f->rows.count == 0)
		return;
	top_lines_init(&lines, right.columns, &f->clock);
	top_detail_add(f->view, &f->rows.rows[top_rows_chosen(&f->rows, f->ui)],
	    &f->clock, &lines);
	top_lines_draw(&lines, 0, f->grid, right.row, right.column, right.rows);
	top_lines_release(&lines);
}

static void
draw_list(struct frame *f, struct top_region region)
{
	bool wide =
	    region.columns >= WIDE_COLUMNS && region.rows >= EVENTS_FROM + 2;
	bool titles = region.rows >= 3;
	int lines = 1 + top_list_lines(&f->rows, f->ui);
	int known =
	    (int)json_object_array_length(view_of(f->view, VIEW_EVENTS));
	int events = 0;
	struct top_region below = region;
	struct json_object *list;
	size_t count;

	if (f->ui->screen != TOP_EVENTS && region.rows >= EVENTS_FROM)
		events = wide ? region.rows / 4 : region.rows / 3;
	if (events > 1 + known) /* the list may need the room */
		events = 1 + known;
	if (!wide && events > 0 && lines < region.rows - events)
		events = region.rows - lines;
	region.rows -= events;
	below.row += region.rows;
	below.rows = events;
	if (wide)
		draw_wide(f, region);
	else
		top_list_draw(
		    &f->rows, f->ui, &f->clock, f->grid, region, titles);
	/* The newest first. */
	list = view_of(f->view, VIEW_EVENTS);
	count = json_object_array_length(list);
	if (below.rows <= 0)
		return;
	grid_fill(f->grid, below.row, 0, below.columns, '-', STYLE_DIM);
	grid_text(
	    f->grid, below.row, 0, below.columns, "-- events ", STYLE_DIM);
	for (int i = 1; i < below.rows && (size_t)i <= count; i++) {
		struct json_object *event =
		    json_object_array_get_idx(list, count - (size_t)i);
		cleanup_buf struct buf when = BUF_INIT;

		top_add_moment(
		    &f->clock, json_int_or(event, "at_ms", 0) / 1000, &when);
		grid_text(f->grid, below.row + i, 0, below.columns, when.data,
		    STYLE_DIM);
		grid_text(f->grid, below.row + i, 6, below.columns,
		    json_string_or(event, "words", ""),
		    top_word_style(json_string_or(event, "level", "")));
	}
}

void
top_frame(struct json_object *view, struct top_ui *ui,
    const struct top_facts *facts, struct grid *grid)
{
	struct frame f = { .view = top_ui_view(ui, view),
		.ui = ui,
		.grid = grid,
		.utf8 = facts->utf8 };
	struct top_region body = { 0, 0, grid->rows, grid->columns };

	if (ui->frozen != NULL && ui->frozen_ms == 0)
		ui->frozen_ms = facts->now_ms;
	f.clock = (struct top_clock){
		.now_ms = ui->frozen != NULL ? ui->frozen_ms : facts->now_ms,
		.utc_offset_s = facts->utc_offset_s,
		.next_ms = INT64_MAX,
	};
	grid_clear(grid);
	top_rows_make(ui, f.view, &f.rows);
	body.row = top_head_draw(f.view, ui, facts, &f.clock, grid);
	body.rows -= body.row + (grid->rows >= 3 ? 1 : 0);
	if (ui->page != TOP_PAGE_NONE)
		draw_page(&f, body);
	else
		draw_list(&f, body);
	if (grid->rows >= 3)
		top_foot_draw(ui, grid, grid->rows - 1);
	top_rows_release(&f.rows);
	ui->next_change_ms = ui->frozen != NULL ? INT64_MAX : f.clock.next_ms;
}
