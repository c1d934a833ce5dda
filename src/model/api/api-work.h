/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods for the nodes of plans and for
 * goals. */
#ifndef API_WORK_H
#define API_WORK_H

struct schema;
struct schema_field;

extern const struct schema api_work_params; /* of show */
extern const struct schema api_work_add_params;
extern const struct schema api_work_assign_params;
extern const struct schema api_work_list_params;
extern const struct schema api_work_merge_params;
extern const struct schema api_work_move_params;
extern const struct schema api_work_split_params;
extern const struct schema api_work_update_params;

extern const struct schema_field api_work_list_result;
extern const struct schema_field api_work_result; /* of every change */
extern const struct schema_field api_work_show_result;

/* What they point to; llmc prints the same. */
extern const struct schema api_work_changed;
extern const struct schema api_work_listed;
extern const struct schema api_work_shown;

/* The rows of api.c for finished work: parameters and results of accept,
 * reject, review, rebase and pick; and of the landing queue. */

extern const struct schema api_landing_accept_params;
extern const struct schema api_landing_reject_params;
extern const struct schema api_landing_review_params;
extern const struct schema api_review_get_params;
extern const struct schema api_replay_get_params;
extern const struct schema api_screen_get_params;
extern const struct schema api_landing_pick_params;
extern const struct schema api_landing_revert_params;

extern const struct schema_field api_landing_accept_result;
extern const struct schema_field api_landing_rebase_result;
extern const struct schema_field api_landing_reject_result;
extern const struct schema_field api_landing_review_result;
extern const struct schema_field api_review_get_result;
extern const struct schema_field api_replay_get_result;
extern const struct schema_field api_screen_get_result;
extern const struct schema_field api_landing_pick_result;
extern const struct schema_field api_landing_revert_result;
extern const struct schema_field api_landing_list_result;
/* A part of it, also of llmc status. */

/* Of a landing_item. */
extern const struct schema api_landing_accepted;
extern const struct schema api_landing_picked;
extern const struct schema api_landing_reverted;

/* The parameters and results of the methods that look into the book:
 * overseer.store.*, overseer.events and overseer.why. */

extern const struct schema api_store_file_params; /* of export */
extern const struct schema api_store_sql_params;
extern const struct schema_field api_store_result; /* of every job */

extern const struct schema api_events_params;
extern const struct schema_field api_events_result;

extern const struct schema api_why_params;
extern const struct schema_field api_why_result;

#define API_EVENTS_MAX 1000 /* in one answer */
/* A job is stopped after this time; who waits for its end waits longer. */
#define API_STORE_JOB_MS  (INT64_C(30) * 60 * 1000)
#define API_STORE_WAIT_MS (2 * API_STORE_JOB_MS)
#define API_SQL_MS        (30 * 1000) /* of a query */

/* --- goals ----------------------------------------------------------- */

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
