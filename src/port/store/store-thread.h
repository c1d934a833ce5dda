/* SPDX-License-Identifier: ISC */

/*
 * The thread that owns the database. It shares nothing with the rest of the
 * program but the queue: no clock, no log, no loop. All signals are blocked in
 * it. Forks of the program do not have it: a child only execs (child-exec.c).
 */
#ifndef STORE_THREAD_H
#define STORE_THREAD_H

#include <pthread.h>

struct store_queue;

struct store_thread {
	struct store_queue *queue;
	char *path; /* read by the thread */
	pthread_t id;
};

/* Begins by opening the file; the first request must be STORE_OP_OPENED, which
 * is answered with the result. -errno if no thread could be made. */
int store_thread_begin(struct store_thread *thread);

/* After store_queue_end(): wait until the requests are done and the file is
 * closed. */
void store_thread_join(struct store_thread *thread);

#endif
