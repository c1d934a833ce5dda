/* SPDX-License-Identifier: ISC */

/* A task that has used up its budget, or that oversight has stopped, waits for
 * a person, without a worker: its work is committed and kept (task-ref.h), and
 * the worker is reset. */
#ifndef OP_PARK_TASK_H
#define OP_PARK_TASK_H

struct agent;
struct auto_mode;

/* The task of this worker, for this reason. No operation may be running on the
 * worker. If the daemon ends meanwhile, the task stays with the worker. */
void
op_park_task(struct auto_mode *mode, struct agent *agent, const char *reason);

#endif
