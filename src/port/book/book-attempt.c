/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "account.h"
#include "attempt.h"
#include "book-history.h"
#include "book.h"
#include "history-private.h"
#include "schema.h"

#define MICROS 1e6

/* How an attempt went (attempt.h). */
struct attempt {
	const char *id;
	int64_t ended_ms, runtime_ms;
	const char *agent, *model, *role, *worker, *goal, *retry_of;
	enum perf_outcome outcome;
	int64_t tokens_in, tokens_out, cost; /* 0 = none, or not known */
	const char *last_words; /* of its agent */
	const char *body; /* JSON, without those */
};

#define FIELD(member, ...) \
	SCHEMA_FIELD(struct attempt, #member, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	BORROWED(struct attempt, id),
	FIELD(ended_ms),
	FIELD(runtime_ms),
	BORROWED(struct attempt, agent),
	BORROWED(struct attempt, model),
	BORROWED(struct attempt, role),
	BORROWED(struct attempt, worker),
	BORROWED(struct attempt, goal),
	BORROWED(struct attempt, retry_of),
	FIELD(outcome, .words = perf_outcome_words),
	FIELD(tokens_in),
	FIELD(tokens_out),
	FIELD(cost),
	BORROWED(struct attempt, last_words),
	BORROWED(struct attempt, body),
};

const struct book_table book_attempt = {
	.name = "attempt",
	.fields = fields,
	.count = nitems(fields),
	.keys = (const char *const[]){ "id", "ended_ms", NULL },
	.more_ddl =
	    "CREATE INDEX IF NOT EXISTS attempt_ended ON attempt (ended_ms);",
};

int
book_file_attempt(
    struct book *book, struct json_object *record, struct err *err)
{
	cleanup_buf struct buf body = BUF_INIT;
	cleanup_free char *words = NULL;
	struct perf_record facts;
	struct attempt row;
	int r = perf_record_read(record, &facts, err);

	if (r < 0)
		return r;
	xstrset(&words, json_string_or(record, PERF_LAST_WORDS, NULL));
	json_object_object_del(record, PERF_LAST_WORDS);
	json_print(record, false, &body);
	row = (struct attempt){
		.id = facts.run,
		.ended_ms = facts.ended_ms,
		.runtime_ms = facts.runtime_ms,
		.agent = facts.agent,
		.model = facts.model,
		.role = facts.task_type,
		.worker = facts.worker,
		.goal = facts.goal,
		.retry_of = facts.retry_of,
		.outcome = facts.outcome,
		.tokens_in = facts.tokens_in > 0 ? facts.tokens_in : 0,
		.tokens_out = facts.tokens_out > 0 ? facts.tokens_out : 0,
		.cost = isnan(facts.cost) ? 0 : llround(facts.cost * MICROS),
		.last_words = words,
		.body = body.data,
	};
	book_put(book, &book_attempt, &row);
	return 0;
}

void
book_charge_attempt(struct book *book, const char *id, const struct spent *more)
{
	int64_t out = 0, in = usage_budget_tokens(&more->usage);

	for (size_t i = 0; i < more->usage.count; i++)
		out += more->usage.models[i].tokens[USAGE_OUTPUT];
	BOOK_RUN(book,
	    "UPDATE attempt SET cost = cost + $2, tokens_in = tokens_in + $3, "
	    "tokens_out = tokens_out + $4, body = json_set(body, '$.costUsd', "
	    "(cost + $2) / 1e6, '$.tokens.input', tokens_in + $3, "
	    "'$.tokens.output', tokens_out + $4) WHERE id = $1",
	    BOOK_T(id), BOOK_I(more->cost), BOOK_I(in - out), BOOK_I(out));
}

struct reading {
	book_attempt_fn *fn;
	void *arg;
};

static bool
on_row(struct book_row *row, void *arg)
{
	const struct reading *reading = arg;
	cleanup_json struct json_object *record = book_json(row, 0);

	if (record != NULL)
		reading->fn(record, reading->arg);
	return true;
}

int
book_read_attempts(struct book *book, int64_t since_ms, int64_t now_ms,
    book_attempt_fn *fn, void *arg, struct err *err)
{
	int64_t oldest = now_ms - PERF_KEEP_DAYS * PERF_DAY_MS;

	return book_query(book,
	    "SELECT a.body FROM attempt a WHERE a.ended_ms >= $1 "
	    "ORDER BY a.ended_ms",
	    BOOK_VALUES(BOOK_I(since_ms > oldest ? since_ms : oldest)), on_row,
	    &(struct reading){ fn, arg }, err);
}
