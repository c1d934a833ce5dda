/* SPDX-License-Identifier: ISC */

/* Parameters and results of the methods for delegation: a part of the table in
 * api.c. The tools of llmc mcp are among them. */
#ifndef API_TEAM_H
#define API_TEAM_H

struct schema;
struct schema_field;

/* The tools. */
extern const struct schema api_team_progress_params;
extern const struct schema api_team_completion_params;
extern const struct schema api_team_spawn_params;
extern const struct schema api_team_status_params;
extern const struct schema api_team_send_params;
extern const struct schema api_team_inbox_params;
extern const struct schema api_team_ack_params;
extern const struct schema api_team_reserve_params;
extern const struct schema api_team_release_params;
extern const struct schema api_team_no_params;
extern const struct schema api_team_request_params;
extern const struct schema api_team_respond_params;
extern const struct schema api_team_review_params;
/* What a tool answers is an object that the agent reads as it is. */
extern const struct schema_field api_team_answer;

/* For people. */
extern const struct schema api_mail_send_params;
extern const struct schema api_mail_deliver_params;
extern const struct schema api_mail_inbox_params;
extern const struct schema api_mail_params;
extern const struct schema api_reservation_params;
extern const struct schema api_reservation;
extern const struct schema_field api_reservation_result;
extern const struct schema_field api_reservation_list_result;
extern const struct schema api_request_answer_params;
extern const struct schema api_request; /* how it has ended */
extern const struct schema_field api_request_result;
extern const struct schema api_mail_sent;
extern const struct schema_field api_mail_result;
extern const struct schema_field api_mail_sent_result;
extern const struct schema_field api_mail_list_result;
extern const struct schema_field api_team_tree_result;

#endif
