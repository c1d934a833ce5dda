/* SPDX-License-Identifier: ISC */

/* Tasks that have ended, and how each of their attempts went. */

#include "base.h"

#include <math.h>

#include "account.h"
#include "book-history.h"
#include "book.h"
#include "history-private.h"
#include "attempt.h"
#include "schema.h"
#include "task.h"
#include "view.h"

/* A row: what is asked for, what is long and shown for one task only, and the
 * rest. */
struct ended_task {
	char *id;
	int64_t filed; /* in this order */
	char *source, *source_key, *title;
	enum task_outcome outcome;
	char *worker, *goal, *run_id, *commit_sha, *held_by;
	int attempts, turns;
	int64_t created_ms, assigned_ms, finished_ms;
	int64_t tokens, cost; /* millionths of a dollar */
	enum cost_source cost_source;
	bool lines_known;
	int64_t lines_added, lines_removed;
	char *weakens;
	bool overtaken;
	char *reason, *text, *last_words;
	char *history, *body; /* JSON */
};

#define FIELD(member, ...) \
	SCHEMA_FIELD(struct ended_task, #member, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD(id),
	FIELD(filed),
	FIELD(source),
	FIELD(source_key),
	FIELD(title),
	FIELD(outcome, .words = task_outcome_words),
	FIELD(worker),
	FIELD(goal),
	FIELD(run_id),
	FIELD(commit_sha),
	FIELD(held_by),
	FIELD(attempts),
	FIELD(turns),
	FIELD(created_ms),
	FIELD(assigned_ms),
	FIELD(finished_ms),
	FIELD(tokens),
	FIELD(cost),
	FIELD(cost_source, .words = cost_source_words),
	FIELD(lines_known),
	FIELD(lines_added),
	FIELD(lines_removed),
	FIELD(weakens),
	FIELD(overtaken),
	FIELD(reason),
	FIELD(body),
	FIELD(text),
	FIELD(last_words),
	FIELD(history),
};

const struct book_table book_ended_task = {
	.name = "ended_task",
	.fields = fields,
	.count = nitems(fields),
	.keys = (const char *const[]){ "id", NULL },
	.more_ddl =
	    "CREATE INDEX IF NOT EXISTS ended_task_filed ON ended_task (filed);"
	    "DROP INDEX IF EXISTS ended_task_key;"
	    "CREATE INDEX IF NOT EXISTS ended_task_source_key "
	    "ON ended_task (source_key, filed);"
	    "CREATE INDEX IF NOT EXISTS ended_task_commit "
	    "ON ended_task (commit_sha);"
	    "CREATE INDEX IF NOT EXISTS ended_task_finished "
	    "ON ended_task (finished_ms);",
};

/* --- writing ----------------------------------------------------------- */

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

#define ATTEMPT(member, ...) \
	SCHEMA_FIELD(struct attempt, #member, member, ##__VA_ARGS__)

static const struct schema_field attempt_fields[] = {
	BORROWED(struct attempt, id),
	ATTEMPT(ended_ms),
	ATTEMPT(runtime_ms),
	BORROWED(struct attempt, agent),
	BORROWED(struct attempt, model),
	BORROWED(struct attempt, role),
	BORROWED(struct attempt, worker),
	BORROWED(struct attempt, goal),
	BORROWED(struct attempt, retry_of),
	ATTEMPT(outcome, .words = perf_outcome_words),
	ATTEMPT(tokens_in),
	ATTEMPT(tokens_out),
	ATTEMPT(cost),
	BORROWED(struct attempt, last_words),
	BORROWED(struct attempt, body),
};

const struct book_table book_attempt = {
	.name = "attempt",
	.fields = attempt_fields,
	.count = nitems(attempt_fields),
	.keys = (const char *const[]){ "id", "ended_ms", NULL },
	.more_ddl =
	    "CREATE INDEX IF NOT EXISTS attempt_ended ON attempt (ended_ms);",
};

static char *
print(struct json_object *json)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (json == NULL)
		return NULL;
	json_print(json, false, &out);
	return buf_take(&out);
}

