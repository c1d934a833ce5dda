/* SPDX-License-Identifier: ISC */

/* The record of a task. */
#ifndef TASK_JSON_H
#define TASK_JSON_H

struct err;
struct json_object;
struct schema;
struct task;

/* The record of a task; it shares `history`. Like
 * worker_from_json(): the id is required, other members may be missing, a wrong
 * type or word is -EINVAL. A priority may be a number, as older versions wrote
 * it. A task that is
 * assigned to nobody, or settling without an outcome, waits. */
extern const struct schema task_schema;
struct json_object *task_to_json(const struct task *task);
int task_from_json(struct json_object *json, const char *at,
    struct task **ret_task, struct err *err);

extern const struct schema task_table; /* the columns of its row */

#endif
