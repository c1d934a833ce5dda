/* SPDX-License-Identifier: ISC */

/* A goal as a tree of lines. Pure. */
#ifndef TOP_GOAL_H
#define TOP_GOAL_H

struct json_object;
struct top_lines;

/* row: of the section "goals". */
void top_goal_add(struct json_object *row, struct top_lines *lines);

#endif
