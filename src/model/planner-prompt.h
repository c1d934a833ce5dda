/* SPDX-License-Identifier: ISC */

/*
 * The prompts for the planner: templates with an id and a hash, which are kept
 * with what came of them. Values are put in once and not read again, so that
 * nothing in them is taken for a place of the template. Everything is appended
 * to the caller's buf. Pure.
 */
#ifndef PLANNER_PROMPT_H
#define PLANNER_PROMPT_H

struct buf;
struct plan;
struct plan_goal;
struct plan_limits;
struct plan_node;

enum planner_template {
	PLANNER_PLAN, /* a goal into phases, tasks and subtasks */
	PLANNER_REPAIR, /* an answer that is not valid */
	PLANNER_REPLAN, /* a node that makes no progress */
	PLANNER_TEMPLATE_COUNT
};

#define PLANNER_HASH_SIZE 17
#define PLANNER_VALUE_MAX 16384 /* bytes of one value */
#define PLANNER_PLAN_MAX  131072 /* bytes of a plan that is changed */

const char *planner_template_id(enum planner_template template); /* "plan.v1" */
void planner_template_hash(
    enum planner_template template, char out[PLANNER_HASH_SIZE]);

/* survey: what is known about the repository. */
void planner_prompt_plan(const struct plan_goal *goal,
    const struct plan_limits *limits, const char *survey, struct buf *out);

/* problems: NULL terminated, with their paths; previous: the answer. */
void planner_prompt_repair(
    const char *const *problems, const char *previous, struct buf *out);

/* The whole plan again, with the node in smaller parts. */
void
planner_prompt_replan(const struct plan *plan, const struct plan_node *node,
    const char *reason, const struct plan_limits *limits, struct buf *out);

#endif