/* The key of a node of a plan is "goal_x/T1.2". */
static char *
goal_of(const struct task *task)
{
	return task->source != NULL && task->key != NULL &&
		strcmp(task->source, "plan") == 0 ?
	    xstrndup(task->key, strcspn(task->key, "/")) :
	    NULL;
}

void
book_file_task(struct book *book, const struct task *task)
{
	cleanup_json struct json_object *record = task_to_json(task);
	cleanup_free char *goal = goal_of(task), *body = NULL;
	cleanup_free char *history = print(task->history);
	struct ended_task row = {
		.id = task->id,
		.source = task->source,
		.source_key = task->key,
		.title = task->title,
		.outcome = task->outcome,
		.worker = task->worker,
		.goal = goal,
		.run_id = task->run_id,
		.commit_sha = task->commit,
		.held_by = task->held_by,
		.attempts = task->attempts,
		.turns = task->turns_before + task->turns,
		.created_ms = task->created_ms,
		.assigned_ms = task->assigned_ms,
		.finished_ms = task->finished_ms,
		.tokens = task->tokens,
		.cost = task->spent.cost,
		.cost_source = spent_source(&task->spent),
		.weakens = task->weakens,
		.overtaken = task->overtaken,
		.lines_known = task->lines_known,
		.lines_added = task->lines_added,
		.lines_removed = task->lines_removed,
		.reason = task->reason,
		.text = task->text,
		.last_words = task->last_words,
		.history = history,
	};
	bool known;

	json_object_object_del(record, "text");
	json_object_object_del(record, "last_words");
	json_object_object_del(record, "history");
	body = print(record);
	row.body = body;
	known = book_get_int(book, "SELECT max(e.filed) FROM ended_task e",
		    NULL, 0, &row.filed, NULL) == 0;
	row.filed += known;
	book_put(book, &book_ended_task, &row);
	/* The book cannot be read now: it is numbered when it is written. */
	if (!known)
		BOOK_RUN(book,
		    "UPDATE ended_task SET filed = (SELECT max(e.filed) + 1 "
		    "FROM ended_task AS e) WHERE id = $1",
		    BOOK_T(task->id));
}

/* --- reading ----------------------------------------------------------- */

struct reading {
	bool brief;
	book_task_fn *fn;
	void *arg;
};

/* Columns: filed, body, text, last_words, history. */
static struct json_object *
record_of(struct book_row *row, bool brief)
{
	struct json_object *record = book_json(row, 1);

	if (record == NULL || brief)
		return record;
	json_set_string(record, "text", book_text(row, 2));
	json_set_string(record, "last_words", book_text(row, 3));
	json_set(record, "history", book_json(row, 4));
	return record;
}

static bool
on_row(struct book_row *row, void *arg)
{
	const struct reading *reading = arg;
	cleanup_json struct json_object *record =
	    record_of(row, reading->brief);

	return record == NULL ||
	    reading->fn(record, book_int(row, 0), reading->arg);
}

#define COLUMNS                                                               \
	"SELECT e.filed, e.body, e.text, e.last_words, e.history, e.outcome " \
	"FROM ended_task e "
#define BRIEF                                                        \
	"SELECT e.filed, e.body, NULL AS text, NULL AS last_words, " \
	"NULL AS history, e.outcome FROM ended_task e "
#define NEWEST "WHERE e.filed > $1 ORDER BY e.filed DESC LIMIT $2"
#define OF_THEM(columns)                                                         \
	"SELECT n.filed, n.body, n.text, n.last_words, n.history FROM (" columns \
	    NEWEST ") n "
