/* SPDX-License-Identifier: ISC */

/* Private to session/: what its processes left behind (remains.h) is ended
 * before anything else happens. */
#ifndef SESSION_CLEAR_H
#define SESSION_CLEAR_H

struct session;

/* End it, then call fn: immediately, or from the loop. session->clearing is set
 * until then; session->left says what could not be ended. */
void session_clear_then(struct session *session, void (*fn)(struct session *s));

/* Do not wait for it any more. */
void session_clear_stop(struct session *session);

#endif
