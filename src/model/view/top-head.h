/* SPDX-License-Identifier: ISC */

/* The first lines of llmc top: the daemon, the budget, what needs a person; and
 * the last one: keys, or what is asked. Pure. */
#ifndef TOP_HEAD_H
#define TOP_HEAD_H

#include <stdint.h>

struct buf;
struct grid;
struct json_object;
struct top_facts;
struct top_ui;

struct top_clock {
	int64_t now_ms; /* wall clock */
	int utc_offset_s;
	int64_t next_ms; /* when something that was added changes */
};

/* "12s", "4m", "1h", "3d": at most four columns; "-" for the moment 0. */
void top_add_age(struct top_clock *clock, int64_t since_unix, struct buf *out);

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

/* Draw the first lines. Returns how many. view: as top_ui_view() says. */
int top_head_draw(struct json_object *view, const struct top_ui *ui,
    const struct top_facts *facts, struct top_clock *clock, struct grid *grid);

/* Draw the last line, at this row; a long notice covers rows above it. */
void top_foot_draw(const struct top_ui *ui, struct grid *grid, int row);

#endif
