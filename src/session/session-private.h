/* SPDX-License-Identifier: ISC */

/* Private to session/: the session object, and what its parts call. */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include <sys/queue.h>

#include "hook-event.h"
#include "procref.h"
#include "session.h"

#define SESSION_SEEN_MAX 128 /* hook events, for duplicates */

struct loop_timer;
struct loop_watch;
struct orphans;
struct transcript;

/* A caller of session_end() that waits for the end. */
struct session_waiter {
	TAILQ_ENTRY(session_waiter) entry;
	void (*fn)(void *fn_arg);
	void *arg;
};
TAILQ_HEAD(session_waiters, session_waiter);

/* A caller of session_screen(). */
struct session_look {
	TAILQ_ENTRY(session_look) entry;
	struct session *session;
	void (*fn)(const char *text, void *fn_arg);
	void *arg;
};
TAILQ_HEAD(session_looks, session_look);

struct session {
	const struct session_host *host;
	struct session_events events; /* no member is NULL */
	void *arg; /* of the events */
	struct session_record *record; /* owned by the owner */
	char *worker; /* "adam" */
	char *name; /* in tmux: "llmc-adam" */
	char *role;
	bool tools; /* it has those of llmc mcp */

	/* The process. */
	bool running; /* launched or adopted, and not known to be gone */
	bool reported; /* its SessionStart has arrived */
	bool resumed; /* it was launched to go on with a conversation */
	bool ending;
	bool acting; /* a tmux command is running, or waits for the record to be
		      * saved */
	struct procref pane;
	struct loop_watch *watch; /* NULL: not supported by the kernel */
	struct loop_timer *timer; /* what to do next */
	struct orphans *clearing; /* its process is gone, something that it
				   * started may not be: orphans.h */
	void (*on_cleared)(struct session *session);
	struct err left; /* what could not be ended; code 0 = nothing */
	bool keeps_screen; /* nothing was running: tmux keeps what it has */
	int64_t since_ms; /* monotonic: when the launch, or the end, began */
	struct session_waiters waiters;
	struct session_looks looks;

	/* The launch. */
	int64_t start_timeout_ms;
	char *cwd;
	char *launcher; /* file that `llmc pane` reads */
	struct err refused; /* why it could not be written */
	bool late; /* SESSION_UNREPORTED was reported */

	/* Reported by hooks. */
	bool blank; /* it is ready, and has no conversation yet */
	bool listed; /* its tools are connected */
	int64_t held_ms; /* monotonic: the first prompt waits until then; -1 =
			  * it does not wait */
	bool compacting;
	bool background; /* its last turn left something running */
	uint64_t seen[SESSION_SEEN_MAX]; /* hashes of their ids */
	size_t seen_next;

	/* Signs of life, monotonic; -1 = never. */
	struct transcript *transcript;
	int64_t hook_ms, grew_ms, tool_ms, cpu_ms;
	int64_t cpu_total_ms;
	int64_t interrupted; /* interruptions in the transcript so far; -1 = it
			      * was not read yet */
	int64_t failed; /* turns that have failed, likewise */
	bool own_interrupt; /* the next one is ours; until the end of a turn */
};

/* --- session-process.c: its process, to the end. */

/* Call fn(session) when the changed record is saved. */
void session_then(struct session *session, void (*fn)(void *session));
/* Check what to do next, in ms at the latest. */
void session_tick_later(struct session *session, int64_t ms);
/* Forget running commands. */
void session_stop_acting(struct session *session);
/* Forget the process, and stop watching it. */
void session_unwatch(struct session *session);
/* The process is gone: end what it left, and report it. */
void session_gone(struct session *session);
/* Nothing of it is left: the rest of its end. */
void session_end_rest(struct session *session);

/* What its processes left behind (orphans.h) is ended before anything else
 * happens. */

/* End it, then call fn: immediately, or from the loop. session->clearing is set
 * until then; session->left says what could not be ended. */
void session_clear_then(struct session *session, void (*fn)(struct session *s));

/* Let go of the transcript that is followed: the owner may have it. */
void session_life_leave(struct session *session);
/* Follow the transcript named in the record. */
void session_life_follow(struct session *session);

/* --- session-deliver.c: delivers prompts to a session. */

/* While it is up: the next step of the pending prompt. */
void session_deliver_tick(struct session *session);

/* The first SessionStart of a new process: a prompt typed into an earlier one
 * was either submitted or must be typed again. */
void session_deliver_afresh(struct session *session);

/* Likewise: its first prompt waits for its tools; they are connected. */
void session_deliver_hold(struct session *session);
void session_deliver_release(struct session *session);

/* This text was submitted. True if it is the pending prompt; `submitted` has
 * been called then. */
bool session_deliver_submitted(struct session *session, const char *text);

/* The same for a prompt whose hook was lost: see session_confirm(). */
bool session_deliver_confirm(struct session *session);

/* session-launch.c, while waiting for SessionStart. */
void session_launch_tick(struct session *session);

#endif
