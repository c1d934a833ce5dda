/* SPDX-License-Identifier: ISC */

/* The sections of the view that other floors give: the landing queue, goals
 * with their plans, and delegation. */
#ifndef EYES_WORK_H
#define EYES_WORK_H

#include <stdint.h>

struct eyes_floor;
struct json_object;

#define EYES_GOALS_MAX 20
#define EYES_NODES_MAX 1500 /* of all of them */

/* Rows of goals that are kept until their goal changes; zeroes are the
 * beginning. */
struct eyes_goals {
	uint64_t marks[EYES_GOALS_MAX];
	struct json_object *rows[EYES_GOALS_MAX]; /* owned */
};

void eyes_goals_release(struct eyes_goals *goals);

/* Fill "landing", "goals", "team", and members of "head". */
void eyes_work_fill(struct eyes_floor *eyes, struct json_object *view);

#endif