#define STATEMENTS(columns)                                               \
	{                                                                 \
		columns NEWEST, OF_THEM(columns) "ORDER BY n.filed",      \
		    OF_THEM(columns) "WHERE n.outcome NOT IN ('landed', " \
				     "'no_changes') ORDER BY n.filed"     \
	}

int
book_read_tasks(struct book *book, const struct book_tasks *which,
    book_task_fn *fn, void *arg, struct err *err)
{
	static const char *const statements[2][3] = { STATEMENTS(COLUMNS),
		STATEMENTS(BRIEF) };
	struct reading reading = {
		.brief = which->brief, .fn = fn, .arg = arg
	};
	int64_t limit =
	    which->limit > 0 ? (int64_t)which->limit : BOOK_TASKS_MAX;

	if (which->name != NULL)
		return book_query(book,
		    COLUMNS "WHERE e.id = $1 OR e.source_key = $1 "
			    "ORDER BY e.filed DESC LIMIT $2",
		    BOOK_VALUES(BOOK_T(which->name), BOOK_I(limit)), on_row,
		    &reading, err);
	return book_query(book,
	    statements[which->brief][which->failed ? 2 : which->oldest_first],
	    BOOK_VALUES(BOOK_I(which->after), BOOK_I(limit)), on_row, &reading,
	    err);
}

struct ended {
	book_ended_fn *fn;
	void *arg;
};

static bool
on_ended(struct json_object *record, int64_t filed, void *arg)
{
	const struct ended *ended = arg;
	struct task *task = NULL;
	bool more;

	/* A record that this version cannot read is ignored. */
	if (task_from_json(record, "", &task, NULL) < 0)
		return true;
	more = ended->fn(task, filed, ended->arg);
	task_free(task);
	return more;
}

int
book_each_task(struct book *book, const struct book_tasks *which,
    book_ended_fn *fn, void *arg, struct err *err)
{
	return book_read_tasks(
	    book, which, on_ended, &(struct ended){ fn, arg }, err);
}

/* --- one of them ------------------------------------------------------- */

static bool
on_found(struct json_object *record, int64_t filed, void *arg)
{
	struct task **task = arg;

	(void)filed;
	return task_from_json(record, "", task, NULL) < 0;
}

static struct task *
find(struct book *book, const char *sql, const struct book_value *values,
    size_t count)
{
	struct task *task = NULL;
	struct err err = { 0 };

	if (book_query(book, sql, values, count, on_row,
		&(struct reading){ .fn = on_found, .arg = &task }, &err) < 0)
		log_debug("ended tasks: %s", err.msg);
	return task;
}

struct task *
book_find_task(struct book *book, const char *id)
{
	return find(book, COLUMNS "WHERE e.id = $1", BOOK_VALUES(BOOK_T(id)));
}

struct task *
book_find_task_key(struct book *book, const char *source, const char *key)
{
	return find(book,
	    COLUMNS "WHERE e.source_key = $1 AND e.source = $2 "
		    "ORDER BY e.filed DESC LIMIT 4",
	    BOOK_VALUES(BOOK_T(key), BOOK_T(source)));
}

struct task *
book_find_task_commit(struct book *book, const char *commit)
{
	return find(book,
	    COLUMNS "WHERE e.commit_sha = $1 ORDER BY e.filed DESC LIMIT 4",
	    BOOK_VALUES(BOOK_T(commit)));
}

/* --- for a report ------------------------------------------------------ */

#define SUMS                                                          \
	"SELECT e.id, e.outcome, e.attempts, e.finished_ms, e.cost, " \
	"e.cost_source"

/* Columns: those of SUMS. */
static struct json_object *
sum_row(struct book_row *from)
{
	struct json_object *row = json_object_new_object();
	const char *source = book_text(from, 5);
	bool known = source != NULL &&
	    strcmp(source, cost_source_words[COST_UNKNOWN]) != 0;

	json_set_string(row, "id", book_text(from, 0));
	json_set_string(row, "outcome", book_text(from, 1));
	json_set_int(row, "attempts", book_int(from, 2));
	json_set_int(row, "finished_ms", book_int(from, 3));
	json_set(row, "cost_micros",
	    known ? json_object_new_int64(book_int(from, 4)) : NULL);
	json_set_string(row, "cost_source", source);
	return row;
}

