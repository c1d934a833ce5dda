/* SPDX-License-Identifier: ISC */

/* The lists of llmc top: a table of columns for each screen, of which the less
 * important ones are left out where there is no room. Pure. */
#ifndef TOP_LIST_H
#define TOP_LIST_H

#include "grid.h"
#include "top-head.h"
#include "top-ui.h"

struct top_rows;

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

/* What is said about a worker: its task, or why it does not work on it. */
void top_worker_words(
    struct top_clock *clock, struct json_object *row, struct buf *out);

#endif
