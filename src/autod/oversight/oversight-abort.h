/* SPDX-License-Identifier: ISC */

/* A task that goes wrong is ended, by oversight or by a person: it is aborted,
 * not tried again, its work is salvaged, and .llmc/aborted/<task>/ says why.
 */
#ifndef OVERSIGHT_ABORT_H
#define OVERSIGHT_ABORT_H

struct detection;
struct err;
struct oversight_floor;
struct task;

struct oversight_abort {
	const char *actor;
	const char *user; /* NULL = not known, or no person */
	const char *why; /* NULL = not given */
	const struct detection *detection; /* NULL = none */
};

/* As outcome_drop(). The task may be gone on success. */
int oversight_abort(struct oversight_floor *floor, struct task *task,
    const struct oversight_abort *how, struct err *err);

/* The evidence gets the iterations as they are now. */
void oversight_abort_keep_iterations(
    const struct oversight_floor *floor, const char *task);

/* Abort what people want aborted, where it is possible now; what may last long
 * is ended for it. Call when a worker may have become free. */
void oversight_abort_settle(struct oversight_floor *floor);

/* The method task.abort: it waits for the worker's operation, or ends it; the
 * next daemon does what this one did not come to. */
void oversight_abort_register(struct oversight_floor *floor);
/* Refuse those who wait. */
void oversight_abort_stop(struct oversight_floor *floor);

#endif
