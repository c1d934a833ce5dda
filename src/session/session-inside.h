/* SPDX-License-Identifier: ISC */

/* The inside of session.h: the object, for the files of this folder only. */
#ifndef SESSION_INSIDE_H
#define SESSION_INSIDE_H

#include <sys/queue.h>

#include "errtext.h"
#include "hook-event.h"
#include "procref.h"
#include "session.h"

#define SESSION_SEEN_MAX 128 /* ids of hooks remembered against doubles */

struct loop_timer;
struct loop_watch;
struct transcript;

/* Who wants to be told that it has ended. */
struct session_waiter {
	TAILQ_ENTRY(session_waiter) entry;
	void (*fn)(void *fn_arg);
	void *arg;
};
TAILQ_HEAD(session_waiters, session_waiter);

/* Who asked for the screen. */
struct session_look {
	TAILQ_ENTRY(session_look) entry;
	struct session *session;
	void (*fn)(const char *text, void *fn_arg);
	void *arg;
};
TAILQ_HEAD(session_looks, session_look);

struct session {
	const struct session_host *host;
	struct session_events events; /* none is NULL */
	void *arg; /* of the events */
	struct session_record *record; /* the owner's */
	char *worker; /* "adam" */
	char *name; /* in tmux: "llmc-adam" */
	char *role;

	/* What runs. */
	bool running; /* launched or adopted, and not known to be gone */
	bool reported; /* its SessionStart has come */
	bool ending;
	bool acting; /* a command to tmux is under way, or waits for the record
		      * to be written */
	struct procref pane;
	struct loop_watch *watch; /* NULL: the kernel cannot tell */
	struct loop_timer *timer;
	int64_t since_ms; /* monotonic: of the launch, or of the ending */
	struct session_waiters waiters;
	struct session_looks looks;

	/* The launch. */
	int64_t start_timeout_ms;
	char *cwd;
	char *launcher; /* file that `llmc pane` reads */
	struct err refused; /* why that could not be written */
	bool late; /* SESSION_UNREPORTED has been told */

	/* What was heard. */
	bool compacting;
	bool background; /* its last turn left something running */
	char seen[SESSION_SEEN_MAX][HOOK_EVENT_ID_MAX + 1];
	size_t seen_next;

	/* Signs of life, monotonic; -1 = never. */
	struct transcript *transcript;
	int64_t hook_ms, grew_ms, cpu_ms;
	int64_t cpu_total_ms;
};

/* Call fn(session) when the record, which has changed, is written. */
void session_then(struct session *session, void (*fn)(void *session));
/* Look at what is to be done next, in ms at the latest. */
void session_tick_later(struct session *session, int64_t ms);
/* Forget the commands that are under way. */
void session_stop_acting(struct session *session);
/* The record knows of no process any more, and none is watched. */
void session_unwatch(struct session *session);
/* The process is gone. */
void session_gone(struct session *session);

#endif
