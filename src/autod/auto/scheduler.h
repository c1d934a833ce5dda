/* SPDX-License-Identifier: ISC */

/* Assigns tasks to free workers, and detects when everything is done. */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>

struct auto_mode;

/* Remove those that have had nothing to do for a while; now: all that have
 * nothing to do. Returns how many of these are left, which are being removed,
 * or are about to be. */
size_t team_workers_dismiss(struct auto_mode *mode, bool now);
void scheduler_init(struct auto_mode *mode);

/* Does a task wait for which no worker is free, or will be in a moment? team:
 * for one of those workers, or for another one? */
bool scheduler_wants_worker(const struct auto_mode *mode, bool team);

/* Something changed: check for free workers at the end of this pass. */
void scheduler_look(struct auto_mode *mode);

#endif
