/* SPDX-License-Identifier: ISC */

/* All that is known about one row of llmc top: a worker, a task, an entry of
 * the landing queue, a goal with its tree, a failure, an event. Pure. */
#ifndef TOP_DETAIL_H
#define TOP_DETAIL_H

#include <stddef.h>
#include <stdint.h>

#include "grid.h"

struct json_object;
struct top_clock;
struct top_row;

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
void top_detail_add(struct json_object *view, const struct top_row *at,
    struct top_clock *clock, struct top_lines *lines);

#endif
