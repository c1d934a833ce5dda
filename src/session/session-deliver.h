/* SPDX-License-Identifier: ISC */

/* The inside of session.h: prompts on their way into a session. */
#ifndef SESSION_DELIVER_H
#define SESSION_DELIVER_H

#include <stdbool.h>

struct session;

/* While it is up: the next step of a prompt on its way. */
void session_deliver_tick(struct session *session);

/* SessionStart has come, the first of this process: what was typed into an
 * earlier one is known to be submitted, or is to be typed again. */
void session_deliver_afresh(struct session *session);

/* This text has been submitted. True when it is the prompt that was on its way;
 * `submitted` has been told then. */
bool session_deliver_submitted(struct session *session, const char *text);

/* The same for a prompt whose hook was lost: see session_confirm(). */
bool session_deliver_confirm(struct session *session);

#endif
