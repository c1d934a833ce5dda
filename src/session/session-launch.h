/* SPDX-License-Identifier: ISC */

/* Private to session/: starts a session. */
#ifndef SESSION_LAUNCH_H
#define SESSION_LAUNCH_H

struct session;

/* While waiting for SessionStart. */
void session_launch_tick(struct session *session);

#endif
