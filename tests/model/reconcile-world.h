/* SPDX-License-Identifier: ISC */

/* Plans, assignments and telemetry for tests and benchmarks of the tick. */
#ifndef RECONCILE_WORLD_H
#define RECONCILE_WORLD_H

#include "base.h"
#include "reconcile.h"
#include "hook-event.h"

#define WORLD_NOW ((int64_t)1000000000)

struct reconcile_world {
	struct plan_set set;
	struct reconcile_config config;
	bool busy;
	struct reconcile_facts *facts; /* one per assignment, in their order */
	size_t fact_count;
	char **ids; /* of their assignments */
	int64_t now_ms;
};

/* A configuration with the vectors' values. */
extern const struct reconcile_config reconcile_world_config;

/* Empty, and at WORLD_NOW. */
void reconcile_world_init(struct reconcile_world *world);
void reconcile_world_release(struct reconcile_world *world);

/* A goal with so many phases, tasks in each and subtasks in each: P1, T1.1,
 * S1.1.1, ... All of it is queued. */
struct plan *reconcile_world_goal(struct reconcile_world *world, const char *id,
    int phases, int tasks, int subtasks);

/* Assign the node to a session of the agent main; it is in progress if that is
 * not queued. */
struct plan_node *
reconcile_world_assign(struct reconcile_world *world, const char *id,
    const char *goal_id, const char *node_id, enum assignment_status status);
/* Who has, or had last, this assignment; NULL = none. */
struct plan_node *
reconcile_world_find(const struct plan_set *set, const char *id);
struct reconcile_facts *
reconcile_world_facts(struct reconcile_world *world, const char *id);

/* One tick; the caller releases the result. */
void reconcile_world_tick(
    struct reconcile_world *world, struct reconcile_result *ret_result);

/* The set through its records and back, as if read from the store. */
void reconcile_world_reload(
    const struct reconcile_world *world, struct reconcile_world *copy);

/* Everything in words, for comparisons. */
void reconcile_world_dump(const struct reconcile_world *world, struct buf *out);
void
reconcile_result_dump(const struct reconcile_result *result, struct buf *out);

#endif
