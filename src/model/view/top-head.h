/* SPDX-License-Identifier: ISC */

/* The first lines of llmc top: the daemon, the budget, what needs a person; and
 * the last one: keys, or what is asked. Pure. */
#ifndef TOP_HEAD_H
#define TOP_HEAD_H

struct grid;
struct json_object;
struct top_clock;
struct top_facts;
struct top_ui;

/* Draw the first lines. Returns how many. view: as top_ui_view() says. */
int top_head_draw(struct json_object *view, const struct top_ui *ui,
    const struct top_facts *facts, struct top_clock *clock, struct grid *grid);

/* Draw the last line, at this row; a long notice covers rows above it. */
void top_foot_draw(const struct top_ui *ui, struct grid *grid, int row);

#endif
