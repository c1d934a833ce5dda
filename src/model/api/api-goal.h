/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods for goals. */
#ifndef API_GOAL_H
#define API_GOAL_H

struct schema;
struct schema_field;

extern const struct schema api_goal_params; /* of show */
extern const struct schema api_goal_create_params;
extern const struct schema api_goal_move_params; /* pause, resume, ... */
extern const struct schema api_goal_plan_params;
extern const struct schema api_goal_tick_params;
extern const struct schema api_plan_apply_params;
extern const struct schema api_plan_draft_params;
extern const struct schema api_goal_update_params;

extern const struct schema_field api_goal_list_result;
extern const struct schema_field api_goal_result; /* of every change */
extern const struct schema_field api_goal_show_result;
extern const struct schema_field api_goal_status_result;
extern const struct schema_field api_goal_tick_result;
extern const struct schema_field api_plan_draft_result;

/* What they point to; llmc prints the same. */
extern const struct schema api_goal_changed;
extern const struct schema api_goal_entry; /* of a list */
extern const struct schema api_goal_shown;
extern const struct schema api_plan_drafted;

#endif
