/* SPDX-License-Identifier: ISC */

/* What the planner's answer does to a goal: its plan, where that came from, or
 * the reason why there is none. Everything is stored with the events of it. */
#ifndef PLANNER_GOAL_H
#define PLANNER_GOAL_H

#include "planner-prompt.h"

struct err;
struct plan;
struct plan_floor;
struct plan_limits;
struct planner_outcome;
struct settings;

/* The settings of [planner]. */
struct plan_limits planner_goal_limits(void);

/* Note in the new plan where it came from. */
void planner_goal_sign(struct plan *next, enum planner_template template,
    const char *prompt, const struct planner_outcome *outcome,
    const struct settings *settings);

/* Make it the plan of its goal, as plan_replan_node(). text: how it was made,
 * NULL: it is a change. */
int planner_goal_apply(struct plan_floor *floor, const struct plan *next,
    const char *node_id, const char *text, const char *why, struct err *err);

/* Keep it as the draft of its goal, as plan_kept_set(). text: how it was
 * made. */
int planner_goal_draft(struct plan_floor *floor, struct plan *plan,
    const struct plan *next, const char *text, struct err *err);

/* The planner gave up. */
void planner_goal_fail(struct plan_floor *floor, struct plan *plan,
    const char *prompt, const struct planner_outcome *outcome);

/* One attempt more, or (-1) one that does not count. */
void planner_goal_count(struct plan_floor *floor, struct plan *plan, int by);

#endif
