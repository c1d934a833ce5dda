/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "api.h"
#include "asks.h"
#include "attempt.h"
#include "auto.h"
#include "book.h"
#include "mail.h"
#include "notice.h"
#include "person.h"
#include "plan-floor.h"
#include "state.h"
#include "task.h"
#include "team-private.h"

#define SHOWN    1000 /* bytes of a body in a message to people */
#define AGAIN_MS ((int64_t)24 * 60 * 60 * 1000)

TAILQ_HEAD(box_list, team_box);

struct team_post {
	struct box_list boxes;
	struct mail_rate rate; /* what was sent in the last minute */
};

static bool
is_person(const char *actor)
{
	return strcmp(actor, ACTOR_PERSON) == 0;
}

/* --- open mail in memory ---------------------------------------------- */

static struct team_box *
find_box(struct team_post *post, const char *actor)
{
	struct team_box *box;

	TAILQ_FOREACH (box, &post->boxes, entry)
		if (strcmp(box->actor, actor) == 0)
			return box;
	return NULL;
}

const struct team_box *
team_post_next(const struct team_floor *floor, const struct team_box *box)
{
	return box == NULL ? TAILQ_FIRST(&floor->post->boxes) :
			     TAILQ_NEXT(box, entry);
}

const struct team_box *
team_post_box(const struct team_floor *floor, const char *actor)
{
	return find_box(floor->post, actor);
}

static void
box_free(struct team_post *post, struct team_box *box)
{
	TAILQ_REMOVE(&post->boxes, box, entry);
	for (size_t i = 0; i < box->count; i++)
		mail_free(box->mails[i]);
	free(box->mails);
	free(box->actor);
	free(box);
}

/* Takes it. Most are the newest. */
static void
keep(struct team_post *post, struct mail *mail)
{
	struct team_box *box = find_box(post, mail->to);
	size_t at;

	if (box == NULL) {
		box = xcalloc(1, sizeof *box);
		box->actor = xstrdup(mail->to);
		TAILQ_INSERT_TAIL(&post->boxes, box, entry);
	}
	box->mails =
	    xreallocarray(box->mails, box->count + 1, sizeof(struct mail *));
	for (at = box->count++;
	     at > 0 && box->mails[at - 1]->created_ms > mail->created_ms; at--)
		box->mails[at] = box->mails[at - 1];
	box->mails[at] = mail;
}

/* Forget what memory has of it, unless it is mail itself. */
static void
drop(struct team_post *post, const struct mail *mail)
{
	struct team_box *box = find_box(post, mail->to);
	size_t kept = 0;

	if (box == NULL)
		return;
	for (size_t i = 0; i < box->count; i++) {
		struct mail *own = box->mails[i];

		if (strcmp(own->id, mail->id) != 0)
			box->mails[kept++] = own;
		else if (own != mail)
			mail_free(own);
	}
	box->count = kept;
	if (kept == 0)
		box_free(post, box);
}

/* --- people ----------------------------------------------------------- */

static void
tell(struct team_floor *floor, const struct mail *mail, const char *worker,
    enum escalation_level level, const char *event, const char *title,
    const char *text)
{
	const struct task *task = team_actor_task(floor, mail->from);

	person_escalate(floor->core,
	    &(struct escalation){ .level = level,
		.event = event,
		.asked = state_ask(&floor->core->state, event) != NULL,
		.title = title,
		.text = text,
		.signature = event,
		.worker = worker,
		.task = task != NULL ? task->id : NULL,
		.task_title = task != NULL ? task->title : NULL,
		.goal = mail->goal,
		.class = notice_name(NOTICE_WORKER) });
}

/* It is for a person, who is notified once. */
static void
tell_of(struct team_floor *floor, const struct mail *mail)
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

	/* It waits for an answer, so it is an ask. */
	if (mail->ack_required) {
		cleanup_free char *command =
		    xasprintf("llmc mail ack %s", mail->id);

		asks_open(floor->core,
		    &(struct ask_draft){ .kind = ASK_APPROVAL,
			.level = levels[mail->kind],
			.key = event,
			.title = title,
			.words = text,
			.command = command,
			.worker = mail->from_worker,
			.goal = mail->goal,
			.stays = true });
	}
	tell(floor, mail, mail->from_worker, levels[mail->kind], event, title,
	    text);
}

