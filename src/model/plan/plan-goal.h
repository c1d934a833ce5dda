/* SPDX-License-Identifier: ISC */

/*
 * The record of a goal: what is to be reached, why, under which constraints,
 * where its plan came from and how that changed; and what became known while it
 * was worked on (crystallizations). Pure. All strings, lists and objects are
 * owned, NULL = not set; times are wall clock milliseconds, 0 = never.
 */
#ifndef PLAN_GOAL_H
#define PLAN_GOAL_H

#include "id.h"
#include "work-record.h"

struct err;
struct json_object;

#define PLAN_RISKS_MAX 32
#define PLAN_REVISIONS_MAX                                  \
	200 /* in the record: the newest; the event log has \
	     * all of them */

struct plan_risk {
	char *risk;
	char *impact;
	char *mitigation;
};

/* One change of the plan. */
struct plan_revision {
	int64_t version; /* the plan's after it */
	int64_t at_ms;
	char *actor; /* "person", "planner", ... */
	char *what; /* "split T1.2 into S1.2.1, S1.2.2" */
	char *why; /* NULL = not said */
	char **nodes; /* ids that it changed; the first PLAN_LIST_MAX */
};

struct plan_goal {
	/* Identity */
	char *id; /* "g17" */
	int64_t number; /* 17 */
	char *title;
	int64_t created_ms, updated_ms;
	int64_t ended_ms; /* completed or cancelled */
	enum goal_status status;
	struct plan_override override; /* completed against the rollup */
	enum priority priority;
	enum recovery_policy recovery_policy; /* of its nodes, unless they have
					       * their own */
	char **tags;

	/* Definition */
	char *problem_statement;
	char **success_criteria;
	char **non_goals;

	/* Context */
	char *source_session_key;
	char *owner;

	/* Constraints and risk */
	char **constraints;
	char **assumptions;
	struct plan_risk *risks;
	size_t risk_count;

	/* Provenance */
	char *model_ref;
	char *template_id;
	char *template_hash;
	struct json_object *planner_inputs;
	struct json_object *planner_output; /* the accepted JSON plan */
	char **validation_errors;
	bool plan_wanted; /* a person asked the planner for it (again) */
	bool plan_drafts; /* ... as a draft */
	struct json_object *draft; /* that waits to be applied: plan.h;
				    * NULL = none */
	int64_t plan_attempts; /* of the planner, since it was asked */
	char *plan_fault; /* why the planner gave up; NULL = it did not */
	int64_t version; /* of its plan; one more with each revision */
	struct plan_revision *revisions; /* oldest first */
	size_t revision_count;
};

extern const struct schema plan_goal_schema;

struct plan_goal *
plan_goal_new(const char *id, const char *title, int64_t now_ms);
void plan_goal_free(struct plan_goal *goal);

/* The goal for agents that the agent of this task has asked for; NULL = it is
 * none. Borrowed. */
const char *plan_goal_delegated(const struct plan_goal *goal);
void plan_goal_set_delegated(struct plan_goal *goal, const char *task);

/* Take the member "risks" of json, if it has one: a list of objects with risk,
 * impact and mitigation. -EINVAL with the path. */
int plan_goal_read_risks(struct json_object *json, const char *at,
    struct plan_goal *goal, struct err *err);

/* One version more: what was changed, by whom and why (may be NULL). Returns
 * the entry, which the next call may move. */
struct plan_revision *plan_goal_revise(struct plan_goal *goal,
    const char *actor, const char *what, const char *why, int64_t now_ms);

/* Change the status by the table of plan-status. An actor makes it an override,
 * and needs a reason. 0, API_E_TRANSITION or API_E_REASON. */
int plan_goal_move(struct plan_goal *goal, enum goal_status to,
    const char *actor, const char *reason, int64_t now_ms, struct err *err);

/* The record of one revision, for the events plan.created and
 * plan.updated. */
struct json_object *plan_revision_to_json(const struct plan_revision *revision);

/* --- metadata -------------------------------------------------------- */

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

/* --- crystallizations ---------------------------------------------------- */

/*
 * A crystallization: what is known after some progress, so that another agent
 * can go on from there. Written at each accepted update, at landing and at
 * rollup. Pure. Everything is owned, NULL = not set.
 */

#define PLAN_SUMMARY_MAX   PLAN_TEXT_MAX
#define PLAN_DECISIONS_MAX 32

enum crystal_source {
	CRYSTAL_UPDATE, /* a structured update of an agent */
	CRYSTAL_LANDING,
	CRYSTAL_ROLLUP,
	CRYSTAL_PERSON,
	CRYSTAL_SOURCE_COUNT
};

extern const char *const crystal_source_words[CRYSTAL_SOURCE_COUNT + 1];

struct plan_choice {
	char *decision;
	char *rationale;
};

struct plan_crystal {
	char *id; /* "C_..." */
	char *goal_id;
	char *node_id; /* NULL = about the goal */
	char *assignment_id;
	int64_t created_ms;
	enum crystal_source source;
	char *summary; /* at most PLAN_SUMMARY_MAX */
	char *current_state;
	struct plan_choice *decisions;
	size_t decision_count;
	char **next_actions; /* ordered */
	char **open_questions;
	char **known_blockers;
	struct plan_evidence evidence;

	/* Where in which transcript */
	char *session_key;
	char *session_id;
	char *message_id;
	char *run_id;
};

extern const struct schema plan_crystal_schema;

struct plan_crystal *plan_crystal_new(const char *id, const char *goal_id,
    const char *node_id, enum crystal_source source, int64_t now_ms);
void plan_crystal_free(struct plan_crystal *crystal);

/* Set it, cut to its bound between characters. */
void plan_crystal_summarize(struct plan_crystal *crystal, const char *summary);

/* rationale may be NULL. What is over the bounds is dropped. */
void plan_crystal_decide(
    struct plan_crystal *crystal, const char *decision, const char *rationale);

#endif
