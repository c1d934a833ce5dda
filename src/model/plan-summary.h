/* SPDX-License-Identifier: ISC */

/* How far a plan, or a part of it, is: its leaves by status. Pure. Leaves below
 * an overridden node that is done or cancelled count as that. */
#ifndef PLAN_SUMMARY_H
#define PLAN_SUMMARY_H

#include "plan-status.h"
#include "schema.h"

struct buf;
struct json_object;
struct plan;
struct plan_node;

struct plan_summary {
	size_t leaves[NODE_STATUS_COUNT];
	size_t total; /* without those that were replaced */
	size_t replaced; /* of the cancelled ones, by other nodes */
	size_t dropped; /* the others of them */
	size_t ready;
	size_t assigned;
	bool planning; /* there is no plan, and the planner is to make one */
	int percent; /* done of the total; 100 only if all are */
};

/* node NULL: the whole plan. */
struct plan_summary
plan_summary(const struct plan *plan, const struct plan_node *node);

/* The status in a word for people: a goal that is completed although leaves of
 * it were dropped is "incomplete". */
const char *plan_summary_word(enum goal_status status, size_t dropped);
/* Of a goal that is completed although leaves of it were cancelled, and nothing
 * replaced them: append "2 of 3 done; not done: T1.3"; else nothing. */
void plan_summary_undone(const struct plan *plan, struct buf *out);

/* {"total", "percent", "ready", "assigned", "todo", "queued", ...}; owned by
 * the caller. */
extern const struct schema plan_summary_schema;
struct json_object *plan_summary_to_json(const struct plan_summary *summary);

#endif
