/* SPDX-License-Identifier: ISC */

/*
 * A node of a plan: a phase, a task or a subtask, with the work on it. Pure.
 * All strings and lists are owned, NULL = not set; times are wall clock
 * milliseconds, 0 = never.
 *
 * The links to its parent and its children are kept by struct plan (plan.h).
 */
#ifndef PLAN_NODE_H
#define PLAN_NODE_H

#include "work-record.h"

struct err;
struct json_object;
struct plan_crystal;
struct task_launch;

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

#define AGENT_MAIN "main" /* all auto workers */

#define PLAN_DISPATCHES_MAX                         \
	64 /* the newest; events are told of all of \
	    * them */

enum dispatch_mode {
	DISPATCH_SEND, /* prompt a session that exists */
	DISPATCH_SPAWN, /* a fresh worker */
	DISPATCH_ESCALATE, /* a person */
	DISPATCH_MODE_COUNT
};

enum dispatch_result {
	DISPATCH_ACCEPTED, /* received */
	DISPATCH_OK, /* received, and its turn ended well */
	DISPATCH_TIMEOUT,
	DISPATCH_ERROR,
	DISPATCH_PENDING, /* stored, not yet carried out; not in the record */
};

extern const char *const dispatch_mode_words[DISPATCH_MODE_COUNT + 1];
extern const char *const dispatch_result_words[DISPATCH_PENDING + 1];

struct plan_dispatch {
	char *id; /* "D_...": idempotency key and receipt */
	int64_t ts_ms;
	enum dispatch_mode mode;
	char *action; /* "nudge", "resend", "assign", ...: the decision */
	enum dispatch_result result;
	char *notes;
};

/* The work on a node: who has it, and every message that was sent for it. Where
 * it is shown it is an assignment (plan_work_json()). */
struct plan_work {
	char *id; /* "A_..."; NULL = the node never had a worker */
	char *worker; /* its name; NULL = none has it yet */
	char *task; /* the task of auto mode, "t17"; NULL: a person drives the
		     * worker, if there is one */

	/* Dispatch state */
	enum assignment_status status;
	char *blocked_reason;
	struct plan_override override; /* done without evidence */
	char *instruction; /* the last one, at most PLAN_INSTRUCTION_MAX */
	struct plan_dispatch *dispatches; /* oldest first */
	size_t dispatch_count;

	char *run_id; /* one per attempt */

	/* Liveness and recovery */
	int64_t created_ms, updated_ms;
	int64_t last_dispatch_ms;
	int64_t last_activity_ms; /* observed */
	int64_t expected_update_ms;
	int64_t idle_after_ms; /* 0 = as configured */
	int retry_count; /* messages without progress */
	int64_t backoff_until_ms;
	enum recovery_policy recovery_policy; /* RECOVERY_UNSET = its node's */
	bool follow_up; /* it was asked for the update that a reply lacked */
	bool escalated; /* a person was notified, and nothing moved since */
};

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
	struct task_launch
	    *spawn; /* how an agent asked for it; NULL = none did */

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
	int64_t started_ms; /* the first time that it was worked on */
	int64_t ended_ms; /* done or cancelled */
	struct plan_work work; /* now, or the last; a row of columns of its
				* own */

	/* Links, not part of the record. */
	struct plan_node *parent; /* NULL = a phase */
	struct plan_node **children; /* by order */
	size_t child_count, child_room;
	size_t place; /* among its siblings */
	size_t slot; /* in plan->nodes */
	struct plan_crystal *crystal; /* the newest, NULL = none */
	bool changed; /* is in a struct plan_changes */
};

extern const struct schema plan_node_schema;

struct plan_node *plan_node_new(const char *goal_id, enum node_kind kind,
    const char *id, const char *name, int64_t now_ms);
void plan_node_free(struct plan_node *node);

/* Without the links and the work. */
struct plan_node *plan_node_copy(const struct plan_node *node);

/* Is this an id: 1 to PLAN_ID_MAX letters, digits, '.', '_' and '-', the first
 * a letter or digit? One that the book would mask (excerpt.h) is none. */
bool plan_id_valid(const char *id);
/* The words for one that is none; NULL = it is one. */
const char *plan_id_fault(const char *id);

static inline bool
plan_node_leaf(const struct plan_node *node)
{
	return node->child_count == 0;
}

/* Was it ever worked on? */
bool plan_node_started(const struct plan_node *node);

/* Change the status of one node, by the table of plan-status. The nodes above
 * stay: the rollup in plan-progress.h changes them. */
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

/* --- the work -------------------------------------------------------- */

/* Begin anew, with a new assignment: what was there is forgotten. */
void plan_node_assign(struct plan_node *node, const char *id, int64_t now_ms);
/* Does it have a worker, or is it to get one? */
bool plan_node_is_assigned(const struct plan_node *node);

/* The worker that a person drives; NULL = it is a worker of auto mode, or
 * none. */
const char *plan_node_driven(const struct plan_node *node);
/* Where its worker is spoken to; the caller frees it. NULL = there is none. */
char *plan_node_session(const struct plan_node *node);

/* Remember what is sent: cut to its bound between characters. */
void plan_node_instruct(struct plan_node *node, const char *text);

/* Append to the history a dispatch that is pending; id and action are copied.
 * Returns the entry, which the next call may move. */
struct plan_dispatch *plan_node_dispatch(struct plan_node *node, const char *id,
    enum dispatch_mode mode, const char *action, int64_t now_ms);
/* NULL = none. */
struct plan_dispatch *plan_node_last_dispatch(const struct plan_node *node);
struct plan_dispatch *
plan_node_find_dispatch(const struct plan_node *node, const char *dispatch_id);

/* Change the status of the work by the table of plan-status. */
struct plan_work_move {
	enum assignment_status to;
	const char *reason; /* blocked: why */
	const char *crystal_id; /* done: its evidence */
	const char *actor; /* an override: who, and why; instead of evidence */
	const char *override_reason;
};

/* 0, or API_E_TRANSITION, API_E_EVIDENCE, API_E_REASON. */
int plan_node_move_work(
    struct plan_node *node, const struct plan_work_move *move, int64_t now_ms);

/* As an assignment, and into the node from one; agentId and sessionKey are made
 * of worker and task. Reading is strict, as that of a node. */
extern const struct schema plan_work_schema;
struct json_object *plan_work_json(const struct plan_node *node);
int plan_work_read(struct json_object *json, const char *at,
    struct plan_node *node, struct err *err);

/* --- the launch ------------------------------------------------------ */

/* How the agent of its task is launched; the caller releases it. */
void
plan_node_launch(const struct plan_node *node, struct task_launch *ret_launch);
/* The task whose agent asked for the node; NULL = none did; borrowed. */
const char *plan_node_asker(const struct plan_node *node);
/* Did one, even if its parent is gone? */
bool plan_node_is_spawned(const struct plan_node *node);

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
