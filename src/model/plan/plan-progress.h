/* SPDX-License-Identifier: ISC */

/*
 * What follows from the statuses of a plan's nodes: which may begin, what the
 * status of those above them is, and how far the plan is. Pure.
 */
#ifndef PLAN_PROGRESS_H
#define PLAN_PROGRESS_H

#include "schema.h"
#include "work-record.h"

struct buf;
struct err;
struct json_object;
struct plan;
struct plan_changes;
struct plan_node;
struct plan_set;
struct schema;
struct strmap;
struct table;

/* --- dependencies ---------------------------------------------------- */

/*
 * Which node waits for which: its own dependencies, those of the nodes above
 * it, and, if it has children, all of them. Pure. A dependency on a cancelled
 * node is fulfilled, as a cancelled child is ignored; one on a node that does
 * not exist is not.
 */

/* API_E_CYCLE with the nodes that wait for each other; O(nodes and
 * dependencies). The nodes of `as_one` (NULL terminated, may be NULL) count as
 * one node whose dependencies inside do not matter: would it be a cycle if they
 * were merged? */
int plan_deps_check(
    const struct plan *plan, struct plan_node *const *as_one, struct err *err);

/* The first dependency of the node itself that is not fulfilled; NULL = none.
 * One that does not exist gives the node itself. */
const struct plan_node *
plan_deps_missing(const struct plan *plan, const struct plan_node *node);

/* The same for the node and all above it. */
const struct plan_node *
plan_deps_waits(const struct plan *plan, const struct plan_node *node);

/* --- rollup ---------------------------------------------------------- */

/*
 * The status of a node with children follows from them, and that of the goal
 * from its phases. Pure.
 *
 *   no child but cancelled ones            cancelled
 *   every other child done                 done
 *   a child in progress                    in_progress
 *   every open child blocked               blocked, for the first one's reason
 *   a child done, or started before        in_progress
 *   a child queued                         queued
 *   otherwise                              todo
 *
 * A node without children has its own status, also a phase or a task. An
 * overridden node keeps its status whatever its children do; so does a goal
 * that was completed by an override. A goal is completed when every phase is
 * done, cancelled ones aside, and active again when that no longer holds.
 * Cancelled and archived goals stay what they are. One for agents that another
 * agent asked for is cancelled when all of them are: no other agent adds to it.
 */

/* The whole plan, in O(n). */
void
plan_rollup(struct plan *plan, int64_t now_ms, struct plan_changes *changes);

/* After this node was changed: those above it, and the goal. */
void plan_rollup_from(struct plan *plan, struct plan_node *node, int64_t now_ms,
    struct plan_changes *changes);

/* --- what can be worked on now ---------------------------------------- */

/*
 * Nodes without children, todo or queued, not assigned, of active goals, whose
 * dependencies and those of the nodes above them are fulfilled. Nothing below
 * an overridden node that is blocked, done or cancelled is ready.
 */

struct plan_ready {
	struct plan *plan;
	struct plan_node *node;
	enum priority priority;
};

bool plan_node_ready(const struct plan *plan, const struct plan_node *node);

/* Why it is not to be worked on any more; NULL = it is wanted. plan, node: NULL
 * = gone. assigned: for its worker, not for a new one. */
const char *plan_why_unwanted(
    const struct plan *plan, const struct plan_node *node, bool assigned);
/* Nothing is begun on it for now, but later. */
bool plan_node_held_back(const struct plan *plan, const struct plan_node *node);

/* All ready nodes of the set: by priority, then by the order of the goals, then
 * by that of the plan. O(n); the caller frees the array. Returns the count. */
size_t plan_ready_list(const struct plan_set *set, struct plan_ready **ret);

/* Queue what is todo and ready in this plan, and roll up. */
void plan_ready_queue(
    struct plan *plan, int64_t now_ms, struct plan_changes *changes);

/* Is the planner to make a plan for this goal? Not if it gave up, until a
 * person asks again. */
bool planner_is_due(const struct plan *plan);

/* Add the ids of the nodes that would stay as they are when the plan becomes
 * another one (plan-revise.h). */
void plan_replan_kept(const struct plan *plan, struct strmap *kept);

/* --- the summary --------------------------------------------------------- */

/* How far a plan, or a part of it, is: its leaves by status. Pure. Leaves below
 * an overridden node that is done or cancelled count as that. */

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
