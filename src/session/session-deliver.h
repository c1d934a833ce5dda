/* SPDX-License-Identifier: ISC */

/* Private to session/: delivers prompts to a session. */
#ifndef SESSION_DELIVER_H
#define SESSION_DELIVER_H

struct session;

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

#endif
