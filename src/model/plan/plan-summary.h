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
struct plan_set;
struct schema;
struct table;

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

/* {"total", "percent", "ready", "assigned", "todo", "queued", ...} */
extern const struct schema plan_summary_schema;

/* --- the digest ------------------------------------------------------ */

/* All open goals in a few lines, for llmc status: bounded, whatever the plans.
 * Pure. */

#define PLAN_DIGEST_GOALS 20 /* that are listed */
#define PLAN_DIGEST_TITLE 80 /* bytes of a title */

/* set NULL: goals are off for this reason. The caller owns the object. */
struct json_object *plan_digest(const struct plan_set *set, const char *reason);

extern const struct schema plan_digest_shape;

/* --- the tree -------------------------------------------------------- */

/*
 * A plan for people: one line per node with its progress, what blocks it and
 * who works on it. Pure.
 */

/* "Ship it (goal_1): active, 3 of 10 done (30%), 2 ready, 1 blocked". */
void plan_tree_head(const struct plan *plan, struct buf *out);

/* What there is to say about a node beside its status: why it is blocked, who
 * works on it, what it waits for, how far it is, its commit. */
void plan_tree_note(
    const struct plan *plan, const struct plan_node *node, struct buf *out);

/* All nodes, to be printed at the width of the terminal (table.h); the caller
 * frees it. colour: the SGR parameters of a status, NULL = none. */
struct table *plan_tree(
    const struct plan *plan, const char *(*colour)(enum node_status status));

#endif
