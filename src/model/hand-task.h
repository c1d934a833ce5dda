/* SPDX-License-Identifier: ISC */

/*
 * The task that a person gave to a worker by hand has no id; where one is
 * needed, it is named after its worker. No id of a task looks so. Pure.
 */
#ifndef HAND_TASK_H
#define HAND_TASK_H

/* The caller frees it. */
char *hand_task_name(const char *worker);
/* Whose it is, within task; NULL: it is another task. */
const char *hand_task_worker(const char *task);

#endif
