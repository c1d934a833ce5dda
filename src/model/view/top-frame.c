/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <string.h>

#include "buf.h"
#include "grid.h"
#include "json.h"
#include "top-detail.h"
#include "top-frame.h"
#include "top-head.h"
#include "top-lines.h"
#include "top-list.h"
#include "top-pages.h"
#include "top-rows.h"
#include "top-text.h"
#include "top-ui.h"
#include "view-doc.h"

#define WIDE_COLUMNS 120 /* from here on, the chosen row's detail is beside */
#define LIST_COLUMNS 80 /* of the list then, at least */
#define EVENTS_FROM  10 /* rows of a body that has room for events */

struct frame {
	struct json_object *view;
	struct top_ui *ui;
	struct top_clock clock;
	struct grid *grid;
	struct top_rows rows;
};

/* --- pages ----------------------------------------------------------- */

static void
add_page(struct frame *f, struct top_lines *lines)
{
	struct top_ui *ui = f->ui;

	if (ui->page == TOP_PAGE_HELP)
		top_help_add(lines);
	else if (ui->page == TOP_PAGE_COST)
		top_cost_add(f->view, lines);
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

/* The newest first. */
static void
draw_events(struct frame *f, struct top_region region)
{
	struct json_object *list = view_of(f->view, VIEW_EVENTS);
	size_t count = json_object_array_length(list);

	if (region.rows <= 0)
		return;
	grid_fill(f->grid, region.row, 0, region.columns, '-', STYLE_DIM);
	grid_text(
	    f->grid, region.row, 0, region.columns, "-- events ", STYLE_DIM);
	for (int i = 1; i < region.rows && (size_t)i <= count; i++) {
		struct json_object *event =
		    json_object_array_get_idx(list, count - (size_t)i);
		cleanup_buf struct buf when = BUF_INIT;

		top_add_moment(
		    &f->clock, json_int_or(event, "at_ms", 0) / 1000, &when);
		grid_text(f->grid, region.row + i, 0, region.columns, when.data,
		    STYLE_DIM);
		grid_text(f->grid, region.row + i, 6, region.columns,
		    json_string_or(event, "words", ""),
		    top_word_style(json_string_or(event, "level", "")));
	}
}

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
	draw_events(f, below);
}

void
top_frame(struct json_object *view, struct top_ui *ui,
    const struct top_facts *facts, struct grid *grid)
{
	struct frame f = {
		.view = top_ui_view(ui, view), .ui = ui, .grid = grid
	};
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

int64_t
top_next_change_ms(const struct top_ui *ui)
{
	return ui->next_change_ms;
}
