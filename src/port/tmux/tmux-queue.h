/* SPDX-License-Identifier: ISC */

/*
 * The inside of tmux.h: commands for the server wait here for their turn and
 * become children. Those for one session run in the order they were given,
 * those for different ones side by side.
 *
 * A job belongs to the queue from tmux_job_add() until tmux_job_end(). Its
 * `done` is called from the loop after each run and either gives it new words
 * and runs it again, or ends it.
 */
#ifndef TMUX_QUEUE_H
#define TMUX_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "buf.h"
#include "errtext.h"

struct child;
struct loop;
struct loop_call;
struct loop_timer;
struct tmux_job;

/* What a run brought. err.code is 0 on success, else one of tmux.h's codes.
 * out is standard output, valid until `done` returns. */
struct tmux_reply {
	struct err err;
	const char *out;
};
typedef void
tmux_job_fn(struct tmux_job *job, const struct tmux_reply *reply, void *arg);

struct tmux_job {
	TAILQ_ENTRY(tmux_job) entry;
	struct tmux_queue *queue;
	char *session; /* NULL = none in particular */
	bool starts; /* a server, where there is none; and again when the one
		      * that took it was just ending */
	char **words; /* argument vector */
	struct buf input; /* standard input, empty = none */
	struct buf text; /* done's to keep for a later run */
	char *cwd; /* NULL = ours */
	struct err refused; /* wrong before it began; told from the loop */
	struct child *child; /* while it runs */
	struct loop_timer *again; /* while it waits to be retried */
	int tries;
	tmux_job_fn *done;
	void *arg; /* done's, freed with the job */
	const void *who; /* is told in the end: see tmux_forget() */
};
TAILQ_HEAD(tmux_jobs, tmux_job);

struct tmux_queue {
	struct loop *loop;
	struct loop_call *pump;
	struct tmux_jobs jobs; /* waiting and running, oldest first */
	char *command, *socket, *config;
	int64_t deadline_ms;
};

void tmux_queue_init(struct tmux_queue *queue, struct loop *loop);
void tmux_queue_release(struct tmux_queue *queue); /* abandons every job */

/* The jobs of `who` end with their present run, and tell nobody. */
void tmux_queue_forget(struct tmux_queue *queue, const void *who);

/* arg is taken over and freed with free(3). session is copied. */
struct tmux_job *tmux_job_new(struct tmux_queue *queue, const char *session,
    tmux_job_fn *done, void *arg);

/* Begin the argument vector (anew): the program, its socket, its config. */
void tmux_job_command(struct tmux_job *job);
/* One word, taken literally, or a format of one. */
void tmux_job_word(struct tmux_job *job, const char *word);
void tmux_job_wordf(struct tmux_job *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Several, the last one NULL. */
void tmux_job_words(struct tmux_job *job, const char *first, ...)
    __attribute__((sentinel));
void tmux_job_then(struct tmux_job *job); /* ';' */

void tmux_job_add(struct tmux_job *job);
void tmux_job_run(struct tmux_job *job); /* again, from `done` */
void tmux_job_end(struct tmux_job *job); /* from `done`; frees it and arg */

#endif
