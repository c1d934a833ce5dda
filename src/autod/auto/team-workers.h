/* SPDX-License-Identifier: ISC */

/*
 * The workers for tasks that agents have asked for: team-1, team-2 and so on.
 * One is made when such a task waits for a worker, and removed when there is
 * nothing for it to do. They count against team.max_concurrent, not against
 * auto.concurrency, so that nobody waits for a worker that waits for it; those
 * that wait for others themselves do not count.
 */
#ifndef TEAM_WORKERS_H
#define TEAM_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

struct auto_mode;

/* This many of these tasks wait: make workers for those that will have none. */
void team_workers_ensure(struct auto_mode *mode, size_t waiting);
/* How many such tasks may be offered to workers at once? */
size_t team_workers_room(const struct auto_mode *mode);
/* Can no more of them be made, and has none of them nothing to do? */
bool team_workers_full(const struct auto_mode *mode);
/* Remove those that have had nothing to do for a while; now: all that have
 * nothing to do. Returns how many of these are left, which are being removed,
 * or are about to be. */
size_t team_workers_dismiss(struct auto_mode *mode, bool now);

#endif
