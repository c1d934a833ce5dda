/* SPDX-License-Identifier: ISC */

/* Mail between agents, the daemon and people: team.mail_*, mail.*, and what the
 * other parts of this floor send. */
#ifndef TEAM_MAIL_H
#define TEAM_MAIL_H

#include <stdbool.h>

#include "mail.h"

struct agent;
struct json_object;
struct task;
struct team_floor;

/* Everything is copied. */
struct mail_draft {
	/* Mail of the same sender with the same key is sent once, however often
	 * it is posted: "completed/t17-2". */
	const char *key;
	const char *from; /* actor id; NULL = the overseer */
	const char *from_worker; /* NULL = none */
	const char *to; /* actor id */
	const char *to_worker; /* NULL: looked up */
	const char *subject;
	const char *body; /* a text; or */
	struct json_object *data; /* an object, borrowed */
	enum mail_kind kind;
	bool ack_required;
	const char *reply_to; /* id of mail; NULL = none */
	const char *goal; /* id; NULL = none */
	struct json_object *meta; /* about a plan (plan-meta.h); NULL = none */
	bool told; /* a person or the overseer learns of it in another way */
};

/* Registers its methods. */
void team_mail_register(struct team_floor *floor);

/* Store it with the other changes of this pass, and deliver it then. 0, also if
 * it was posted before. -EINVAL, -E2BIG; or what team_post_ready() says. ret_id
 * (may be NULL) is owned by the caller. */
int team_mail_post(struct team_floor *floor, const struct mail_draft *draft,
    char **ret_id, struct err *err);

/* Open mail with this id, if there is any, needs nothing more: it was acted on,
 * or its recipient knows what it says. */
void team_mail_settle(struct team_floor *floor, const char *id);

/* Who an agent is, for mail and for all records: its task's actor, or
 * "actor:worker:<name>" without a task; the caller frees it. */
char *team_mail_actor(const struct agent *agent);

/* The agent that is this actor now; NULL = none. */
struct agent *team_mail_agent(struct team_floor *floor, const char *actor);

#endif
