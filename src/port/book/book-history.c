/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "book-history.h"
#include "book.h"
#include "issue-row.h"
#include "ask.h"
#include "history-private.h"
#include "jsonl.h"
#include "message.h"
#include "metrics.h"
#include "pull.h"
#include "report.h"
#include "schema.h"
#include "state.h"
#include "task.h"
#include "worker.h"
#include "workspace.h"

/* --- runs --------------------------------------------------------------- */

#define RUNS_MAX 100 /* that are looked at for the last one */

/* A daemon's part of a run. */
struct run {
	const char *run_id, *instance_id;
	int64_t began_ms;
	int64_t ended_ms; /* 0 = it goes on, or was killed */
	bool complete; /* there was nothing left to do */
};

#define RUN_FIELD(member) SCHEMA_FIELD(struct run, #member, member)

static const struct schema_field run_fields[] = {
	BORROWED(struct run, run_id),
	BORROWED(struct run, instance_id),
	RUN_FIELD(began_ms),
	RUN_FIELD(ended_ms),
	RUN_FIELD(complete),
};

static const struct book_table book_run_table = {
	.name = "run",
	.fields = run_fields,
	.count = nitems(run_fields),
	.keys =
	    (const char *const[]){ "run_id", "instance_id", "began_ms", NULL },
	.more_ddl = "CREATE INDEX IF NOT EXISTS run_began ON run (began_ms);",
};

void
book_begin_run(
    struct book *book, const char *run, const char *instance, int64_t at_ms)
{
	book_put(book, &book_run_table,
	    &(struct run){
		.run_id = run, .instance_id = instance, .began_ms = at_ms });
}

void
book_end_run(struct book *book, const char *run, const char *instance,
    int64_t at_ms, bool complete)
{
	BOOK_RUN(book,
	    "UPDATE run SET ended_ms = $3, complete = $4 WHERE run_id = $1 AND "
	    "instance_id = $2 AND began_ms = (SELECT max(r.began_ms) FROM run "
	    "r WHERE r.run_id = $1 AND r.instance_id = $2)",
	    BOOK_T(run), BOOK_T(instance), BOOK_I(at_ms), BOOK_I(complete));
}

/* Columns: run_id, began_ms, ended_ms, complete. */
static bool
run_on_row(struct book_row *row, void *arg)
{
	report_run_event(
	    arg, book_text(row, 0), REPORT_RUN_BEGINS, book_int(row, 1));
	if (book_int(row, 2) > 0)
		report_run_event(arg, book_text(row, 0),
		    book_int(row, 3) != 0 ? REPORT_RUN_COMPLETE :
					    REPORT_RUN_ENDS,
		    book_int(row, 2));
	return true;
}

int
book_find_run(struct book *book, struct report_run *run, struct err *err)
{
	return book_query(book,
	    "SELECT n.run_id, n.began_ms, n.ended_ms, n.complete FROM ("
	    "SELECT r.run_id, r.began_ms, r.ended_ms, r.complete FROM run r "
	    "ORDER BY r.began_ms DESC LIMIT $1) n ORDER BY n.began_ms",
	    BOOK_VALUES(BOOK_I(run->wanted != NULL ? INT32_MAX : RUNS_MAX)),
	    run_on_row, run, err);
}

/* --- messages to people ------------------------------------------------- */

/* Strings are borrowed. */
struct message_row {
	const char *id, *event, *title;
	enum escalation_level level;
	bool done;
	int64_t at_ms;
	struct json_object *body;
};

#define MESSAGE_FIELD(member, ...) \
	SCHEMA_FIELD(struct message_row, #member, member, ##__VA_ARGS__)

static const struct schema_field message_fields[] = {
	BORROWED(struct message_row, id),
	BORROWED(struct message_row, event),
	BORROWED(struct message_row, title),
	MESSAGE_FIELD(level, .words = escalation_level_words),
	MESSAGE_FIELD(done),
	MESSAGE_FIELD(at_ms),
	MESSAGE_FIELD(body),
};

static const struct book_table book_message = {
	.name = "message",
	.fields = message_fields,
	.count = nitems(message_fields),
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
	    &(struct message_row){ .id = message->id,
		.event = message->event,
		.title = message->title,
		.level = message->level,
		.done = message->done,
		.at_ms = message->at_ms,
		.body = body });
}