/* --- records ---------------------------------------------------------- */

static int
is_ready(const struct team_floor *floor, struct err *err)
{
	if (floor->open)
		return 0;
	switch (floor->plan->state) {
	case PLAN_OFF:
		return err_set(err, -ENOTCONN,
		    "goals are off; a person can turn them on with: llmc "
		    "config set plan.enabled true");
	case PLAN_SAFE:
		return err_set(err, -ENOTCONN, "%s", floor->plan->why);
	default:
		return err_set(err, -EAGAIN,
		    "plans are being imported; try again in a moment");
	}
}

/* NULL = it is not readable. */
static struct mail *
mail_of_body(const char *body)
{
	cleanup_json struct json_object *json = NULL;
	struct mail *mail = NULL;

	if (json_parse(body, strlen(body), BOOK_BODY_MAX, &json, NULL) == 0)
		mail_from_json(json, "", &mail, NULL);
	return mail;
}

static bool
on_found(const struct book_record *record, void *arg)
{
	struct mail **mail = arg;

	*mail = mail_of_body(record->body);
	return false;
}

struct mail *
team_post_read(const struct team_floor *floor, const char *id)
{
	struct mail *mail = NULL;
	struct err err = { 0 };

	if (floor->open &&
	    book_read_bodies(floor->core->book, BOOK_MAIL, NULL, id, on_found,
		&mail, &err) < 0)
		log_debug("%s: %s", id, err.msg);
	return mail;
}

static int
write_mail(struct team_floor *floor, const struct mail *mail, struct err *err)
{
	cleanup_json struct json_object *json = mail_to_json(mail);
	cleanup_buf struct buf text = BUF_INIT;
	const char *goal = mail->goal != NULL ? mail->goal : TEAM_NO_GOAL;

	json_print(json, false, &text);
	return book_put_body(
	    floor->core->book, BOOK_MAIL, goal, mail->id, text.data, err);
}

void
team_post_save(struct team_floor *floor, struct mail *mail)
{
	struct err err = { 0 };

	if (write_mail(floor, mail, &err) < 0)
		log_debug("%s: %s", mail->id, err.msg);
	drop(floor->post, mail);
	if (mail->state == MAIL_OPEN &&
	    (!is_person(mail->to) || mail->to_host != NULL))
		keep(floor->post, mail);
	else
		mail_free(mail);
}

static struct mail *
from_draft(struct team_floor *floor, const struct mail_draft *draft)
{
	struct mail *mail = mail_new();
	const char *worker = draft->to_worker;
	const struct agent *agent = team_actor_agent(floor, draft->to);

	if (worker == NULL && agent != NULL)
		worker = agent->worker->name;
	xstrset(
	    &mail->from, draft->from != NULL ? draft->from : ACTOR_OVERSEER);
	xstrset(&mail->from_worker, draft->from_worker);
	xstrset(&mail->to, draft->to);
	xstrset(&mail->to_worker, worker);
	xstrset(&mail->to_host, draft->to_host);
	xstrset(&mail->subject, draft->subject);
	if (draft->data != NULL)
		mail_set_data(mail, draft->data);
	else
		xstrset(&mail->body, draft->body);
	mail->kind = draft->kind;
	mail->ack_required = draft->ack_required;
	mail->alerted = draft->alerted;
	xstrset(&mail->reply_to, draft->reply_to);
	xstrset(&mail->goal, draft->goal);
	if (draft->meta != NULL)
		mail_set_meta(mail, draft->meta);
	mail->created_ms = clock_wall_ms();
	mail->id = mail_id(mail->from, draft->key);
	return mail;
}

/* As the book has it: without what looks like a key or a password. */
static struct mail *
masked(struct mail *mail)
{
	cleanup_json struct json_object *json = mail_to_json(mail);
	cleanup_json struct json_object *safe = book_masked(json);
	struct mail *copy = NULL;

	if (mail_from_json(safe, "", &copy, NULL) < 0)
		return mail;
	mail_free(mail);
	return copy;
}

