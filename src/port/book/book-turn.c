/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "history-private.h"
#include "book-history.h"
#include "book.h"
#include "schema.h"

#define MICROS 1e6

/* What oversight recorded (watched.h), with what is asked for in columns. */
struct turn {
	const char *task;
	int64_t seq; /* of the task's records */
	int64_t at_ms;
	const char *worker;
	int64_t number; /* of the turn; 0 = it tells of something else */
	const char *status; /* that the turn was found to have */
	int64_t duration_ms, cost; /* millionths of a dollar */
	const char *level, *outcome; /* of an intervention */
	const char *body; /* JSON */
};

#define FIELD(member) SCHEMA_FIELD(struct turn, #member, member)

static const struct schema_field fields[] = {
	BORROWED(struct turn, task),
	FIELD(seq),
	FIELD(at_ms),
	BORROWED(struct turn, worker),
	FIELD(number),
	BORROWED(struct turn, status),
	FIELD(duration_ms),
	FIELD(cost),
	BORROWED(struct turn, level),
	BORROWED(struct turn, outcome),
	BORROWED(struct turn, body),
};

const struct book_table book_turn = {
	.name = "turn",
	.fields = fields,
	.count = nitems(fields),
	.keys = (const char *const[]){ "task", "seq", NULL },
};

static int64_t
positive(struct json_object *object, const char *key)
{
	int64_t number = json_int_or(object, key, 0);

	return number > 0 ? number : 0;
}

void
book_put_turn(struct book *book, const char *task, int64_t seq,
    struct json_object *record)
{
	struct json_object *it = json_object_object_get(record, "iteration");
	struct json_object *act =
	    json_object_object_get(record, "intervention");
	struct json_object *outcome = json_object_object_get(record, "outcome");
	cleanup_buf struct buf body = BUF_INIT;
	struct turn row = {
		.task = task,
		.seq = seq,
		.at_ms = positive(record, "at_ms"),
		.worker = json_string_or(record, "worker", NULL),
		.number = positive(it, "number"),
		.status = json_string_or(
		    json_object_object_get(record, "check"), "status", NULL),
		.duration_ms = positive(it, "durationMs"),
		.cost = (int64_t)(json_object_get_double(
				      json_object_object_get(it, "cost")) *
		    MICROS),
		.level =
		    json_string_or(act != NULL ? act : outcome, "level", NULL),
		.outcome = json_string_or(outcome, "outcome", NULL),
	};

	json_print(record, false, &body);
	row.body = body.data;
	book_put(book, &book_turn, &row);
}

void
book_delete_turns(struct book *book, const char *task, int64_t last)
{
	BOOK_RUN(book, "DELETE FROM turn WHERE task = $1 AND seq <= $2",
	    BOOK_T(task), BOOK_I(last));
}

void
book_delete_turn(struct book *book, const char *task, int64_t seq)
{
	BOOK_RUN(book, "DELETE FROM turn WHERE task = $1 AND seq = $2",
	    BOOK_T(task), BOOK_I(seq));
}

/* --- reading ----------------------------------------------------------- */

struct reading {
	book_turn_fn *fn;
	void *arg;
};

/* Columns: task, seq, body. */
static bool
on_row(struct book_row *row, void *arg)
{
	const struct reading *reading = arg;
	cleanup_json struct json_object *record = book_json(row, 2);

	return record == NULL ||
	    reading->fn(
		book_text(row, 0), book_int(row, 1), record, reading->arg);
}

int
book_read_turns(struct book *book, const char *task, size_t limit,
    book_turn_fn *fn, void *arg, struct err *err)
{
	struct reading reading = { .fn = fn, .arg = arg };

	if (task == NULL)
		return book_query(book,
		    "SELECT t.task, t.seq, t.body FROM turn t "
		    "ORDER BY t.task, t.seq",
		    NULL, 0, on_row, &reading, err);
	return book_query(book,
	    "SELECT n.task, n.seq, n.body FROM ("
	    "SELECT t.task, t.seq, t.body FROM turn t WHERE t.task = $1 "
	    "ORDER BY t.seq DESC LIMIT $2) n ORDER BY n.seq",
	    BOOK_VALUES(
		BOOK_T(task), BOOK_I(limit > 0 ? (int64_t)limit : INT32_MAX)),
	    on_row, &reading, err);
}

struct names {
	book_name_fn *fn;
	void *arg;
};

static bool
on_name(struct book_row *row, void *arg)
{
	const struct names *names = arg;

	return names->fn(book_text(row, 0), names->arg);
}

int
book_turn_tasks(struct book *book, book_name_fn *fn, void *arg, struct err *err)
{
	/* From one task to the next in the index: a task has very many. */
	return book_query(book,
	    "WITH RECURSIVE n (task) AS (SELECT min(t.task) FROM turn t "
	    "UNION ALL SELECT (SELECT min(t.task) FROM turn t WHERE "
	    "t.task > n.task) FROM n WHERE n.task IS NOT NULL) "
	    "SELECT n.task, (SELECT t.at_ms FROM turn t WHERE "
	    "t.task = n.task ORDER BY t.seq DESC LIMIT 1) AS last_ms "
	    "FROM n WHERE n.task IS NOT NULL ORDER BY last_ms DESC, n.task",
	    NULL, 0, on_name, &(struct names){ fn, arg }, err);
}
