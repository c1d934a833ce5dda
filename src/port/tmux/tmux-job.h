/* SPDX-License-Identifier: ISC */

/*
 * A command for the tmux server, which becomes a child: its words, and what its
 * answer means. For tmux*.c only.
 *
 * A job belongs to its queue from tmux_queue_add() until tmux_queue_end(). Its
 * `done` is called from the loop after each run and either gives it new words
 * and runs it again, or ends it.
 */
#ifndef TMUX_JOB_H
#define TMUX_JOB_H

#include <sys/queue.h>

struct child;
struct loop_timer;
struct tmux_job;
struct tmux_queue;

/* The result of a run. err.code is 0 on success, else one of tmux.h's codes.
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
	bool kills; /* ends its session: done also without a caller */
	bool starts; /* may start a server; tried again if the one that accepted
		      * it was just ending */
	char **words; /* argument vector */
	struct buf input; /* standard input, empty = none */
	struct buf text; /* kept by `done` for a later run */
	char *cwd; /* NULL = ours */
	struct err refused; /* before it began; reported from the loop */
	struct child *child; /* while it runs */
	struct loop_timer *again; /* while it waits to be retried */
	int tries;
	tmux_job_fn *done;
	void *arg; /* of `done`, freed with the job */
	const void *who; /* whose callback it is: see tmux_forget() */
};

/* Takes ownership of arg, which is freed with free(3). session is copied. */
struct tmux_job *tmux_job_new(struct tmux_queue *queue, const char *session,
    tmux_job_fn *done, void *arg);

/* Begin a new argument vector: the program, its socket, its config. */
void tmux_job_command(struct tmux_job *job);
/* Add one word, taken literally, or made from a format. */
void tmux_job_word(struct tmux_job *job, const char *word);
void tmux_job_wordf(struct tmux_job *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Add several words, the last one NULL. */
void tmux_job_words(struct tmux_job *job, const char *first, ...)
    __attribute__((sentinel));
void tmux_job_then(struct tmux_job *job); /* ';' */

/* Start it, for the first time or again. False if it could not be started and
 * `done` was called: then the job, and the queue itself, may be gone. */
bool tmux_job_run(struct tmux_job *job);

/* Abandons a running child. */
void tmux_job_free(struct tmux_job *job);

#endif