/* -EALREADY: it was posted before. */
static int
check(const struct team_floor *floor, const struct mail *mail, struct err *err)
{
	int64_t found = 0;
	int r = mail_check(mail, err);

	if (r < 0)
		return r;
	r = book_get_int(floor->core->book,
	    "SELECT 1 FROM mail AS r WHERE r.id = $1",
	    BOOK_VALUES(BOOK_T(mail->id)), &found, err);
	return r == -ENOENT ? 0 : r < 0 ? r : -EALREADY;
}

int
team_post_put(struct team_floor *floor, struct mail *mail, struct err *err)
{
	int r = is_ready(floor, err);

	mail = masked(mail);
	if (r == 0)
		r = check(floor, mail, err);
	if (r == 0)
		r = write_mail(floor, mail, err);
	if (r < 0) {
		mail_free(mail);
		return r == -EALREADY ? 0 : r;
	}
	mail_rate_add(
	    &floor->post->rate, mail->from, mail->created_ms, mail->created_ms);
	if (!is_person(mail->to) || mail->to_host != NULL) {
		keep(floor->post, mail);
	} else {
		if (!mail->alerted)
			tell_of(floor, mail);
		mail_free(mail);
	}
	team_floor_changed(floor);
	return 0;
}

int
team_mail_post(struct team_floor *floor, const struct mail_draft *draft,
    char **ret_id, struct err *err)
{
	struct mail *mail = from_draft(floor, draft);
	cleanup_free char *id = xstrdup(mail->id);
	int r = team_post_put(floor, mail, err);

	if (r == 0 && ret_id != NULL)
		*ret_id = take_ptr(&id);
	return r;
}

void
team_mail_settle(struct team_floor *floor, const char *id)
{
	struct mail *mail = team_post_read(floor, id);

	if (mail == NULL || mail->state != MAIL_OPEN) {
		mail_free(mail);
		return;
	}
	mail_acked(mail, clock_wall_ms());
	team_post_save(floor, mail);
}

/* --- limits ----------------------------------------------------------- */

struct tally {
	const char *from;
	size_t count;
};

static bool
on_counted(struct book_row *row, void *arg)
{
	struct tally *tally = arg;
	struct mail *mail = mail_of_body(book_text(row, 0));

	if (mail != NULL && strcmp(mail->from, tally->from) == 0)
		tally->count++;
	mail_free(mail);
	return tally->count < MAIL_SENDER_MAX;
}

size_t
team_post_count(const struct team_floor *floor, const char *actor)
{
	const struct team_box *box =
	    actor != NULL ? find_box(floor->post, actor) : NULL;
	int64_t count = 0;

	if (!floor->open)
		return 0;
	if (actor == NULL)
		book_get_int(floor->core->book,
		    "SELECT count(*) FROM mail AS r WHERE r.status = 'open'",
		    NULL, 0, &count, NULL);
	else if (is_person(actor))
		book_get_int(floor->core->book,
		    "SELECT count(*) FROM mail AS r"
		    " WHERE r.actor_id = $1 AND r.status = 'open'",
		    BOOK_VALUES(BOOK_T(actor)), &count, NULL);
	else
		count = box != NULL ? (int64_t)box->count : 0;
	return (size_t)count;
}

/* What a person has no ask of. */
size_t
team_post_unread(const struct team_floor *floor)
{
	int64_t count = 0;

	if (floor->open)
		book_get_int(floor->core->book,
		    "SELECT count(*) FROM mail AS r"
		    " WHERE r.actor_id = $1 AND r.status = 'open'"
		    " AND json_extract(r.body, '$.alerted') IS NOT 1"
		    " AND json_extract(r.body, '$.ack_required') IS NOT 1",
		    BOOK_VALUES(BOOK_T(ACTOR_PERSON)), &count, NULL);
	return (size_t)count;
}