#define LOOK_MAX 50 /* messages that are looked at */

struct message_reading {
	book_message_fn *fn;
	void *arg;
};

/* NULL = it cannot be read. */
static struct message *
message_of(struct book_row *row)
{
	cleanup_json struct json_object *json = NULL;
	struct message *message = NULL;
	const char *body = book_text(row, 0);
	struct err err = { 0 };

	if (body == NULL ||
	    json_parse(body, strlen(body), MESSAGE_FILE_MAX, &json, &err) < 0 ||
	    message_from_json(json, &message, &err) < 0)
		book_row_unusable(row, err.msg);
	return message;
}

static bool
message_on_row(struct book_row *row, void *arg)
{
	const struct message_reading *reading = arg;
	struct message *message = message_of(row);

	if (message != NULL)
		reading->fn(message, reading->arg);
	return true;
}

struct message_looking {
	int64_t since_ms;
	book_message_look_fn *fn;
	void *arg;
};

static bool
message_on_look(struct book_row *row, void *arg)
{
	const struct message_looking *looking = arg;
	struct message *message = message_of(row);
	bool more = message == NULL ||
	    (message->at_ms >= looking->since_ms &&
		looking->fn(message, looking->arg));

	message_free(message);
	return more;
}

int
book_look_messages(struct book *book, int64_t since_ms,
    book_message_look_fn *fn, void *arg, struct err *err)
{
	return book_query(book,
	    "SELECT m.body FROM message AS m ORDER BY m.id DESC LIMIT $1",
	    BOOK_VALUES(BOOK_I(LOOK_MAX)), message_on_look,
	    &(struct message_looking){ since_ms, fn, arg }, err);
}

int
book_load_messages(
    struct book *book, book_message_fn *fn, void *arg, struct err *err)
{
	return book_query(book,
	    "SELECT m.body FROM message AS m WHERE m.done = 0 ORDER BY m.id",
	    NULL, 0, message_on_row, &(struct message_reading){ fn, arg }, err);
}

static void
on_message_found(struct message *message, void *arg)
{
	*(struct message **)arg = message;
}

struct message *
book_find_message(struct book *book, const char *id)
{
	struct message *found = NULL;

	book_query(book, "SELECT m.body FROM message AS m WHERE m.id = $1",
	    BOOK_VALUES(BOOK_T(id)), message_on_row,
	    &(struct message_reading){ on_message_found, &found }, NULL);
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

/* --- asks --------------------------------------------------------------- */

static const struct book_table *
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

	if (book_read(reading->book, book_ask_table(), row, ask, NULL) < 0) {
		ask_free(ask); /* which is told */
	} else if (reading->state != NULL) {
		state_add_ask(reading->state, ask);
	} else {
		json_object_array_add(
		    reading->list, schema_json(&ask_schema, ask));
		ask_free(ask);
	}
	return true;
}

/* One that no daemon has begun yet, opened read-only, has none. */
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

/* --- turns -------------------------------------------------------------- */

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

#define TURN_FIELD(member) SCHEMA_FIELD(struct turn, #member, member)

static const struct schema_field turn_fields[] = {
	BORROWED(struct turn, task),
	TURN_FIELD(seq),
	TURN_FIELD(at_ms),
	BORROWED(struct turn, worker),
	TURN_FIELD(number),
	BORROWED(struct turn, status),
	TURN_FIELD(duration_ms),
	TURN_FIELD(cost),
	BORROWED(struct turn, level),
	BORROWED(struct turn, outcome),
	BORROWED(struct turn, body),
};

