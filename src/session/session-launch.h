/* SPDX-License-Identifier: ISC */

/* The inside of session.h: a session begins. */
#ifndef SESSION_LAUNCH_H
#define SESSION_LAUNCH_H

struct session;

/* While SessionStart is awaited. */
void session_launch_tick(struct session *session);

#endif
