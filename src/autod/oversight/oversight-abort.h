/* SPDX-License-Identifier: ISC */

/* A person ends a task: it is aborted, not tried again, its work is salvaged,
 * and .llmc/aborted/<task>/ says why. */
#ifndef OVERSIGHT_ABORT_H
#define OVERSIGHT_ABORT_H

struct oversight_floor;

/* Abort what people want aborted, where it is possible now; what may last long
 * is ended for it. Call when a worker may have become free. */
void oversight_abort_settle(struct oversight_floor *floor);

/* The method task.abort: it waits for the worker's operation, or ends it; the
 * next daemon does what this one did not come to. */
void oversight_abort_register(struct oversight_floor *floor);
/* Refuse those who wait. */
void oversight_abort_stop(struct oversight_floor *floor);

#endif
