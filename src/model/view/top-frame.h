/* SPDX-License-Identifier: ISC */

/*
 * One frame of llmc top: a pure function of the view, of what a person has
 * chosen to see, and of the time.
 */
#ifndef TOP_FRAME_H
#define TOP_FRAME_H

#include "top-ui.h"

struct grid;
struct json_object;
struct top_lines;

/* Borrowed from the view, except the name. */
struct top_row {
	char *name; /* "section/key", unique */
	const char *section, *key;
	struct json_object *row;
	bool needs; /* somebody */
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
	int64_t lost_ms; /* since when it does not; 0 = it never did */
	int64_t beat_ms; /* when it last wrote its heartbeat; 0 = unknown */
	int64_t now_ms; /* wall clock */
	int utc_offset_s; /* of the local time */
};

/* Fill the grid, of any size. The ui's positions are brought into what there is
 * to show. */
void top_frame(struct json_object *view, struct top_ui *ui,
    const struct top_facts *facts, struct grid *grid);

/* The wall clock time at which the last frame will look different although
 * nothing has happened: draw another one then. INT64_MAX = never. */
int64_t top_next_change_ms(const struct top_ui *ui);

#endif
