/* SPDX-License-Identifier: ISC */

#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "errtext.h"
#include "mem.h"
#include "store-db.h"
#include "store-queue.h"
#include "store-read.h"

#define PART_ROWS 256

struct reader {
	struct store_db *db;
	struct store_request *request;
	struct store_answer *answer; /* being filled; NULL = none */
	store_read_fn *fn;
	void *arg;
};

static struct store_answer *
part(struct reader *reader)
{
	if (reader->answer == NULL)
		reader->answer = store_answer_new(reader->request);
	return reader->answer;
}

static void
hand_over(struct reader *reader)
{
	struct store_answer *answer = take_ptr(&reader->answer);

	answer->weight = answer->pool.total + 1;
	reader->fn(answer, reader->arg);
}

/* After each row. */
static void
count_row(struct reader *reader)
{
	const struct store_answer *answer = reader->answer;

	if (answer->pool.total >= STORE_PART_SIZE ||
	    answer->record_count + answer->event_count >= PART_ROWS)
		hand_over(reader);
}

static const char *
column(struct reader *reader, struct sqlite3_stmt *row, int n)
{
	const char *text = (const char *)sqlite3_column_text(row, n);
	size_t len = (size_t)sqlite3_column_bytes(row, n);

	return text != NULL ? store_pool_bytes(&part(reader)->pool, text, len) :
			      NULL;
}

/* --- records ------------------------------------------------------------ */

static void
add_record(
    struct reader *reader, enum store_kind kind, struct sqlite3_stmt *row)
{
	struct store_answer *answer = part(reader);
	struct store_change *record;

	if (answer->records == NULL)
		answer->records = store_pool_alloc(
		    &answer->pool, PART_ROWS, sizeof *answer->records);
	record = &answer->records[answer->record_count++];
	record->kind = kind;
	record->goal_id = column(reader, row, 0);
	record->id = column(reader, row, 1);
	record->body = column(reader, row, 2);
	count_row(reader);
}

static int
read_records(struct reader *reader, enum store_kind kind, enum store_verb verb,
    const char *first, const char *second, struct err *err)
{
	struct sqlite3_stmt *statement = store_db_statement(reader->db,
	    (unsigned)STORE_SQL_RECORD + kind * STORE_VERB_COUNT + verb);
	int r;

	store_db_bind_text(statement, 1, first);
	store_db_bind_text(statement, 2, second);
	while ((r = store_db_step(reader->db, statement, err)) == 1)
		add_record(reader, kind, statement);
	sqlite3_reset(statement);
	return r;
}

/* actor NULL = any, for the statements without one. */
static int
read_newest(struct reader *reader, enum store_kind kind, unsigned sql,
    const char *actor, size_t limit, struct err *err)
{
	struct sqlite3_stmt *statement =
	    store_db_statement(reader->db, sql + kind - STORE_MAIL);
	int r;

	store_db_bind_text(statement, 1, actor);
	store_db_bind_int(statement, 2, (int64_t)limit);
	while ((r = store_db_step(reader->db, statement, err)) == 1)
		add_record(reader, kind, statement);
	sqlite3_reset(statement);
	return r;
}

/* One snapshot: a child may be writing. */
static int
load(struct reader *reader, struct err *err)
{
	int r = store_db_exec(reader->db, "BEGIN", err);

	for (unsigned kind = 0; r == 0 && kind < STORE_KIND_COUNT; kind++)
		r = read_records(
		    reader, (enum store_kind)kind, STORE_OPEN, NULL, NULL, err);
	for (unsigned kind = STORE_MAIL; r == 0 && kind < STORE_KIND_COUNT;
	     kind++)
		r = read_newest(reader, (enum store_kind)kind, STORE_SQL_IDS,
		    NULL, STORE_KNOWN_MAX, err);
	store_db_rollback(reader->db);
	return r;
}

static int
read_some(struct reader *reader, struct err *err)
{
	const struct store_request *request = reader->request;
	const char *goal = request->goal_id, *id = request->id;

	if (request->limit > 0)
		return read_newest(reader, request->kind,
		    request->actor != NULL ? STORE_SQL_NEWEST_OF :
					     STORE_SQL_NEWEST,
		    request->actor, request->limit, err);
	if (request->like != NULL)
		return read_records(reader, request->kind, STORE_LIKE,
		    request->like, NULL, err);
	if (goal != NULL && id != NULL)
		return read_records(
		    reader, request->kind, STORE_BY_BOTH, goal, id, err);
	if (goal != NULL)
		return read_records(
		    reader, request->kind, STORE_BY_GOAL, goal, NULL, err);
	if (id != NULL)
		return read_records(
		    reader, request->kind, STORE_BY_ID, id, NULL, err);
	return read_records(reader, request->kind, STORE_ALL, NULL, NULL, err);
}

/* --- events ------------------------------------------------------------- */

/* In the order of the statement's columns, from the third on. */
enum {
	EVENT_TYPE,
	EVENT_GOAL,
	EVENT_ASSIGNMENT,
	EVENT_NODE,
	EVENT_WORKER,
	EVENT_TASK,
	EVENT_FIELDS
};

