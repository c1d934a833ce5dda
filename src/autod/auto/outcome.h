/* SPDX-License-Identifier: ISC */

/*
 * How attempts and tasks end. An outcome is written down first, then the source
 * is told, then the task is filed in tasks.jsonl and forgotten. Cut off
 * anywhere, it is done again.
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include "task.h"

struct agent;
struct auto_mode;

/* The task ends so; reason may be NULL. */
void outcome_settle(struct auto_mode *mode, struct task *task,
    enum task_outcome outcome, const char *reason);
/* It has its outcome already: count it, tell people, and see to the rest. */
void outcome_settled(struct auto_mode *mode, const struct task *task);
/* Tell and file what has an outcome, once that is written. */
void outcome_settle_due(struct auto_mode *mode);

/* The worker's attempt failed: its task is tried again or ends, and the worker
 * is reset. Nothing must have the worker. */
void outcome_attempt_failed(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* Take its task from the worker and reset it; its work is salvaged. Nothing
 * must have the worker. */
void outcome_clear_worker(struct agent *agent);

/* The worker is reset or removed: its task waits again. */
void outcome_worker_lost(
    struct auto_mode *mode, struct agent *agent, const char *reason);
/* A person merged its work: its task is done. */
void outcome_landed_elsewhere(struct auto_mode *mode, struct agent *agent);

#endif
