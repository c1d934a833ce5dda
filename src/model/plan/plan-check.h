/* SPDX-License-Identifier: ISC */

/*
 * Is a new plan complete and consistent: names, acceptance criteria, known and
 * acyclic dependencies, and no more nodes than allowed? Pure.
 */
#ifndef PLAN_CHECK_H
#define PLAN_CHECK_H

struct buf;
struct plan;
struct plan_node;

#define PLAN_FILE_MAX     (2 * 1024 * 1024) /* bytes of its text */
#define PLAN_PROBLEMS_MAX 20 /* that are reported */

struct plan_limits {
	int max_phases, max_tasks, max_subtasks; /* of one parent; 0 = any */
	bool phase_acceptance; /* phases need criteria as well */
	bool shared_acceptance; /* a subtask needs none if its task has some */
	const struct plan *known; /* what it was until now, NULL = a new one: a
				   * node that had no criteria needs none */
};

/* Called for each problem. node NULL: the plan itself. member: as in the JSON
 * plan, "deps[2]". */
typedef void plan_problem(void *context, const struct plan_node *node,
    const char *member, const char *words);

/* Where a new plan comes from. */
struct plan_source {
	const char *goal_id;
	const char *title; /* NULL = as the plan says; required there then */
	int64_t now_ms;
	bool planner; /* it comes from the planner: the version is required,
		       * phases need acceptance criteria, and the JSON is kept
		       * with the goal */
	struct plan_limits limits; /* bind the planner; zeroes for files */
};

/* How many problems there are; the first PLAN_PROBLEMS_MAX are reported, in the
 * order of the plan. */
size_t plan_check(const struct plan *plan, const struct plan_limits *limits,
    plan_problem *tell, void *context);

/* Append where a node is in the JSON plan: "phases[0].tasks[2].acceptance". */
void plan_check_path(
    const struct plan_node *node, const char *member, struct buf *out);

#endif
