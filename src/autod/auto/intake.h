/* SPDX-License-Identifier: ISC */

/* Tasks out of their source: offered, written down, taken, in that order. */
#ifndef INTAKE_H
#define INTAKE_H

#include <stddef.h>

#include "task.h"

struct auto_mode;
struct err;
struct source;

/* The source, opened when it is not yet; NULL when that fails. */
struct source *intake_source(struct auto_mode *mode, struct err *err);
/* Is it a task of the source that is in use? The source must be open. */
bool intake_owns(const struct auto_mode *mode, const struct task *task);
/* How many tasks are at this step? */
size_t intake_count(const struct auto_mode *mode, enum task_step step);

/* Give back what was taken and nobody works on, then watch for more. */
void intake_begin(struct auto_mode *mode);
/* Take what has been offered, once that is written down. */
void intake_take(struct auto_mode *mode);
/* Have the source offer one. Not while it is being asked. */
void intake_ask(struct auto_mode *mode);
/* The source may have something new: it is asked when a worker is free. */
void intake_changed(struct auto_mode *mode);
/* The end of a run: give back what nobody has begun. */
void intake_release(struct auto_mode *mode);

#endif
