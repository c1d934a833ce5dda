/* SPDX-License-Identifier: ISC */

/* The mail of a request for agents: spawn.request to the daemon, and its answer
 * spawn.accepted or spawn.denied. Both are stored with the other changes of the
 * same pass. */
#ifndef SPAWN_MAIL_H
#define SPAWN_MAIL_H

#include <stdbool.h>

struct err;
struct json_object;
struct team_floor;

struct spawn_letter {
	struct team_floor *floor;
	const char *request; /* its id */
	const char *actor, *worker; /* who asks */
	const char *goal, *node; /* of the subjects */
	bool stored; /* there is such a goal: the mail belongs to it */
	bool told; /* the agent learns the answer without its mail */
};

/* body: as spawn_request_body() makes it. As team_mail_post(). */
int spawn_mail_request(const struct spawn_letter *letter,
    struct json_object *body, struct err *err);
/* Its words are cut if they are too long. */
void spawn_mail_answer(
    const struct spawn_letter *letter, struct json_object *body, bool accepted);
/* The id of the answer to this request; the caller frees it. */
char *spawn_mail_answer_id(const char *request);

/* The id of a request: the same call has always the same one. The caller frees
 * it. */
char *spawn_mail_request_id(struct json_object *params);

#endif
