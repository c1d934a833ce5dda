/* SPDX-License-Identifier: ISC */

/* The method worker.wait: answered when a worker reaches a status, when it is
 * removed, or on timeout. */
#ifndef WAITERS_H
#define WAITERS_H

struct fleet;
struct waiters;

/* Registers the method and subscribes to status changes. */
struct waiters *waiters_new(struct fleet *fleet);
void waiters_free(struct waiters *waiters);

/* The daemon stops: answer all of them. */
void waiters_stop(struct waiters *waiters);

#endif
