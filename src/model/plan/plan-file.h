/* SPDX-License-Identifier: ISC */

/*
 * The file of a plan. A new plan is read from the JSON that planners write, or
 * from a file: that JSON, or Markdown (plan-markdown.h); a plan is printed as
 * Markdown. Pure.
 *
 *   { "planVersion": 1,
 *     "goal": { "title", "successCriteria", "constraints", ... },
 *     "phases": [ { "id", "name", "objective", "acceptance", "deps", "tasks":
 *       [ { "id", "name", "outcome", "acceptance", "deps", "subtasks":
 *         [ { "id", "name", "acceptance", "deps" } ] } ] } ] }
 *
 * Unknown keys are refused.
 */
#ifndef PLAN_FILE_H
#define PLAN_FILE_H

struct buf;
struct err;
struct json_object;
struct plan;
struct plan_node;

/* --- the check ------------------------------------------------------- */

/*
 * Is a new plan complete and consistent: names, acceptance criteria, known and
 * acyclic dependencies, and no more nodes than allowed? Pure.
 */

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

/* How many problems there are; the first PLAN_PROBLEMS_MAX are reported, in the
 * order of the plan. */
size_t plan_check(const struct plan *plan, const struct plan_limits *limits,
    plan_problem *tell, void *context);

#define PLAN_FILE_MAX (2 * 1024 * 1024) /* bytes */

struct plan_source {
	const char *goal_id;
	const char *title; /* NULL = as the plan says; required there then */
	int64_t now_ms;
	bool planner; /* it comes from the planner: the version is required,
		       * phases need acceptance criteria, and the JSON is kept
		       * with the goal */
	struct plan_limits limits; /* bind the planner; zeroes for files */
};

/* -EINVAL; the message has the path of the first problem. ret_problems (may be
 * NULL) gets all of them, up to PLAN_PROBLEMS_MAX, with their paths, for a
 * repair prompt; the caller frees it (buf.h). */
int plan_load(struct json_object *json, const struct plan_source *source,
    struct plan **ret_plan, char ***ret_problems, struct err *err);

/* What a plan says about the node: the members that are set, as plan_load()
 * reads them, without the nodes below it. Owned by the caller. */
struct json_object *plan_load_words(const struct plan_node *node);
/* Append the names of the members that are not as they were, with ", " between
 * them and what is there. */
void plan_load_changed(
    struct json_object *before, const struct plan_node *node, struct buf *out);

/* A file: JSON if the first character is '{', else Markdown. */
int plan_load_text(const char *text, size_t len,
    const struct plan_source *source, struct plan **ret_plan, struct err *err);

/* --- as text ------------------------------------------------------------- */

/*
 * A plan as Markdown, for a person to edit: what plan-markdown.h reads, with
 * the ids of the nodes. Pure. Names and entries of lists are printed on one
 * line; what Markdown has no place for, such as a hint for workers, is left
 * out.
 */

/* Append it. notes: with comments that say how it is edited, and which nodes
 * stay as they are (plan-revise.h). */
void plan_print(const struct plan *plan, bool notes, struct buf *out);

#endif
