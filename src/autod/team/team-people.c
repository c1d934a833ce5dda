/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "escalation.h"
#include "mail.h"
#include "mem.h"
#include "person.h"
#include "task.h"
#include "team-floor.h"
#include "team-people.h"
#include "team-post.h"
#include "text.h"

#define SHOWN 1000 /* bytes of a body */

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
