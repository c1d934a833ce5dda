/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "clock.h"
#include "escalation.h"
#include "mail.h"
#include "mem.h"
#include "person.h"
#include "task-run.h"
#include "task.h"
#include "team-floor.h"
#include "team-people.h"
#include "team-post.h"
#include "text.h"

#define SHOWN    1000 /* bytes of a body */
#define AGAIN_MS ((int64_t)24 * 60 * 60 * 1000)

static void
tell(struct team_floor *floor, const struct mail *mail, const char *worker,
    enum escalation_level level, const char *event, const char *title,
    const char *text)
{
	const struct task *task = team_post_task(floor, mail->from);

	person_escalate(floor->core,
	    &(struct escalation){ .level = level,
		.event = event,
		.title = title,
		.text = text,
		.signature = event,
		.worker = worker,
		.task = task != NULL ? task->id : NULL,
		.task_title = task != NULL ? task->title : NULL,
		.goal = mail->goal },
	    NOTICE_WORKER);
}

void
team_people_got(struct team_floor *floor, const struct mail *mail)
{
	static const enum escalation_level levels[MAIL_KIND_COUNT] = {
		[MAIL_INFO] = ESCALATION_INFO,
		[MAIL_INSTRUCTION] = ESCALATION_WARNING,
		[MAIL_ALERT] = ESCALATION_CRITICAL,
	};
	cleanup_free char *event = xasprintf("mail/%s", mail->id);
	cleanup_free char *title = xasprintf("mail from %s",
	    mail->from_worker != NULL ? mail->from_worker : mail->from);
	size_t len = text_cut(mail->body, strlen(mail->body), SHOWN);
	cleanup_free char *text =
	    xasprintf("%s: %.*s%s; read it with: llmc mail show %s",
		mail->subject, (int)len, mail->body,
		mail->body[len] != '\0' ? "..." : "", mail->id);

	tell(floor, mail, mail->from_worker, levels[mail->kind], event, title,
	    text);
}

void
team_people_ignored(struct team_floor *floor, const struct mail *mail)
{
	cleanup_free char *event = xasprintf("mail-ignored/%s", mail->id);
	cleanup_free char *text = xasprintf(
	    "%s was given mail %d times and does not confirm it (%s); read it "
	    "with: llmc mail show %s",
	    mail->to_worker != NULL ? mail->to_worker : mail->to,
	    mail->delivered, mail->subject, mail->id);

	tell(floor, mail, mail->to_worker, ESCALATION_WARNING, event,
	    "mail is not confirmed", text);
}

void
team_people_opened(struct team_floor *floor)
{
	static const char *const boxes[] = { ACTOR_PERSON, ACTOR_OVERSEER };
	int64_t since_ms = clock_wall_ms() - AGAIN_MS;

	for (size_t i = 0; i < nitems(boxes); i++) {
		struct team_record *record = NULL;

		while ((record = team_book_next(floor->book, STORE_MAIL,
			    boxes[i], record)) != NULL) {
			const struct mail *mail = team_post_mail(record);

			if (mail != NULL && mail_is_new(mail) &&
			    !mail->alerted && mail->created_ms >= since_ms)
				team_people_got(floor, mail);
		}
	}
}
