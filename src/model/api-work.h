/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods for the nodes of plans. */
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

#endif
