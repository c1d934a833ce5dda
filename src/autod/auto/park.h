/* SPDX-License-Identifier: ISC */

/*
 * The work of a task that no worker has is kept by a ref. Such a task waits for
 * a person, for example: it is parked.
 */
#ifndef PARK_H
#define PARK_H

#include "notice.h"

struct agent;
struct auto_mode;
struct task;

/* Keep the commit where the task's next worker starts (task->from), as
 * refs/llmc/task/<id>, until the task has ended. */
void task_ref_keep(struct auto_mode *mode, struct task *task);
void task_ref_drop(struct auto_mode *mode, struct task *task);
/* The attempt has failed: salvage this commit, as that of a worker. */
void task_ref_salvage(
    struct auto_mode *mode, const struct task *task, const char *commit);

/* A task waits for a person, without a worker: its work is committed and kept,
 * and the worker is reset. The task of this worker, for this
 * reason. No operation may be running on the worker. It is written down first:
 * a task that still has its worker and wants something of a person (task->ask)
 * is to be parked again, after the daemon has ended or this has failed. One
 * that is answered meanwhile (task->answered) goes on as soon as it is
 * parked. */
void op_park_task(struct auto_mode *mode, struct agent *agent,
    enum ask_kind ask, const char *reason);
void op_park_task_again(struct auto_mode *mode, struct agent *agent);

#endif
