/* SPDX-License-Identifier: ISC */

/* The method worker.wait: answered when a worker reaches a status, when it is
 * gone, or when the time is up. */
#ifndef WAITERS_H
#define WAITERS_H

struct fleet;
struct waiters;

/* Registers the method, subscribes to the workers' moves. */
struct waiters *waiters_new(struct fleet *fleet);
void waiters_free(struct waiters *waiters);

/* The daemon stops: everybody is told. */
void waiters_stop(struct waiters *waiters);

#endif
