/* SPDX-License-Identifier: ISC */

/*
 * The methods overseer.plan.draft and .apply: a plan is made first, looked at,
 * and becomes the plan of its goal when it is applied. Applying is for people
 * (and the daemon's own planner), not for agents.
 */
#ifndef PLAN_COMMANDS_H
#define PLAN_COMMANDS_H

struct err;
struct json_object;
struct plan;
struct plan_floor;
struct server_call;

void plan_commands_register(struct plan_floor *floor);

/* The plan in the text of params.plan; *ret_plan is NULL if there is none.
 * title NULL: as the plan says. -EINVAL: "the plan: ...". */
int plan_commands_read(struct json_object *params, const char *goal_id,
    const char *title, int64_t now_ms, struct plan **ret_plan, struct err *err);

/* Make it the plan of its goal, as far as that has not begun, and answer the
 * call: with what became of it, or why it is refused. why may be NULL. */
void plan_commands_replace(struct plan_floor *floor, struct server_call *call,
    struct plan *plan, const struct plan *next, const char *actor,
    const char *why);

#endif
