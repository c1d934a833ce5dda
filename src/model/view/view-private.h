/* SPDX-License-Identifier: ISC */

/* What the files of this folder share, with the headers that most of them use.
 * All of it is pure. */
#ifndef VIEW_PRIVATE_H
#define VIEW_PRIVATE_H

#include "json-short.h"
#include "top.h"
#include "view.h"

/* --- charts ------------------------------------------------------------- */

/* Round moments of local time in a period, at most about `room`. */
struct charts_tick {
	int64_t at; /* milliseconds after its beginning */
	char words[8]; /* "09:15" or "01-31" */
};

size_t charts_ticks(int64_t from_ms, int64_t wall_ms, int room,
    struct charts_tick *ret_ticks, size_t max);

/* "per hour", "per 5m" */
void charts_add_step(struct json_object *charts, struct buf *out);

/* --- the words of llmc top, and lines of them --------------------------- */

struct top_clock {
	int64_t now_ms; /* wall clock */
	int utc_offset_s;
	int64_t next_ms; /* when something that was added changes */
};

/* "12s", "4m", "1h", "3d": at most four columns; "-" for the moment 0. */
void top_add_age(struct top_clock *clock, int64_t since_unix, struct buf *out);
/* The same with two units from an hour on: "9h12m". */
void
top_add_uptime(struct top_clock *clock, int64_t since_unix, struct buf *out);

/* "06:58", or "11-16" for another day; "-" for the moment 0. */
void top_add_moment(struct top_clock *clock, int64_t at_unix, struct buf *out);

/* The time of day now. */
void top_add_now(struct top_clock *clock, struct buf *out);

/* "2026-01-31" of days since 1970. */
void top_add_day(int64_t days, struct buf *out);

/* "7s", "12m", "3h20m", for a length of time. */
void top_add_length(int64_t ms, struct buf *out);

/* The same for one that goes on: so much, and the time since a moment. */
void top_add_running(
    struct top_clock *clock, int64_t ms, int64_t from_ms, struct buf *out);

/* "999", "4.1k", "4.1M", "12G". */
void top_add_count(int64_t count, struct buf *out);

/* The cost of a row in at most six columns: "0.41", "~0.41" for an estimate,
 * "?" if it is unknown. */
void top_add_cost(struct json_object *row, struct buf *out);

/* The same for a sentence: "$0.41", "$0.41 est.", "?". */
void top_add_cost_words(struct json_object *row, struct buf *out);

/* "18.40" of millionths. */
void top_add_dollars(int64_t micros, struct buf *out);

struct top_line {
	char *text;
	enum grid_style style;
	int label; /* columns at its beginning that are a label */
	int64_t next_ms; /* when it is different */
};

struct top_lines {
	int width;
	struct top_line *lines;
	size_t count, cap;
	struct top_clock *clock;
	int64_t next_ms; /* of the clock, with the lines that were drawn */
};

/* clock: that the texts are made with; only the lines that are drawn count for
 * its next_ms, which is right again after the release. */
void
top_lines_init(struct top_lines *lines, int width, struct top_clock *clock);
void top_lines_release(struct top_lines *lines);

/* Wrapped, with `indent` columns before each line. A text that is NULL or empty
 * adds nothing. */
void top_lines_add(struct top_lines *lines, int indent, enum grid_style style,
    const char *text);

/* A label, and the text beside it; nothing without a text. */
void top_lines_field(struct top_lines *lines, const char *label,
    enum grid_style style, const char *text);

/* An empty line and a headline. */
void top_lines_head(struct top_lines *lines, const char *words);

/* Lines from `first` on, as many as fit. */
void top_lines_draw(struct top_lines *lines, int first, struct grid *grid,
    int row, int column, int rows);

/* --- its first lines, and the last one --------------------------------- */

/* Draw the first lines. Returns how many. view: as top_ui_view() says. */
int top_head_draw(struct json_object *view, const struct top_ui *ui,
    const struct top_facts *facts, struct top_clock *clock, struct grid *grid);

/* Draw the last line, at this row; a long notice covers rows above it. */
void top_foot_draw(const struct top_ui *ui, struct grid *grid, int row);

/* --- its lists --------------------------------------------------------- */

/* The lists of llmc top: a table of columns for each screen, of which the less
 * important ones are left out where there is no room. Pure. */

/* A part of the grid, perhaps empty. */
struct top_region {
	int row, column, rows, columns;
};

/* How many lines the list has: rows, and headlines between them. */
int top_list_lines(const struct top_rows *rows, const struct top_ui *ui);

/* Draw the list into the region, its titles on the first line if `titles`.
 * ui->first and ui->list_rows are set so that the chosen row is shown. */
void top_list_draw(const struct top_rows *rows, struct top_ui *ui,
    struct top_clock *clock, struct grid *grid, struct top_region region,
    bool titles);

/* How a status, a step, an outcome or a level is drawn. */
enum grid_style top_word_style(const char *word);

/* What a host does now, on one line. */
void view_host_words(struct json_object *row, struct buf *out);

/* --- all about one row ------------------------------------------------- */

/* All that is known about one row of llmc top: a worker, a task, an entry of
 * the landing queue, a goal with its tree, a failure, an event. Pure. */

void top_detail_add(struct json_object *view, const struct top_row *at,
    struct top_clock *clock, struct top_lines *lines);

#endif
