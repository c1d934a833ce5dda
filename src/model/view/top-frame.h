/* SPDX-License-Identifier: ISC */

/*
 * One frame of llmc top: a pure function of the view, of what a person has
 * chosen to see, and of the time.
 */
#ifndef TOP_FRAME_H
#define TOP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct grid;
struct json_object;
struct top_ui;

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
