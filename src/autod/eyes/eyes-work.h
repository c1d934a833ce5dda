/* SPDX-License-Identifier: ISC */

/* The sections of the view that other floors give: the landing queue, goals
 * with their plans, and delegation. */
#ifndef EYES_WORK_H
#define EYES_WORK_H

struct eyes_floor;
struct json_object;

#define EYES_GOALS_MAX 20
#define EYES_NODES_MAX 300 /* of one goal */

/* Fill "landing", "goals", "team", and members of "head". */
void eyes_work_fill(struct eyes_floor *eyes, struct json_object *view);

#endif
