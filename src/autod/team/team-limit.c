/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "mail-rate.h"
#include "mail.h"
#include "mem.h"
#include "task-run.h"
#include "team-book.h"
#include "team-floor.h"
#include "team-limit.h"

#define READ_MAX 500 /* pieces that are read when the store is opened */

struct team_limit {
	struct team_floor *floor;
	struct mail_rate rate;
	bool read; /* what was sent before */
};

static void
on_part(const struct store_part *part, void *arg)
{
	struct team_limit *limit = arg;
	int64_t now_ms = clock_wall_ms();

	for (size_t i = 0; i < part->record_count; i++) {
		const char *body = part->records[i].body;
		cleanup_json struct json_object *json = NULL;

		if (json_parse(
			body, strlen(body), STORE_BODY_MAX, &json, NULL) == 0)
			mail_rate_add(&limit->rate,
			    json_string_or(json, "sender", ""),
			    json_int_or(json, "ts", 0), now_ms);
	}
	if (part->last)
		limit->read = true;
}

void
team_limit_opened(struct team_limit *limit)
{
	team_book_read(limit->floor->book, STORE_MAIL, NULL, NULL, READ_MAX,
	    on_part, limit);
}

void
team_limit_closed(struct team_limit *limit)
{
	mail_rate_release(&limit->rate);
	limit->read = false;
}

/* How much of the open mail of this recipient is from this sender? */
static size_t
count_open(const struct team_floor *floor, const char *from, const char *to)
{
	struct team_record *record = NULL;
	size_t count = 0;

	while ((record = team_book_next(floor->book, STORE_MAIL, to, record)) !=
	    NULL)
		count += strcmp(json_string_or(record->body, "sender", ""),
			     from) == 0;
	return count;
}

int
team_limit_check(
    struct team_limit *limit, const char *from, const char *to, struct err *err)
{
	const struct team_floor *floor = limit->floor;

	if (team_book_count(floor->book, STORE_MAIL, to) >= MAIL_UNREAD_MAX)
		return err_set(err, API_FAILED,
		    "%s has %d pieces of mail that it has not read or "
		    "confirmed; no more is taken for it",
		    to, MAIL_UNREAD_MAX);
	if (strcmp(from, ACTOR_PERSON) == 0)
		return 0;
	if (!limit->read)
		return err_set(err, API_BUSY,
		    "the store of goals is being read; try again in a moment");
	if (mail_rate_count(&limit->rate, from, clock_wall_ms()) >=
	    MAIL_RATE_MAX)
		return err_set(err, API_E_RATE,
		    "you have sent %d pieces of mail in the last minute; put "
		    "what you have to say into one piece, and send it later",
		    MAIL_RATE_MAX);
	if (count_open(floor, from, to) >= MAIL_SENDER_MAX)
		return err_set(err, API_E_RATE,
		    "%s has %d pieces of mail from you that it has not read or "
		    "confirmed; wait until it has",
		    to, MAIL_SENDER_MAX);
	return 0;
}

void
team_limit_posted(struct team_limit *limit, const struct mail *mail)
{
	mail_rate_add(
	    &limit->rate, mail->from, mail->created_ms, mail->created_ms);
}

struct team_limit *
team_limit_new(struct team_floor *floor)
{
	struct team_limit *limit = xcalloc(1, sizeof *limit);

	limit->floor = floor;
	return limit;
}

void
team_limit_free(struct team_limit *limit)
{
	if (limit == NULL)
		return;
	mail_rate_release(&limit->rate);
	free(limit);
}
