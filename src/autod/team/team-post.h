/* SPDX-License-Identifier: ISC */

/*
 * Mail on its way: who an actor is, how mail becomes a record, how much may be
 * sent, and what becomes of mail that reaches nobody. Everybody on this floor
 * posts through team_mail_post() (team-mail.h).
 *
 * All mail is in the book. The open mail of agents is also in memory, because
 * every session is looked at again and again; it is always as the book has it.
 */
#ifndef TEAM_POST_H
#define TEAM_POST_H

#include <sys/queue.h>

#include "team-mail.h"

struct err;
struct team_post;

/* The goal of records that belong to none. */
#define TEAM_NO_GOAL "none"

struct team_post *team_post_new(void);
void team_post_free(struct team_post *post);
/* The book can be used: read what is open. It cannot be used any more. */
void team_post_opened(struct team_floor *floor);
void team_post_closed(struct team_post *post);
/* What came for people in the last day is told again, for the last daemon may
 * have died before it was: people are told once of each piece. */
void team_post_tell_again(struct team_floor *floor);

/* --- records ------------------------------------------------------------ */

/* Can records be written and read? 0, or words why not: goals are off, or the
 * book is of no use. */
int team_post_ready(const struct team_floor *floor, struct err *err);

/* The open mail of an agent, the oldest first. */
struct team_box {
	TAILQ_ENTRY(team_box) entry;
	char *actor;
	struct mail **mails;
	size_t count; /* never 0 */
};
/* NULL = it has none. Valid until mail is saved or posted. */
const struct team_box *
team_post_box(const struct team_floor *floor, const char *actor);

/* How much mail is open; actor: of this recipient, NULL = of all. */
size_t team_post_count(const struct team_floor *floor, const char *actor);

/* Mail that is open or not; the caller frees it. NULL = there is none. */
struct mail *team_post_read(const struct team_floor *floor, const char *id);
/* Write it as it is now. Takes it. */
void team_post_save(struct team_floor *floor, struct mail *mail);

/* May it be sent with mail_send or llmc mail send? 0, or a code of api.h with
 * words. What other parts of this floor post is never refused for want of
 * room. */
int team_post_limit(struct team_floor *floor, const char *from, const char *to,
    struct err *err);

/* Close mail of recipients that have ended, and tell the senders of
 * instructions that were to be confirmed; tell people of mail that is not
 * confirmed. */
void team_post_close(struct team_floor *floor, const struct mail_pace *pace);

/* --- actors ------------------------------------------------------------- */

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
