/* SPDX-License-Identifier: ISC */

/*
 * Commands for the tmux server (tmux-job.h) wait here. Those for one session
 * run in the order they were given, those for different sessions in parallel.
 * Private to tmux*.c.
 */
#ifndef TMUX_QUEUE_H
#define TMUX_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct loop;
struct loop_call;
struct tmux_job;

TAILQ_HEAD(tmux_jobs, tmux_job);

struct tmux_queue {
	struct loop *loop;
	struct loop_call *pump;
	struct tmux_jobs jobs; /* waiting and running, oldest first */
	bool finishing; /* the loop runs for the last jobs */
	char *command, *socket, *config;
	int64_t deadline_ms;
};

void tmux_queue_init(struct tmux_queue *queue, struct loop *loop);
void tmux_queue_release(struct tmux_queue *queue); /* abandons every job */

/* Only finish the jobs that kill; the others are abandoned. Runs the loop. */
void tmux_queue_finish(struct tmux_queue *queue);

/* The jobs of `who` end with their present run, without a callback. */
void tmux_queue_forget(struct tmux_queue *queue, const void *who);

void tmux_queue_add(struct tmux_job *job);
void tmux_queue_end(struct tmux_job *job); /* from `done`; frees it and arg */

#endif
