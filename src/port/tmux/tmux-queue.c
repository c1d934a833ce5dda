/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "tmux-job.h"
#include "tmux-queue.h"

#define FINISH_MS 2000

static bool
job_waits_for(const struct tmux_job *job, const struct tmux_job *earlier)
{
	return job->session != NULL && earlier->session != NULL &&
	    strcmp(job->session, earlier->session) == 0;
}

static struct tmux_job *
queue_ready(struct tmux_queue *queue)
{
	struct tmux_job *job, *earlier;

	TAILQ_FOREACH (job, &queue->jobs, entry) {
		if (job->child != NULL || job->again != NULL)
			continue;
		TAILQ_FOREACH (earlier, &queue->jobs, entry)
			if (earlier == job || job_waits_for(job, earlier))
				break;
		if (earlier == job)
			return job;
	}
	return NULL;
}

/* If a job fails to start, its end has requested another call of this. */
static void
queue_pump(void *arg)
{
	struct tmux_queue *queue = arg;
	struct tmux_job *job;

	while ((job = queue_ready(queue)) != NULL)
		if (!tmux_job_run(job))
			return;
}

void
tmux_queue_add(struct tmux_job *job)
{
	TAILQ_INSERT_TAIL(&job->queue->jobs, job, entry);
	loop_call_request(job->queue->pump);
}

void
tmux_queue_end(struct tmux_job *job)
{
	struct tmux_queue *queue = job->queue;

	TAILQ_REMOVE(&queue->jobs, job, entry);
	loop_call_request(queue->pump);
	tmux_job_free(job);
	if (queue->finishing && TAILQ_EMPTY(&queue->jobs))
		loop_stop(queue->loop, 0);
}

void
tmux_queue_init(struct tmux_queue *queue, struct loop *loop)
{
	memset(queue, 0, sizeof *queue);
	queue->loop = loop;
	queue->pump = loop_call_new(loop, queue_pump, queue);
	TAILQ_INIT(&queue->jobs);
}

void
tmux_queue_release(struct tmux_queue *queue)
{
	struct tmux_job *job;

	while ((job = TAILQ_FIRST(&queue->jobs)) != NULL) {
		TAILQ_REMOVE(&queue->jobs, job, entry);
		tmux_job_free(job);
	}
	loop_call_free(queue->pump);
	free(queue->command);
	free(queue->socket);
	free(queue->config);
}

static void
forgotten(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	(void)reply;
	(void)arg;
	tmux_queue_end(job);
}

void
tmux_queue_forget(struct tmux_queue *queue, const void *who)
{
	struct tmux_job *job;

	TAILQ_FOREACH (job, &queue->jobs, entry)
		if (job->who == who)
			job->done = forgotten;
}

static void
on_late(void *arg)
{
	struct tmux_queue *queue = arg;

	loop_stop(queue->loop, 0);
}

void
tmux_queue_finish(struct tmux_queue *queue)
{
	struct tmux_job *job, *next;
	struct loop_timer *late;

	for (job = TAILQ_FIRST(&queue->jobs); job != NULL; job = next) {
		next = TAILQ_NEXT(job, entry);
		job->done = forgotten;
		if (job->kills)
			continue;
		TAILQ_REMOVE(&queue->jobs, job, entry);
		tmux_job_free(job);
	}
	if (TAILQ_EMPTY(&queue->jobs))
		return;
	queue->finishing = true;
	late = loop_after(queue->loop, FINISH_MS, on_late, queue);
	loop_call_request(queue->pump);
	loop_run(queue->loop);
	loop_timer_free(late);
	queue->finishing = false;
}
