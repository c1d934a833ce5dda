/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask-record.h"
#include "book-history.h"
#include "book.h"
#include "history-private.h"
#include "schema.h"
#include "state.h"

const struct book_table *
book_ask_table(void)
{
	static const char *const keys[] = { "id", NULL };
	static struct book_table table = {
		.name = "ask",
		.keys = keys,
		.more_ddl =
		    "CREATE INDEX IF NOT EXISTS ask_ended ON ask (ended_ms);"
		    "CREATE INDEX IF NOT EXISTS ask_key ON ask (key);"
		    "CREATE INDEX IF NOT EXISTS ask_nr ON ask (nr);"
		    "CREATE INDEX IF NOT EXISTS ask_open ON ask (how, nr);",
	};

	table.fields = ask_schema.fields;
	table.count = ask_schema.count;
	return &table;
}

void
book_put_ask(struct book *book, const struct ask *ask)
{
	book_put(book, book_ask_table(), ask);
}

void
book_answer_ask(
    struct book *book, const char *id, const char *answer, const char *by)
{
	if (answer != NULL)
		BOOK_RUN(book,
		    "UPDATE ask SET how = 'answered', answer = $2, \"by\" = $3 "
		    "WHERE id = $1 AND how = 'resolved'",
		    BOOK_T(id), BOOK_T(answer), BOOK_T(by));
}

bool
book_knows_ask(struct book *book, const char *key)
{
	const struct book_value value = BOOK_T(key);
	int64_t count = 0;

	return book != NULL &&
	    book_get_int(book, "SELECT count(*) FROM ask AS a WHERE a.key = $1",
		&value, 1, &count, NULL) == 0 &&
	    count > 0;
}

struct reading {
	struct book *book;
	struct state *state; /* gets them, */
	struct json_object *list; /* or this */
};

static bool
on_row(struct book_row *row, void *arg)
{
	struct reading *reading = arg;
	struct ask *ask = schema_new(&ask_schema);
	struct err err = { 0 };

	if (book_read(reading->book, book_ask_table(), row, ask, &err) < 0) {
		log_debug("an ask cannot be read: %s", err.msg);
		ask_free(ask);
	} else if (reading->state != NULL) {
		state_add_ask(reading->state, ask);
	} else {
		json_object_array_add(
		    reading->list, schema_json(&ask_schema, ask));
		ask_free(ask);
	}
	return true;
}

/* A book of an earlier version, which nobody may change now, has none. */
static int
has_table(struct book *book, int64_t *ret_count, struct err *err)
{
	return book_get_int(book,
	    "SELECT count(*) FROM sqlite_schema AS s WHERE s.name = 'ask'",
	    NULL, 0, ret_count, err);
}

int
book_load_asks(struct book *book, struct state *state, struct err *err)
{
	struct reading reading = { .book = book, .state = state };
	int64_t tables = 0;
	int r = has_table(book, &tables, err);

	if (r < 0 || tables == 0)
		return r;
	r = book_query(book,
	    "SELECT ask.* FROM ask WHERE ask.how = 'open' ORDER BY ask.nr",
	    NULL, 0, on_row, &reading, err);
	return r < 0 ?
	    r :
	    book_get_int(book, "SELECT coalesce(max(a.nr), 0) FROM ask a", NULL,
		0, &state->ask_ids, err);
}

struct json_object *
book_list_asks(struct book *book, size_t limit, struct err *err)
{
	struct reading reading = { .book = book,
		.list = json_object_new_array() };
	int64_t tables = 0;
	int r = has_table(book, &tables, err);

	if (r == 0 && tables > 0)
		r = book_query(book,
		    "SELECT ask.* FROM ask WHERE ask.nr > (SELECT "
		    "coalesce(max(a.nr), 0) FROM ask a) - $1 ORDER BY ask.nr",
		    BOOK_VALUES(BOOK_I((int64_t)limit)), on_row, &reading, err);
	if (r < 0)
		json_object_put(take_ptr(&reading.list));
	return reading.list;
}
