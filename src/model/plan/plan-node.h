/* SPDX-License-Identifier: ISC */

/*
 * A node of a plan: a phase, a task or a subtask. Pure. All strings and lists
 * are owned, NULL = not set; times are wall clock milliseconds, 0 = never.
 *
 * The links to its parent and its children are kept by struct plan (plan.h).
 */
#ifndef PLAN_NODE_H
#define PLAN_NODE_H

#include "plan-status.h"
#include "plan-text.h"
#include "priority.h"

struct err;
struct json_object;
struct plan_assignment;
struct plan_crystal;
struct task_run;

enum node_kind {
	NODE_PHASE,
	NODE_TASK,
	NODE_SUBTASK,
	NODE_KIND_COUNT
};

extern const char *const node_kind_words[NODE_KIND_COUNT + 1];
const char *node_kind_name(enum node_kind kind); /* "phase" */

/* What is handed in when it is done, other than a commit. */
enum node_result {
	NODE_RESULT_REPORT, /* what its agent says at the end */
	NODE_RESULT_UNSET
};

extern const char *const node_result_words[NODE_RESULT_UNSET + 1];

struct plan_node {
	/* Identity */
	char *id; /* unique within its goal, never used again: "S1.2.3" */
	char *goal_id;
	enum node_kind kind;
	char *parent_id; /* NULL = a phase */
	int order; /* among its siblings, ascending */
	char **replaced_by; /* the nodes that it was split or merged into */

	/* Intent, acceptance */
	char *name;
	char *objective;
	char *expected_outcome;
	char **acceptance;
	char *definition_of_done;

	/* Dependencies: ids of this goal. What depends on X is in the blocks of
	 * X: plan_depend() keeps both. */
	char **depends_on;
	char **blocks;

	/* Hints */
	char *suggested_agent_id; /* a card, [agents.<name>] */
	char **required_tools; /* its agent must have */
	char *estimated_effort;
	enum priority priority; /* PRIORITY_COUNT = that of its parent */
	enum recovery_policy recovery_policy; /* RECOVERY_UNSET the same */
	enum node_result result;
	char **scope_paths; /* that work on it may change; NULL = everything */
	struct json_object *verification; /* its contract (contract_schema) */
	struct task_run *spawn; /* how an agent asked for it; NULL = none did */

	/* State */
	enum node_status status; /* of a node with children: rolled up, unless
				  * overridden */
	char *blocked_reason;
	struct plan_override override; /* its status was set against the rules,
					* or instead of the rollup */
	struct plan_evidence evidence; /* that it is done */
	int attempts; /* that were started */
	int replans; /* how often the planner was asked to plan it anew */
	char *replan_why; /* it is being asked: why; NULL = it is not */
	int64_t created_ms, updated_ms;
	int64_t started_ms; /* the first time somebody worked on it */
	int64_t ended_ms; /* done or cancelled */

	/* Links, not part of the record. */
	struct plan_node *parent; /* NULL = a phase */
	struct plan_node **children; /* by order */
	size_t child_count, child_room;
	size_t place; /* among its siblings */
	size_t slot; /* in plan->nodes */
	struct plan_assignment *assignment; /* the open one, NULL = none */
	struct plan_crystal *crystal; /* the newest, NULL = none */
	bool changed; /* is in a struct plan_changes */
};

extern const struct schema plan_node_schema;

struct plan_node *plan_node_new(const char *goal_id, enum node_kind kind,
    const char *id, const char *name, int64_t now_ms);
void plan_node_free(struct plan_node *node);

/* Without the links. */
struct plan_node *plan_node_copy(const struct plan_node *node);

/* Is this an id: 1 to PLAN_ID_MAX letters, digits, '.', '_' and '-', the first
 * a letter or digit? One that the book would mask (remedy-mask.h) is none. */
bool plan_id_valid(const char *id);
/* The words for one that is none; NULL = it is one. */
const char *plan_id_fault(const char *id);

static inline bool
plan_node_leaf(const struct plan_node *node)
{
	return node->child_count == 0;
}

/* Did somebody work on it, ever? */
bool plan_node_started(const struct plan_node *node);

/* Change the status of one node, by the table of plan-status. The nodes
 * above are not told: the rollup in plan-ready.h does that. */
struct plan_node_move {
	enum node_status to;
	const char *reason; /* blocked: why */
	const struct plan_evidence *evidence; /* done: added to the node's */
	const char *actor; /* an override: who, and why (override_reason); */
	const char *override_reason; /* an open node may be done then from any
				      * status, and needs no evidence */
	bool rolled_up; /* follows from its children: any status may follow any
			 * other, and the children are the evidence */
};

/* 0, or API_E_TRANSITION, API_E_EVIDENCE, API_E_REASON. */
int plan_node_move(struct plan_node *node, const struct plan_node_move *move,
    int64_t now_ms, struct err *err);

/* The record: camelCase, only what is set. Reading is strict: -EINVAL with the
 * path for an unknown key, a wrong value, or one over its bound. */
struct json_object *plan_node_to_json(const struct plan_node *node);
int plan_node_from_json(struct json_object *json, const char *at,
    struct plan_node **ret_node, struct err *err);

/* --- effort ---------------------------------------------------------- */

/*
 * The estimated effort of a node, which is a word of its author, as a number of
 * turns or parts of long ones. Pure.
 *
 *   xs, trivial, tiny       3
 *   s, small, low           6
 *   m, medium, moderate    12
 *   l, large, high         24
 *   xl, huge               48
 *
 * A whole number is itself. Case does not matter.
 */

#define PLAN_EFFORT_MAX 1000000

/* -1 = it does not say; effort may be NULL. */
int64_t plan_effort_iterations(const char *effort);

#endif
