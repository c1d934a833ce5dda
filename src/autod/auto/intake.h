/* SPDX-License-Identifier: ISC */

/* Gets tasks from their source: each is offered, saved, then taken. */
#ifndef INTAKE_H
#define INTAKE_H

#include "task.h"

struct auto_mode;
struct err;
struct source;

/* The source, opened if it is not yet; NULL if that fails. */
struct source *intake_source(struct auto_mode *mode, struct err *err);
/* Does the task come from the current source? The source must be open. */
bool intake_owns(const struct auto_mode *mode, const struct task *task);
/* Does it come from the floor above? */
bool intake_is_planned(const struct task *task);

/* Which workers get it, and who is asked for more. */
enum intake_kind {
	INTAKE_POOL, /* from the source; for auto-N */
	INTAKE_PLAN, /* from the floor above; for auto-N */
	INTAKE_TEAM, /* the same, an agent asked for it; for team-N */
};
enum intake_kind intake_kind_of(const struct task *task);
/* How many tasks are at this step? */
size_t intake_count(const struct auto_mode *mode, enum task_step step);
/* How many tasks of this kind wait for a worker? */
size_t intake_unstarted(const struct auto_mode *mode, enum intake_kind kind);

/* Give back tasks that were taken but not started, then watch for more. */
void intake_begin(struct auto_mode *mode);
/* Take the offered tasks, once they are saved. */
void intake_take(struct auto_mode *mode);
/* Ask the source for a task. Not while it is being asked. */
void intake_ask(struct auto_mode *mode);
/* Ask the floor above for tasks of this kind, so that `wanted` of them wait. */
void
intake_ask_plan(struct auto_mode *mode, enum intake_kind kind, size_t wanted);
/* Tell where the task came from how it ended. -EINPROGRESS = ask again. */
int
intake_settle(struct auto_mode *mode, const struct task *task, struct err *err);
/* The source may have new tasks: ask when a worker is free. */
void intake_changed(struct auto_mode *mode);
/* End of a run: give back tasks that were not started. */
void intake_release(struct auto_mode *mode);

#endif
