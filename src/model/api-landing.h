/* SPDX-License-Identifier: ISC */

/* The rows of api.c for finished work: parameters and results of accept,
 * reject, review, rebase and pick; and of the landing queue. */
#ifndef API_LANDING_H
#define API_LANDING_H

struct schema;
struct schema_field;

extern const struct schema api_landing_accept_params;
extern const struct schema api_landing_reject_params;
extern const struct schema api_landing_review_params;
extern const struct schema api_landing_pick_params;
extern const struct schema api_landing_revert_params;

extern const struct schema_field api_landing_accept_result;
extern const struct schema_field api_landing_rebase_result;
extern const struct schema_field api_landing_reject_result;
extern const struct schema_field api_landing_review_result;
extern const struct schema_field api_landing_pick_result;
extern const struct schema_field api_landing_revert_result;
extern const struct schema_field api_landing_list_result;
/* A part of it, also of llmc status. */

/* Of a landing_item. */
extern const struct schema api_landing_accepted;
extern const struct schema api_landing_picked;
extern const struct schema api_landing_reverted;

#endif
