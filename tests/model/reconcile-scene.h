/* SPDX-License-Identifier: ISC */

/* One assignment, A_1 on S1.1.1 of goal_1, and what ticks make of it. */
#ifndef RECONCILE_SCENE_H
#define RECONCILE_SCENE_H

#include "unit.h"
#include "reconcile-world.h"

struct reconcile_scene {
	struct reconcile_world world;
	struct plan_work *one; /* A_1, or what came after it */
	struct reconcile_facts *facts; /* about it */
	struct plan_node *node; /* its */
	struct reconcile_result result; /* of the last tick */
};

extern struct reconcile_scene scene;

/* Its last dispatch was ten seconds ago, if it is not queued. */
void scene_begin(enum assignment_status status);
void scene_end(void);

/* A tick, so much later than the last one. */
void scene_tick(int64_t later_ms);

/* The only decision, which must be of this kind. */
const struct reconcile_decision *scene_decided(enum reconcile_kind kind);

/* Was there an event of this type? */
bool scene_told(const char *type);

/* Owned by the caller. */
struct update *scene_update(const char *json);

#endif
