/* SPDX-License-Identifier: ISC */

/*
 * What programs are told with every event about a plan, and with mail about it:
 *
 *   epic_id       the goal
 *   plan_id       a ULID, the same for all versions of the plan of a goal
 *   version       1 when the plan is created, one more with each change
 *   source        overseer, agent or human
 *   reason        initial_create, replan or guard_violation
 *   workspace_id  of the repository on this machine
 *   priority      low, normal or high
 *   trace_id      of the request that it follows from, if there is one
 *
 * Pure.
 */
#ifndef PLAN_META_H
#define PLAN_META_H

#include "id.h"

struct json_object;
struct plan_goal;

/* The one in the goal's id, or one that follows from it. */
void plan_meta_plan_id(const struct plan_goal *goal, char out[ID_ULID_SIZE]);

/* Who is behind a change by this actor: the daemon and its planner, a person,
 * or an agent (a worker's name, or an actor id). */
const char *plan_meta_source(const char *actor);

struct plan_meta {
	int64_t version;
	const char *actor; /* who made the change */
	const char *reason; /* NULL: it follows from the version */
	const char *trace_id; /* may be NULL */
	const char *root; /* of the repository; may be NULL */
};

/* The object; owned by the caller. */
struct json_object *
plan_meta_json(const struct plan_goal *goal, const struct plan_meta *meta);

#endif