/* How much of the open mail of this recipient is from this sender? */
static size_t
count_from(const struct team_floor *floor, const char *from, const char *to)
{
	const struct team_box *box = find_box(floor->post, to);
	struct tally tally = { .from = from };

	if (is_person(to))
		book_query(floor->core->book,
		    "SELECT r.body FROM mail AS r"
		    " WHERE r.actor_id = $1 AND r.status = 'open'"
		    " ORDER BY r.ts_ms DESC LIMIT $2",
		    BOOK_VALUES(BOOK_T(to), BOOK_I(MAIL_UNREAD_MAX)),
		    on_counted, &tally, NULL);
	for (size_t i = 0; box != NULL && i < box->count; i++)
		tally.count += strcmp(box->mails[i]->from, from) == 0;
	return tally.count;
}

int
team_post_limit(
    struct team_floor *floor, const char *from, const char *to, struct err *err)
{
	if (team_post_count(floor, to) >= MAIL_UNREAD_MAX)
		return err_set(err, API_FAILED,
		    "%s has %d pieces of mail that it has not read or "
		    "confirmed; no more is taken for it",
		    to, MAIL_UNREAD_MAX);
	if (strcmp(from, ACTOR_PERSON) == 0)
		return 0;
	if (mail_rate_count(&floor->post->rate, from, clock_wall_ms()) >=
	    MAIL_RATE_MAX)
		return err_set(err, API_E_RATE,
		    "you have sent %d pieces of mail in the last minute; put "
		    "what you have to say into one piece, and send it later",
		    MAIL_RATE_MAX);
	if (count_from(floor, from, to) >= MAIL_SENDER_MAX)
		return err_set(err, API_E_RATE,
		    "%s has %d pieces of mail from you that it has not read or "
		    "confirmed; wait until it has",
		    to, MAIL_SENDER_MAX);
	return 0;
}

/* --- mail without a recipient ----------------------------------------- */

/* Was it an order that needed a confirmation? */
static bool
is_missed(const struct mail *mail)
{
	return mail->kind == MAIL_INSTRUCTION && mail->ack_required &&
	    mail->acked_ms == 0 && strcmp(mail->from, ACTOR_OVERSEER) != 0;
}

void
team_post_undelivered(
    struct team_floor *floor, const struct mail *mail, const char *why)
{
	cleanup_free char *key = xasprintf("undelivered/%s", mail->id);
	cleanup_free char *subject = xasprintf("mail.undelivered:%s", mail->id);
	cleanup_free char *body =
	    xasprintf("Your mail %s (%.200s) was not delivered: %.500s",
		mail->id, mail->subject, why);
	struct err err = { 0 };

	if (team_mail_post(floor,
		&(struct mail_draft){ .key = key,
		    .to = mail->from,
		    .to_host = mail->from_host,
		    .subject = subject,
		    .body = body,
		    .kind = MAIL_INFO,
		    .reply_to = mail->id,
		    .goal = mail->goal },
		NULL, &err) < 0)
		log_debug("%s", err.msg);
}

/* All mail of a recipient that has ended. */
static void
close_box(struct team_floor *floor, struct team_box *box)
{
	cleanup_free char *actor = xstrdup(box->actor);

	while ((box = find_box(floor->post, actor)) != NULL) {
		struct mail *mail = mail_copy(box->mails[0]);

		mail_close(mail, clock_wall_ms());
		if (is_missed(mail) &&
		    (mail->from_host != NULL ||
			team_actor_find(floor, mail->from) == TEAM_ACTOR_OPEN ||
			strcmp(mail->from, ACTOR_PERSON) == 0)) {
			cleanup_free char *why = xasprintf(
			    "%s has ended, and did not confirm it", mail->to);

			team_post_undelivered(floor, mail, why);
		}
		team_post_save(floor, mail);
	}
}

static void
alert_box(struct team_floor *floor, struct team_box *box,
    const struct mail_pace *pace)
{
	for (size_t i = 0; i < box->count; i++) {
		struct mail *mail = box->mails[i];
		struct err err = { 0 };
		cleanup_free char *event = NULL;
		cleanup_free char *text = NULL;

		if (!mail_is_ignored(mail, pace, clock_wall_ms()))
			continue;
		mail->alerted = true;
		if (write_mail(floor, mail, &err) < 0)
			log_debug("%s: %s", mail->id, err.msg);
		/* It was given to its recipient again and again, and is not
		 * confirmed. */
		event = xasprintf("mail-ignored/%s", mail->id);
		text = xasprintf(
		    "%s was given mail %d times and does not confirm it (%s); read it "
		    "with: llmc mail show %s",
		    mail->to_worker != NULL ? mail->to_worker : mail->to,
		    mail->delivered, mail->subject, mail->id);
		tell(floor, mail, mail->to_worker, ESCALATION_WARNING, event,
		    "mail is not confirmed", text);
	}
}

