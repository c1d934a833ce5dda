/* SPDX-License-Identifier: ISC */

/* Plans for tests, from short lines. */
#ifndef PLAN_WORLD_H
#define PLAN_WORLD_H

#include "plan.h"
#include "unit.h"

#define NOW INT64_C(1000000)

/* A plan of goal_1: each line is an id and the ids that it depends on, "S1.2.1
 * S1.1.1 P1". The letter tells the kind and the numbers the parent. NULL
 * terminated. Every node is todo, has one criterion, and the name "name of
 * ID". */
struct plan *plan_world(const char *const *lines);
#define PLAN_WORLD(...) plan_world((const char *const[]){ __VA_ARGS__, NULL })

/* Force a status, past the tables, and roll up. */
void plan_world_set(struct plan *plan, const char *id, enum node_status status);

/* "P1 todo, T1.1 done": every node in the order of the plan. Valid until the
 * next call. */
const char *plan_world_words(const struct plan *plan);

/* The ids of the changed nodes, "T1.1 P1"; "goal" at the end. As above. */
const char *plan_world_changes(const struct plan_changes *changes);

/* A text of the record, for comparing. As above. */
const char *plan_world_json(const struct plan *plan);

#endif
