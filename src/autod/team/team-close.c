/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "clock.h"
#include "errtext.h"
#include "log.h"
#include "mem.h"
#include "task-run.h"
#include "team-close.h"
#include "team-floor.h"
#include "team-people.h"
#include "team-post.h"

/* Was it an order that somebody counts on? */
static bool
is_missed(const struct mail *mail)
{
	return mail->kind == MAIL_INSTRUCTION && mail->ack_required &&
	    mail->acked_ms == 0 && strcmp(mail->from, ACTOR_OVERSEER) != 0;
}

static void
tell_sender(struct team_floor *floor, const struct mail *mail)
{
	cleanup_free char *key = xasprintf("undelivered/%s", mail->id);
	cleanup_free char *subject = xasprintf("mail.undelivered:%s", mail->id);
	cleanup_free char *body =
	    xasprintf("%s has ended and did not confirm your mail %s (%.200s).",
		mail->to, mail->id, mail->subject);
	struct err err = { 0 };

	if (team_mail_post(floor,
		&(struct mail_draft){ .key = key,
		    .to = mail->from,
		    .subject = subject,
		    .body = body,
		    .kind = MAIL_INFO,
		    .reply_to = mail->id,
		    .goal = mail->goal },
		NULL, &err) < 0)
		log_debug("%s", err.msg);
}

static void
close_mail(struct team_floor *floor, const struct mail *mail)
{
	struct mail *copy = mail_copy(mail);

	mail_close(copy, clock_wall_ms());
	team_post_put(floor, copy);
	if (is_missed(copy) &&
	    (team_post_find(floor, copy->from) == TEAM_ACTOR_OPEN ||
		strcmp(copy->from, ACTOR_PERSON) == 0))
		tell_sender(floor, copy);
	mail_free(copy);
}

static void
alert(struct team_floor *floor, const struct mail *mail)
{
	struct mail *copy = mail_copy(mail);

	copy->alerted = true;
	team_post_put(floor, copy);
	team_people_ignored(floor, copy);
	mail_free(copy);
}

void
team_close_look(struct team_floor *floor, const struct mail_pace *pace)
{
	struct team_record *record, *next;
	int64_t now_ms = clock_wall_ms();

	if (team_book_ready(floor->book, NULL) < 0)
		return;
	for (record = team_book_next(floor->book, STORE_MAIL, NULL, NULL);
	     record != NULL; record = next) {
		const struct mail *mail = team_post_mail(record);
		enum team_actor who = record->actor != NULL ?
		    team_post_find(floor, record->actor) :
		    TEAM_ACTOR_UNKNOWN;

		next = team_book_next(floor->book, STORE_MAIL, NULL, record);
		if (mail == NULL)
			continue;
		if (who == TEAM_ACTOR_ENDED || who == TEAM_ACTOR_UNKNOWN)
			close_mail(floor, mail);
		else if (who == TEAM_ACTOR_OPEN &&
		    mail_is_ignored(mail, pace, now_ms))
			alert(floor, mail);
	}
}
