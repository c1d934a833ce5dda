/* SPDX-License-Identifier: ISC */

/* Private to session/: signs of life. */
#ifndef SESSION_LIFE_H
#define SESSION_LIFE_H

struct session;

/* Follow the transcript named in the record. */
void session_life_follow(struct session *session);

#endif