static const struct book_table book_turn = {
	.name = "turn",
	.fields = turn_fields,
	.count = nitems(turn_fields),
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
	struct json_object *it = json_member(record, "iteration");
	struct json_object *act = json_member(record, "intervention");
	struct json_object *outcome = json_member(record, "outcome");
	cleanup_buf struct buf body = BUF_INIT;
	struct turn row = {
		.task = task,
		.seq = seq,
		.at_ms = positive(record, "at_ms"),
		.worker = json_string_or(record, "worker", NULL),
		.number = positive(it, "number"),
		.status = json_string_or(
		    json_member(record, "check"), "status", NULL),
		.duration_ms = positive(it, "durationMs"),
		.cost =
		    (int64_t)(json_object_get_double(json_member(it, "cost")) *
			1e6),
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

struct turn_reading {
	book_turn_fn *fn;
	void *arg;
};

/* Columns: task, seq, body. */
static bool
turn_on_row(struct book_row *row, void *arg)
{
	const struct turn_reading *reading = arg;
	cleanup_json struct json_object *record = book_json(row, 2);

	return record == NULL ||
	    reading->fn(
		book_text(row, 0), book_int(row, 1), record, reading->arg);
}

int
book_read_turns(struct book *book, const char *task, size_t limit,
    book_turn_fn *fn, void *arg, struct err *err)
{
	struct turn_reading reading = { .fn = fn, .arg = arg };

	if (task == NULL)
		return book_query(book,
		    "SELECT t.task, t.seq, t.body FROM turn t "
		    "ORDER BY t.task, t.seq",
		    NULL, 0, turn_on_row, &reading, err);
	return book_query(book,
	    "SELECT n.task, n.seq, n.body FROM ("
	    "SELECT t.task, t.seq, t.body FROM turn t WHERE t.task = $1 "
	    "ORDER BY t.seq DESC LIMIT $2) n ORDER BY n.seq",
	    BOOK_VALUES(
		BOOK_T(task), BOOK_I(limit > 0 ? (int64_t)limit : INT32_MAX)),
	    turn_on_row, &reading, err);
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

/* --- spans -------------------------------------------------------------- */

#define DOCUMENT_MAX ((size_t)256 * 1024)

#define SPAN_FIELD(key, member, ...) \
	SCHEMA_FIELD(struct work_span, key, member, ##__VA_ARGS__)

static const struct schema_field span_fields[] = {
	SPAN_FIELD("worker", worker),
	SPAN_FIELD("purpose", use, .words = work_use_words),
	SPAN_FIELD("task", task),
	SPAN_FIELD("attempt", attempt),
	SPAN_FIELD("from_ms", from_ms),
	SPAN_FIELD("to_ms", to_ms),
};

static const struct book_table book_span = {
	.name = "span",
	.fields = span_fields,
	.count = nitems(span_fields),
	.keys = (const char *const[]){ "worker", "from_ms", "to_ms", NULL },
	.more_ddl = "CREATE INDEX IF NOT EXISTS span_to ON span (to_ms);",
};

/* When the daemon last wrote anything: one row. */
struct alive {
	const char *id;
	int64_t at_ms;
};

static const struct schema_field alive_fields[] = {
	BORROWED(struct alive, id),
	SCHEMA_FIELD(struct alive, "at_ms", at_ms),
};

static const struct book_table book_alive = {
	.name = "alive",
	.fields = alive_fields,
	.count = nitems(alive_fields),
	.keys = (const char *const[]){ "id", NULL },
};

void
book_note_alive(struct book *book, int64_t at_ms)
{
	book_put(book, &book_alive,
	    &(struct alive){ .id = "daemon", .at_ms = at_ms });
}

void
book_file_span(struct book *book, const struct work_span *span)
{
	book_put(book, &book_span, span);
}

struct span_reading {
	struct book *book;
	book_span_fn *fn;
	void *arg;
};

static bool
span_on_row(struct book_row *row, void *arg)
{
	const struct span_reading *reading = arg;
	struct work_span span = { 0 };

	if (book_read(reading->book, &book_span, row, &span, NULL) == 0)
		reading->fn(&span, reading->arg);
	work_span_release(&span);
	return true;
}

int
book_read_spans(struct book *book, int64_t since_ms, book_span_fn *fn,
    void *arg, struct err *err)
{
	return book_query(book,
	    "SELECT s.* FROM span s WHERE s.to_ms >= $1 "
	    "ORDER BY s.to_ms, s.from_ms",
	    BOOK_VALUES(BOOK_I(since_ms)), span_on_row,
	    &(struct span_reading){ book, fn, arg }, err);
}

static int64_t
member_of(const struct workspace *workspace, const char *name, const char *key)
{
	cleanup_free char *file = workspace_path(workspace, name);
	cleanup_json struct json_object *json = NULL;

	if (json_load(file, DOCUMENT_MAX, &json, NULL) < 0 ||
	    !json_object_is_type(json, json_type_object))
		return 0;
	return json_int_or(json, key, 0) * 1000;
}

int64_t
book_beat_ms(const struct workspace *workspace)
{
	return member_of(workspace, "auto.heartbeat", "timestamp_unix");
}

static int64_t
latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
alive_until(struct book *book, const struct workspace *workspace)
{
	int64_t saved = 0;

	book_get_int(
	    book, "SELECT max(a.at_ms) FROM alive a", NULL, 0, &saved, NULL);
	return latest(book_beat_ms(workspace), saved);
}

/* When the last span of each worker ended. While a daemon runs there are no
 * gaps between the spans of a worker: there what goes on began, before the last
 * change of its status or after it (a task began to wait, say). */
struct ends {
	const struct state *state;
	int64_t *at_ms; /* of each worker, 0 = none */
};

static void
on_ended(const struct work_span *span, void *arg)
{
	struct ends *ends = arg;

	for (size_t i = 0; i < ends->state->count; i++)
		if (span->to_ms > ends->at_ms[i] &&
		    strcmp(ends->state->workers[i]->name, span->worker) == 0)
			ends->at_ms[i] = span->to_ms;
}

void
book_open_spans(struct book *book, const struct workspace *workspace,
    const struct state *state, bool alive, int64_t now_ms, book_span_fn *fn,
    void *arg)
{
	int64_t begun = member_of(workspace, "daemon.json", "start_time_unix");
	int64_t end = alive ? now_ms : alive_until(book, workspace);
	bool queue = state_has_queue(state);
	cleanup_free int64_t *ends = xcalloc(state->count + 1, sizeof *ends);

	if (begun <= 0)
		return;
	book_read_spans(book, begun, on_ended,
	    &(struct ends){ .state = state, .at_ms = ends }, NULL);
	for (size_t i = 0; i < state->count; i++) {
		const struct worker *w = state->workers[i];
		const struct task *task =
		    w->task != NULL ? state_task(state, w->task) : NULL;
		struct work_span span = {
			.worker = w->name,
			.use = work_use_of(worker_shown_words(w),
			    !worker_is_auto(w->name) || w->for_person, queue,
			    state->outage_since_unix != 0),
			.task = w->task,
			.attempt = task != NULL ? task->attempts : 0,
			.from_ms = latest(begun,
			    ends[i] > 0 ? latest(ends[i], w->created_ms) :
					  w->since_ms),
			.to_ms = end,
		};

		if (span.from_ms < end)
			fn(&span, arg);
	}
}

/* --- issues that were taken, and pull requests -------------------- */

const struct book_table *
book_issue_table(void)
{
	static const char *const keys[] = { "number", NULL };
	static struct book_table table = { .name = "issue", .keys = keys };

	table.fields = forge_row_schema.fields;
	table.count = forge_row_schema.count;
	return &table;
}

const struct book_table *
book_pull_table(void)
{
	static const char *const keys[] = { "task", NULL };
	static struct book_table table = { .name = "pull", .keys = keys };

	table.fields = pull_row_schema.fields;
	table.count = pull_row_schema.count;
	return &table;
}

/* --- all tables ----------------------------------------------------------- */

int
book_history_open(struct book *book, struct err *err)
{
	static const struct book_table *const tables[] = { &book_ended_task,
		&book_turn, &book_run_table, &book_attempt, &book_span,
		&book_alive, &book_message };
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(tables); i++)
		r = book_add_table(book, tables[i], err);
	if (r == 0)
		r = book_add_table(book, book_ask_table(), err);
	if (r == 0)
		r = book_add_table(book, book_issue_table(), err);
	return r == 0 ? book_add_table(book, book_pull_table(), err) : r;
}
