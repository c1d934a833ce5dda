/* SPDX-License-Identifier: ISC */

/* The parameters and results of the methods for tasks, for api.c only. */
#ifndef API_TASK_H
#define API_TASK_H

struct schema;
struct schema_field;

extern const struct schema api_task_params; /* of retry and drop */
extern const struct schema api_task_abort_params;
extern const struct schema api_task_add_params;
extern const struct schema api_task_edit_params;
extern const struct schema api_task_priority_params;

extern const struct schema_field api_task_abort_result;
extern const struct schema_field api_task_add_result;
extern const struct schema_field api_task_drop_result;
extern const struct schema_field api_task_edit_result;
extern const struct schema_field api_task_priority_result;
extern const struct schema_field api_task_retry_result;

#endif
