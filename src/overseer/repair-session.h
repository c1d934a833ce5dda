/* SPDX-License-Identifier: ISC */

/*
 * One agent session of the overseer's own: launched in tmux as llmc-overseer,
 * heard through its own socket, prompted by the same protocol as the workers.
 */
#ifndef REPAIR_SESSION_H
#define REPAIR_SESSION_H

#include <stdbool.h>

struct err;
struct json_object;
struct overseer;
struct server_call;
struct session;

struct session_events {
	/* A turn ended; answer the call (NULL = nobody waits) with
	 * session_answer(). */
	void (*stopped)(
	    void *arg, struct server_call *call, struct json_object *data);
	/* A turn failed: error word and text. */
	void (*failed)(void *arg, const char *error, const char *text);
	/* The session ended by itself, or never began. */
	void (*died)(void *arg, const char *why);
	/* It is gone, as asked for with session_end(). */
	void (*ended)(void *arg);
};

/* End one that an earlier overseer may have left; nobody waits for that. */
void session_sweep(struct overseer *o);
/* Launch a fresh one in cwd; the prompt follows as soon as it is ready. */
int session_begin(struct overseer *o, const char *cwd, const char *prompt,
    const struct session_events *events, void *arg,
    struct session **ret_session, struct err *err);
void session_prompt(struct session *session, const char *text);
/* The Stop hook's answer: a reason sends it back. */
void session_answer(struct server_call *call, const char *reason);
void session_interrupt(struct session *session); /* Escape */
/* SIGTERM, a grace, SIGKILL, and the tmux session goes. */
void session_end(struct session *session);
/* Forget it without waiting. */
void session_free(struct session *session);
const char *session_transcript(const struct session *session); /* or NULL */

#endif
