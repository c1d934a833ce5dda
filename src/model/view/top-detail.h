/* SPDX-License-Identifier: ISC */

/* All that is known about one row of llmc top: a worker, a task, an entry of
 * the landing queue, a goal with its tree, a failure, an event. Pure. */
#ifndef TOP_DETAIL_H
#define TOP_DETAIL_H

struct json_object;
struct top_clock;
struct top_lines;
struct top_row;

void top_detail_add(struct json_object *view, const struct top_row *at,
    struct top_clock *clock, struct top_lines *lines);

#endif
