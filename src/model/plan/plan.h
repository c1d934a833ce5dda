/* SPDX-License-Identifier: ISC */

/*
 * A plan: a goal with its tree of phases, tasks and subtasks; and the set of
 * all plans. Pure. The plan owns the goal and the nodes. Finding a node by its
 * id takes constant time, building a plan of n nodes O(n log n).
 */
#ifndef PLAN_H
#define PLAN_H

#include "buf.h"
#include "plan-goal.h"
#include "plan-node.h"

struct err;
struct json_object;
struct plan_goal;

#define PLAN_NODES_MAX 20000 /* of one goal */

struct plan {
	struct plan_goal *goal;
	struct plan_node **nodes; /* in no order */
	size_t count, room;
	struct plan_node **phases; /* by order */
	size_t phase_count, phase_room;
	struct strmap by_id;
};

/* Takes the goal. */
struct plan *plan_new(struct plan_goal *goal);
void plan_free(struct plan *plan);
struct plan *plan_copy(const struct plan *plan); /* without assignments and
						  * crystallizations */

/* A plan of these nodes, in any order. Takes the goal and the nodes (not the
 * array), even on failure: -EINVAL for an id that is there twice, a parent that
 * is missing or of the wrong kind, a node of another goal, too many nodes. */
int plan_build(struct plan_goal *goal, struct plan_node *const *nodes,
    size_t count, struct plan **ret_plan, struct err *err);

/* NULL = none; id may be NULL. */
struct plan_node *plan_find(const struct plan *plan, const char *id);
/* The same, and "3.1" is T3.1, "3" P3. */
struct plan_node *plan_named(const struct plan *plan, const char *word);
/* That, or API_E_UNKNOWN with a message. */
int plan_get(const struct plan *plan, const char *id,
    struct plan_node **ret_node, struct err *err);

/* Put a node below its parent (parent_id), by its order; behind those of the
 * same order. The plan owns it then; on failure, the caller does. */
int plan_attach(struct plan *plan, struct plan_node *node, struct err *err);

/* Take a node without children out of the plan; the caller owns it. */
void plan_detach(struct plan *plan, struct plan_node *node);

/* Move a node with everything below it to a parent (NULL for a phase) and a
 * place (from 0; past the end = last). The kinds must fit. */
struct plan_changes;
void plan_put(struct plan *plan, struct plan_node *node,
    struct plan_node *parent, size_t place, struct plan_changes *changes);

/* Only the links: to see what a move would mean, and back. */
void plan_relocate(struct plan *plan, struct plan_node *node,
    struct plan_node *parent, size_t place);

/* After orders were changed: put all siblings into theirs. */
void plan_sort(struct plan *plan);

/* Every node in the order of the plan: a parent before its children. NULL =
 * the first one; returns NULL after the last one. */
struct plan_node *
plan_next(const struct plan *plan, const struct plan_node *node);
/* The next one that is not below the node. */
struct plan_node *
plan_next_beside(const struct plan *plan, const struct plan_node *node);

/* The siblings of a node, itself included; or those below a parent (NULL = the
 * phases). */
struct plan_node *const *plan_children(
    const struct plan *plan, const struct plan_node *parent, size_t *ret_count);

/* Its own priority, or that of the nearest above it, or that of the goal. */
enum priority
plan_priority(const struct plan *plan, const struct plan_node *node);

/* The same for what is done about it when it has failed. */
enum recovery_policy
plan_recovery(const struct plan *plan, const struct plan_node *node);
/* All attempts at it have failed: RECOVERY_REPLAN or RECOVERY_REASSIGN, each
 * once for a node, or RECOVERY_ESCALATE. */
enum recovery_policy plan_recovery_next(
    const struct plan *plan, const struct plan_node *node, bool reassigned);

/* What the person said who unblocked the node last; NULL = nothing. plan may be
 * NULL. */
const char *plan_unblocked_why(const struct plan *plan, const char *node_id);

/* --- what was changed ------------------------------------------------ */

/* The records to be stored: every node once, in the order of its first
 * change. */
struct plan_changes {
	struct plan_node **nodes;
	size_t count, room;
	char **removed; /* ids of nodes that are no longer in the plan */
	bool goal; /* the goal's record, too */
};

void plan_changed(struct plan_changes *changes, struct plan_node *node);
/* A node that is about to be detached and freed. */
void plan_changes_removed(struct plan_changes *changes, struct plan_node *node);
/* Call it while the nodes exist. */
void plan_changes_release(struct plan_changes *changes);

/* --- dependencies ----------------------------------------------------- */