static bool
row_matches(const struct store_filter *filter, struct sqlite3_stmt *row)
{
	const char *want[EVENT_FIELDS] = {
		[EVENT_TYPE] = filter->type,
		[EVENT_GOAL] = filter->goal_id,
		[EVENT_ASSIGNMENT] = filter->assignment_id,
		[EVENT_NODE] = filter->node_id,
		[EVENT_WORKER] = filter->worker,
		[EVENT_TASK] = filter->task,
	};

	if (sqlite3_column_int64(row, 1) < filter->since_ms)
		return false;
	for (int i = 0; i < EVENT_FIELDS; i++) {
		const char *found;

		if (want[i] == NULL)
			continue;
		found = (const char *)sqlite3_column_text(row, 2 + i);
		if (found == NULL || strcmp(found, want[i]) != 0)
			return false;
	}
	return true;
}

static void
add_event(struct reader *reader, struct sqlite3_stmt *row)
{
	struct store_answer *answer = part(reader);
	struct store_event *event;

	if (answer->events == NULL)
		answer->events = store_pool_alloc(
		    &answer->pool, PART_ROWS, sizeof *answer->events);
	event = &answer->events[answer->event_count++];
	event->seq = sqlite3_column_int64(row, 0);
	event->ts_ms = sqlite3_column_int64(row, 1);
	event->type = column(reader, row, 2);
	event->goal_id = column(reader, row, 3);
	event->assignment_id = column(reader, row, 4);
	event->node_id = column(reader, row, 5);
	event->worker = column(reader, row, 6);
	event->task = column(reader, row, 7);
	event->data = column(reader, row, 8);
	event->key = column(reader, row, 9);
	count_row(reader);
}

/* The narrowest index first. */
static enum store_lead
choose_lead(const struct store_filter *filter, const char **ret_value)
{
	const char *values[STORE_LEAD_COUNT] = {
		[STORE_LEAD_ASSIGNMENT] = filter->assignment_id,
		[STORE_LEAD_TASK] = filter->task,
		[STORE_LEAD_NODE] = filter->node_id,
		[STORE_LEAD_WORKER] = filter->worker,
		[STORE_LEAD_GOAL] = filter->goal_id,
		[STORE_LEAD_TYPE] = filter->type,
	};
	unsigned lead = 0;

	while (lead < STORE_LEAD_NONE && values[lead] == NULL)
		lead++;
	*ret_value = values[lead];
	return (enum store_lead)lead;
}

/* The first event from seq on, and its latest_ms. 0 = none. */
static int
event_from(struct store_db *db, int64_t seq, int64_t *ret_seq,
    int64_t *ret_latest, struct err *err)
{
	struct sqlite3_stmt *statement = store_db_statement(db, STORE_SQL_FROM);
	int r;

	store_db_bind_int(statement, 1, seq);
	r = store_db_step(db, statement, err);
	if (r == 1) {
		*ret_seq = sqlite3_column_int64(statement, 0);
		*ret_latest = sqlite3_column_int64(statement, 1);
	}
	sqlite3_reset(statement);
	return r;
}

/* All events before *seq are older than since: latest_ms never falls. */
static int
skip_older(struct store_db *db, int64_t since_ms, int64_t *seq, struct err *err)
{
	int64_t low = *seq, high = db->last_seq, found = 0, latest = 0;
	int r;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;

		r = event_from(db, middle, &found, &latest, err);
		if (r < 0)
			return r;
		if (r == 0 || latest >= since_ms)
			high = middle;
		else
			low = found + 1;
	}
	*seq = low;
	return 0;
}

static int
read_events(struct reader *reader, struct err *err)
{
	const struct store_filter *filter = &reader->request->filter;
	size_t left = filter->limit;
	struct sqlite3_stmt *statement;
	int64_t from = filter->after_seq + 1;
	const char *value;
	enum store_lead lead = choose_lead(filter, &value);
	int r = 0;

	if (filter->since_ms > 0)
		r = skip_older(reader->db, filter->since_ms, &from, err);
	if (r < 0)
		return r;
	statement = store_db_statement(reader->db,
	    (unsigned)STORE_SQL_EVENTS + lead * 2 + filter->newest_first);
	store_db_bind_int(statement, 1, from - 1);
	store_db_bind_int(statement, 2,
	    filter->before_seq > 0 ? filter->before_seq : INT64_MAX);
	store_db_bind_text(statement, 3, value);
	while (
	    left > 0 && (r = store_db_step(reader->db, statement, err)) == 1) {
		if (!row_matches(filter, statement))
			continue;
		add_event(reader, statement);
		left--;
	}
	sqlite3_reset(statement);
	return r < 0 ? r : 0;
}

void
store_read_run(struct store_db *db, struct store_request *request,
    store_read_fn *fn, void *arg)
{
	struct reader reader = { db, request, NULL, fn, arg };
	struct store_answer *last;
	struct err err = { 0 };
	int r;

	if (request->op == STORE_OP_LOAD)
		r = load(&reader, &err);
	else if (request->op == STORE_OP_READ)
		r = read_some(&reader, &err);
	else
		r = read_events(&reader, &err);
	last = part(&reader);
	last->last = true;
	if (r < 0)
		last->err = err;
	hand_over(&reader);
}
