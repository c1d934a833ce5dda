/* SPDX-License-Identifier: ISC */

/*
 * worker.start: gives a task to a free worker of the pool, or to the one that
 * is named. If none is free but one is on its way (its worktree is being
 * prepared, or its session has not reported yet), the call waits for it, in the
 * order of the calls. It fails when that worker cannot be had any more, when
 * it takes too long, and when the daemon stops; a caller that has gone gets
 * nothing started.
 */
#ifndef START_QUEUE_H
#define START_QUEUE_H

struct fleet;
struct start_queue;

/* Registers the method. */
struct start_queue *start_queue_new(struct fleet *fleet);
void start_queue_free(struct start_queue *queue);

/* A worker may be ready by now. */
void start_queue_look(struct start_queue *queue);

/* Refuse the calls that wait. */
void start_queue_stop(struct start_queue *queue);

#endif