void
team_post_close(struct team_floor *floor, const struct mail_pace *pace)
{
	cleanup_strv char **actors = NULL;
	struct team_box *box;

	TAILQ_FOREACH (box, &floor->post->boxes, entry)
		strv_add(&actors, box->actor);
	for (char **actor = actors; actor != NULL && *actor != NULL; actor++) {
		enum team_actor who = team_actor_find(floor, *actor);

		box = find_box(floor->post, *actor);
		if (box == NULL || box->mails[0]->to_host != NULL)
			continue; /* another host answers for it */
		if (who == TEAM_ACTOR_ENDED || who == TEAM_ACTOR_UNKNOWN)
			close_box(floor, box);
		else if (who == TEAM_ACTOR_OPEN)
			alert_box(floor, box, pace);
	}
}

/* --- life -------------------------------------------------------------- */

static bool
on_open(struct book_row *row, void *arg)
{
	struct team_floor *floor = arg;
	struct mail *mail = mail_of_body(book_text(row, 0));

	if (mail != NULL)
		keep(floor->post, mail);
	return true;
}

static bool
on_sent(struct book_row *row, void *arg)
{
	struct team_floor *floor = arg;
	struct mail *mail = mail_of_body(book_text(row, 0));

	if (mail != NULL)
		mail_rate_add(&floor->post->rate, mail->from, mail->created_ms,
		    clock_wall_ms());
	mail_free(mail);
	return true;
}

static bool
on_for_people(struct book_row *row, void *arg)
{
	struct mail *mail = mail_of_body(book_text(row, 0));

	if (mail != NULL && mail_is_new(mail) && !mail->alerted)
		tell_of(arg, mail);
	mail_free(mail);
	return true;
}

void
team_post_opened(struct team_floor *floor)
{
	struct book *book = floor->core->book;
	int64_t now = clock_wall_ms();
	struct err err = { 0 };
	int r;

	r = book_query(book,
	    "SELECT r.body FROM mail AS r WHERE r.status = 'open'"
	    " AND r.actor_id <> $1 ORDER BY r.ts_ms, r.id",
	    BOOK_VALUES(BOOK_T(ACTOR_PERSON)), on_open, floor, &err);
	if (r == 0)
		r = book_query(book,
		    "SELECT r.body FROM mail AS r WHERE r.ts_ms > $1",
		    BOOK_VALUES(BOOK_I(now - MAIL_RATE_MS)), on_sent, floor,
		    &err);
	if (r < 0)
		log_debug("mail cannot be read: %s", err.msg);
}

void
team_post_tell_again(struct team_floor *floor)
{
	struct err err = { 0 };

	if (book_query(floor->core->book,
		"SELECT r.body FROM mail AS r WHERE r.status = 'open'"
		" AND r.actor_id = $1 AND r.ts_ms >= $2"
		" ORDER BY r.ts_ms, r.id",
		BOOK_VALUES(
		    BOOK_T(ACTOR_PERSON), BOOK_I(clock_wall_ms() - AGAIN_MS)),
		on_for_people, floor, &err) < 0)
		log_debug("mail cannot be read: %s", err.msg);
}

void
team_post_closed(struct team_post *post)
{
	struct team_box *box;

	while ((box = TAILQ_FIRST(&post->boxes)) != NULL)
		box_free(post, box);
	mail_rate_release(&post->rate);
}

struct team_post *
team_post_new(void)
{
	struct team_post *post = xcalloc(1, sizeof *post);

	TAILQ_INIT(&post->boxes);
	return post;
}

void
team_post_free(struct team_post *post)
{
	if (post == NULL)
		return;
	team_post_closed(post);
	free(post);
}
