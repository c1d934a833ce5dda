/* SPDX-License-Identifier: ISC */

/*
 * What agents are told about a plan: the worker of a node, and the planner,
 * with what its answer means. Everything is appended to the caller's buf. Pure.
 */
#ifndef PLAN_PROMPT_H
#define PLAN_PROMPT_H

struct buf;
struct err;
struct json_object;
struct plan;
struct plan_goal;
struct plan_limits;
struct plan_node;
struct plan_source;

/* --- the prompt for a node ----------------------------------------------- */

/*
 * What to do, when it is done, what it is a part of,
 * what is known from the nodes that it depends on, and how to report. Pure. The
 * same plan gives the same text.
 */

/* Append at most PLAN_INSTRUCTION_MAX bytes. If there is more, the least useful
 * parts are left out first: the background of the goal, then what is known from
 * far away, then from near; the objective, the criteria and the contract for
 * reports stay, the first two cut if need be. */
void plan_prompt(
    const struct plan *plan, const struct plan_node *node, struct buf *out);

/* --- prompts for the planner ------------------------------------------ */

/*
 * Templates with an id and a hash, which are kept with what came of them.
 * Values are put in once and not read again, so that nothing in them is taken
 * for a place of the template.
 */

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

/* --- results --------------------------------------------------------- */

/*
 * What the planner answered: a plan that is valid, a reason to ask again, or
 * the end of patience. Then the plan is the goal itself as one task: nothing is
 * guessed. Pure.
 */

#define PLANNER_ANSWER_MAX (1024 * 1024) /* bytes */

enum planner_verdict {
	PLANNER_ACCEPTED, /* plan */
	PLANNER_ASK_AGAIN, /* prompt */
	PLANNER_GIVE_UP, /* a person has to help */
};

/* Owned by the caller. */
struct planner_result {
	enum planner_verdict verdict;
	struct plan *plan;
	char *prompt; /* that asks for a correction */
	char **problems; /* with their paths */
	int64_t cost_millionths; /* of a dollar, as reported; 0 = unknown */
};

/*
 * Judge one answer: what a planner's command printed, which is the plan as JSON
 * and nothing else, or Claude Code's own JSON with that in structured_output or
 * result. repairs: how often it was asked again already.
 */
void
planner_judge(const char *answer, size_t len, const struct plan_source *source,
    int repairs, int max_repairs, struct planner_result *ret_result);
void planner_result_release(struct planner_result *result);
/* It cannot be used because of its problems: ask again, or give up. */
void planner_reject(struct planner_result *result, int repairs, int max_repairs,
    const char *previous);

/* What Claude Code's own JSON says about the answer in it. */
struct planner_bill {
	int64_t cost_millionths; /* 0 = unknown */
	char model[128]; /* "" = unknown */
};

/* The JSON of an answer, out of Claude Code's own where it is in that; owned by
 * the caller. -EINVAL or -E2BIG; -EIO if Claude Code reports an error. The bill
 * is set in any case. */
int
planner_unwrap(const char *answer, size_t len, struct json_object **ret_json,
    struct planner_bill *ret_bill, struct err *err);

/* JSON Schema of a plan; owned by the caller. */
struct json_object *planner_schema(void);

#endif
