/* SPDX-License-Identifier: ISC */

/*
 * The rows of the lists of llmc top, in their order: fixed by name, with
 * numbers as numbers (auto-2 before auto-10), so that no row jumps. Pure.
 */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "top-ui.h"

struct json_object;

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

#endif