/* Make the node depend on the other, or not, in the records of both. */
void plan_depend(struct plan_changes *changes, struct plan_node *node,
    struct plan_node *on, int64_t now_ms);
void plan_undepend(struct plan_changes *changes, struct plan_node *node,
    struct plan_node *on, int64_t now_ms);

/* Set the blocks of every node from what the others depend on. */
void plan_link_blocks(struct plan *plan);

/* --- JSON -------------------------------------------------------------- */

/* The goal's record with its nodes, in the order of the plan, as "nodes". */
struct json_object *plan_to_json(const struct plan *plan);
int plan_from_json(struct json_object *json, const char *at,
    struct plan **ret_plan, struct err *err);

/* --- drafts ---------------------------------------------------------- */

/*
 * The draft of a plan: a whole plan that is kept with its goal, and changes
 * nothing until it is applied. It knows the version of the plan that it was
 * made for. Pure.
 */

/* More, as JSON, is not kept. */
#define PLAN_KEPT_MAX ((size_t)2 * 1024 * 1024)

struct plan_kept {
	const struct plan *next; /* the draft; of the same goal */
	int64_t base; /* the version of the plan that it replaces */
	int64_t at_ms;
	const char *actor; /* who made it */
	const char *how, *why; /* NULL = not said */
};

/* Keep it instead of the one before. API_E_LIMIT if it is too large. */
int plan_kept_set(
    struct plan_goal *goal, const struct plan_kept *kept, struct err *err);
void plan_kept_clear(struct plan_goal *goal);

/* The plan of the draft; the caller frees it. API_E_NOT_FOUND if there is none,
 * API_E_INVALID_PLAN if it cannot be read. */
int plan_kept_read(
    const struct plan_goal *goal, struct plan **ret_next, struct err *err);
/* The version that it was made for; 0 = the goal had no plan. */
int64_t plan_kept_base(const struct plan_goal *goal);

/* May a plan be applied that was made for this version? API_E_CONFLICT with
 * what to type. */
int
plan_kept_check(const struct plan_goal *goal, int64_t version, struct err *err);

/* For people and programs: {"goal", "version", "state", "base", ...}, with the
 * plan as "record"; owned by the caller. state: none, asked or ready. */
struct json_object *plan_kept_view(const struct plan_goal *goal);

/* --- all plans ----------------------------------------------------------- */

/*
 * All plans, with the work on their nodes and their crystallizations: what the
 * tick looks at. Pure. The set owns everything that was added to it, and links
 * a node to its newest crystallization. Lookups take constant time.
 */

struct plan_set {
	struct plan **plans; /* in the order they were added */
	size_t plan_count, plan_room;
	struct plan_crystal **crystals;
	size_t crystal_count, crystal_room;
	struct strmap by_goal, by_crystal;
};

/* Zeroes are an empty set. */
void plan_set_release(struct plan_set *set);

/* A set of its own, for a tick that shall change nothing. */
void plan_set_copy(const struct plan_set *set, struct plan_set *ret_copy);

/* Add, and own. On failure (API_E_EXISTS: the id is in use) the caller still
 * owns it. A crystallization may belong to no plan of the set. */
int plan_set_add(struct plan_set *set, struct plan *plan, struct err *err);
int plan_set_add_crystal(
    struct plan_set *set, struct plan_crystal *crystal, struct err *err);

/* Read an assignment into its node. -EINVAL, or -ENOENT: there is no such
 * node. */
int plan_set_read_work(struct plan_set *set, struct json_object *json,
    const char *at, struct err *err);

/* Forget a goal with all that belongs to it; false if it is not there. */
bool plan_set_drop(struct plan_set *set, const char *goal_id);

/* NULL = none; the id may be NULL. */
struct plan *plan_set_plan(const struct plan_set *set, const char *goal_id);
struct plan_crystal *
plan_set_crystal(const struct plan_set *set, const char *id);

/* The node whose assignment this is, open or ended. The last one that it had;
 * all ids may be NULL. */
struct plan_node *plan_set_assigned(const struct plan_set *set,
    const char *goal_id, const char *node_id, const char *assignment_id);

/* The nodes that have or had a worker, one after the other; NULL = that was the
 * last one. A cursor begins with zeroes. */
struct plan_cursor {
	size_t plan, node;
};
struct plan_node *
plan_set_next(const struct plan_set *set, struct plan_cursor *cursor);

/* A node by its id, and its goal's id or NULL: then the id must be unique among
 * the goals that are open, or else among all.
 * API_E_UNKNOWN; the message lists the goals if there are several. */
int plan_set_find(const struct plan_set *set, const char *goal_id,
    const char *node_id, struct plan **ret_plan, struct plan_node **ret_node,
    struct err *err);

#endif
