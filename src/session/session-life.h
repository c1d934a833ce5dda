/* SPDX-License-Identifier: ISC */

/* Private to session/: signs of life. */
#ifndef SESSION_LIFE_H
#define SESSION_LIFE_H

struct session;

/* Let go of the transcript that is followed: the owner may have it. */
void session_life_leave(struct session *session);
/* Follow the transcript named in the record. */
void session_life_follow(struct session *session);

#endif
