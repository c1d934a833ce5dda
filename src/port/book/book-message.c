/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "book-history.h"
#include "book.h"
#include "errtext.h"
#include "history-private.h"
#include "json.h"
#include "log.h"
#include "mem.h"
#include "message.h"
#include "schema.h"

/* Strings are borrowed. */
struct row {
	const char *id, *event, *title;
	enum escalation_level level;
	bool done;
	int64_t at_ms;
	struct json_object *body;
};

#define FIELD(member, ...) \
	SCHEMA_FIELD(struct row, #member, member, ##__VA_ARGS__)
static const struct schema_field fields[] = {
	BORROWED(struct row, id),
	BORROWED(struct row, event),
	BORROWED(struct row, title),
	FIELD(level, .words = escalation_level_words),
	FIELD(done),
	FIELD(at_ms),
	FIELD(body),
};

const struct book_table book_message = {
	.name = "message",
	.fields = fields,
	.count = nitems(fields),
	.keys = (const char *const[]){ "id", NULL },
	.more_ddl =
	    "CREATE INDEX IF NOT EXISTS message_done ON message (done, at_ms);"
	    "CREATE INDEX IF NOT EXISTS message_event ON message (event) "
	    "WHERE event IS NOT NULL;",
};

void
book_put_message(struct book *book, const struct message *message)
{
	cleanup_json struct json_object *body = message_to_json(message);

	book_put(book, &book_message,
	    &(struct row){ .id = message->id,
		.event = message->event,
		.title = message->title,
		.level = message->level,
		.done = message->done,
		.at_ms = message->at_ms,
		.body = body });
}

struct reading {
	book_message_fn *fn;
	void *arg;
};

static bool
on_row(struct book_row *row, void *arg)
{
	const struct reading *reading = arg;
	cleanup_json struct json_object *json = NULL;
	struct message *message = NULL;
	const char *body = book_text(row, 0);
	struct err err = { 0 };

	if (body == NULL ||
	    json_parse(body, strlen(body), MESSAGE_FILE_MAX, &json, &err) < 0 ||
	    message_from_json(json, &message, &err) < 0)
		log_info("a message cannot be read: %s", err.msg);
	else
		reading->fn(message, reading->arg);
	return true;
}

int
book_load_messages(
    struct book *book, book_message_fn *fn, void *arg, struct err *err)
{
	return book_query(book,
	    "SELECT m.body FROM message AS m WHERE m.done = 0 ORDER BY m.id",
	    NULL, 0, on_row, &(struct reading){ fn, arg }, err);
}

static void
on_found(struct message *message, void *arg)
{
	*(struct message **)arg = message;
}

struct message *
book_find_message(struct book *book, const char *id)
{
	struct message *found = NULL;

	book_query(book, "SELECT m.body FROM message AS m WHERE m.id = $1",
	    BOOK_VALUES(BOOK_T(id)), on_row,
	    &(struct reading){ on_found, &found }, NULL);
	return found;
}

bool
book_knows_event(struct book *book, const char *event)
{
	int64_t count = 0;

	book_get_int(book,
	    "SELECT count(*) FROM message AS m WHERE m.event = $1",
	    BOOK_VALUES(BOOK_T(event)), &count, NULL);
	return count > 0;
}
