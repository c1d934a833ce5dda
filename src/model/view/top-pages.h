/* SPDX-License-Identifier: ISC */

/* The pages of llmc top that are about no row: what it costs, what the keys and
 * words mean. Pure. */
#ifndef TOP_PAGES_H
#define TOP_PAGES_H

struct json_object;
struct top_lines;

void top_cost_add(struct json_object *view, struct top_lines *lines);
void top_help_add(struct top_lines *lines);

#endif
