/* SPDX-License-Identifier: ISC */

/* A task waits for a person, without a worker: its work is committed and kept
 * (auto-private.h), and the worker is reset. */
#ifndef OP_PARK_TASK_H
#define OP_PARK_TASK_H

#include "ask.h"

struct agent;
struct auto_mode;

/* The task of this worker, for this reason. No operation may be running on the
 * worker. It is written down first: a task that still has its worker and wants
 * something of a person (task->ask) is to be parked again, after the daemon has
 * ended or this has failed. One that is answered meanwhile (task->answered)
 * goes on as soon as it is parked. */
void op_park_task(struct auto_mode *mode, struct agent *agent,
    enum ask_kind ask, const char *reason);
void op_park_task_again(struct auto_mode *mode, struct agent *agent);

#endif
