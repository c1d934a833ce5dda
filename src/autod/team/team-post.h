/* SPDX-License-Identifier: ISC */

/*
 * Mail on its way: who an actor is, and how mail becomes a record. Everybody on
 * this floor posts through team_mail_post() (team-mail.h).
 */
#ifndef TEAM_POST_H
#define TEAM_POST_H

#include "team-book.h"
#include "team-mail.h"

struct err;

/* The mail of an open record; valid until the record is changed. NULL: it is
 * not readable. */
const struct mail *team_post_mail(struct team_record *record);
/* Store the mail as it is now. */
void team_post_put(struct team_floor *floor, const struct mail *mail);

/* Who is meant. */
enum team_actor {
	TEAM_ACTOR_UNKNOWN,
	/* An agent, a task that waits for one, or a spawned agent whose task is
	 * still to be made. */
	TEAM_ACTOR_OPEN,
	TEAM_ACTOR_ENDED,
	TEAM_ACTOR_SYSTEM, /* the overseer, a person */
};
enum team_actor team_post_find(struct team_floor *floor, const char *actor);

/* Was this actor, which has no task, spawned by the task, or for the goal (may
 * be NULL)? */
bool team_post_spawned(const struct team_floor *floor, const char *actor,
    const char *parent, const char *goal);

/* Since when this agent is who it is: older mail was a namesake's. */
int64_t
team_post_since(const struct team_floor *floor, const struct agent *agent);

/* The task that this actor works on; NULL = none. */
struct task *team_post_task(struct team_floor *floor, const char *actor);

#endif
