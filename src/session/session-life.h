/* SPDX-License-Identifier: ISC */

/* The inside of session.h: signs of life. */
#ifndef SESSION_LIFE_H
#define SESSION_LIFE_H

struct session;

/* Follow the transcript that the record names. */
void session_life_follow(struct session *session);

#endif