static bool
on_sum(struct book_row *from, void *arg)
{
	if (!json_object_object_get_ex(arg, book_text(from, 0), NULL))
		json_set(arg, book_text(from, 0), sum_row(from));
	return true;
}

/* Further columns: title, commit_sha, held_by, worker, run_id, turns,
 * created_ms, lines_known, lines_added, lines_removed, reason, last_words,
 * weakens, overtaken. */
static bool
on_detailed(struct book_row *from, void *arg)
{
	struct json_object *row = sum_row(from);
	int64_t finished = book_int(from, 3);
	int64_t wall = finished - book_int(from, 12);
	bool known = book_int(from, 13) != 0;

	view_row_line(row, "title", book_text(from, 6), VIEW_TITLE_MAX);
	json_set_string(row, "step", task_step_name(TASK_SETTLING));
	json_set_string(
	    row, "commit", book_text(from, book_is_null(from, 7) ? 8 : 7));
	json_set_string(row, "worker", book_text(from, 9));
	json_set_string(row, "run_id", book_text(from, 10));
	json_set_int(row, "turns", book_int(from, 11));
	view_row_moment(row, "finished_unix", finished);
	json_set_int(row, "wall_ms", wall > 0 ? wall : 0);
	json_set(row, "lines_added",
	    known ? json_object_new_int64(book_int(from, 14)) : NULL);
	json_set(row, "lines_removed",
	    known ? json_object_new_int64(book_int(from, 15)) : NULL);
	view_row_line(row, "reason", book_text(from, 16), VIEW_REASON_MAX);
	view_row_text(row, "last_words", book_text(from, 17), VIEW_WORDS_MAX);
	view_row_line(row, "weakens", book_text(from, 18), VIEW_REASON_MAX);
	json_set_bool(row, "overtaken", book_int(from, 19) != 0);
	json_set(arg, book_text(from, 0), row);
	return true;
}

#define DETAILS                                                         \
	SUMS ", e.title, e.commit_sha, e.held_by, e.worker, e.run_id, " \
	     "e.turns, e.created_ms, e.lines_known, e.lines_added, "    \
	     "e.lines_removed, e.reason, e.last_words, e.weakens, "     \
	     "e.overtaken "                                             \
	     "FROM ended_task e "                                       \
	     "WHERE e.finished_ms >= $1 AND e.outcome "

int
book_report_tasks(struct book *book, int64_t from_ms, size_t detailed,
    struct json_object *rows, struct err *err)
{
	static const char *const newest[] = {
		DETAILS "IN ('landed', 'no_changes') "
			"ORDER BY e.finished_ms DESC LIMIT $2",
		DETAILS "NOT IN ('landed', 'no_changes') "
			"ORDER BY e.finished_ms DESC LIMIT $2",
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(newest); i++)
		r = book_query(book, newest[i],
		    BOOK_VALUES(BOOK_I(from_ms), BOOK_I((int64_t)detailed)),
		    on_detailed, rows, err);
	if (r < 0)
		return r;
	return book_query(book,
	    SUMS " FROM ended_task e WHERE e.finished_ms >= $1",
	    BOOK_VALUES(BOOK_I(from_ms)), on_sum, rows, err);
}

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

struct attempt_reading {
	book_attempt_fn *fn;
	void *arg;
};

static bool
on_attempt(struct book_row *row, void *arg)
{
	const struct attempt_reading *reading = arg;
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
	    BOOK_VALUES(BOOK_I(since_ms > oldest ? since_ms : oldest)),
	    on_attempt, &(struct attempt_reading){ fn, arg }, err);
}
