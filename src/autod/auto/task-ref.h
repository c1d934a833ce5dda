/* SPDX-License-Identifier: ISC */

/* Refs that keep the work of tasks which no worker has. */
#ifndef TASK_REF_H
#define TASK_REF_H

struct auto_mode;
struct task;

/* Keep the commit where the task's next worker starts (task->from), as
 * refs/llmc/task/<id>. */
void task_ref_keep(struct auto_mode *mode, struct task *task);
/* The same for all tasks: an earlier daemon may have died before git did it. */
void task_ref_keep_all(struct auto_mode *mode);
/* The task has ended. */
void task_ref_drop(struct auto_mode *mode, struct task *task);
/* The attempt has failed: salvage this commit, as that of a worker. */
void task_ref_salvage(
    struct auto_mode *mode, const struct task *task, const char *commit);

#endif
