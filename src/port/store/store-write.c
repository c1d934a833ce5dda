/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "errtext.h"
#include "store-body.h"
#include "store-db.h"
#include "store-queue.h"
#include "store-write.h"

int
store_write_change(struct store_db *db, const struct store_change *change,
    const struct store_columns *columns, struct err *err)
{
	unsigned verb = change->body != NULL ? STORE_PUT : STORE_DELETE;
	struct sqlite3_stmt *statement = store_db_statement(
	    db, STORE_SQL_RECORD + change->kind * STORE_VERB_COUNT + verb);
	int n = 1;

	if (change->body == NULL) {
		store_db_bind_text(statement, 1, change->goal_id);
		store_db_bind_text(statement, 2, change->id);
		return store_db_run(db, statement, err);
	}
	store_db_bind_text(statement, n++, change->id);
	store_db_bind_text(statement, n++, change->body);
	if (change->kind != STORE_GOAL)
		store_db_bind_text(statement, n++, change->goal_id);
	for (size_t i = 0; i < columns->count; i++, n++) {
		if (columns->list[i].is_number)
			store_db_bind_int(
			    statement, n, columns->list[i].number);
		else
			store_db_bind_text(statement, n, columns->list[i].text);
	}
	return store_db_run(db, statement, err);
}

int
store_write_event_at(struct store_db *db, int64_t seq,
    struct store_event *event, struct err *err)
{
	struct sqlite3_stmt *statement =
	    store_db_statement(db, STORE_SQL_APPEND);
	int64_t latest =
	    event->ts_ms > db->latest_ms ? event->ts_ms : db->latest_ms;
	int r;

	store_db_bind_int(statement, 1, seq);
	store_db_bind_int(statement, 2, event->ts_ms);
	store_db_bind_int(statement, 3, latest);
	store_db_bind_text(statement, 4, event->type);
	store_db_bind_text(statement, 5, event->goal_id);
	store_db_bind_text(statement, 6, event->assignment_id);
	store_db_bind_text(statement, 7, event->node_id);
	store_db_bind_text(statement, 8, event->worker);
	store_db_bind_text(statement, 9, event->task);
	store_db_bind_text(statement, 10, event->data);
	store_db_bind_text(statement, 11, event->key);
	r = store_db_run(db, statement, err);
	if (r < 0)
		return r;
	event->seq = 0;
	if (sqlite3_changes(db->sqlite) == 0)
		return 0;
	event->seq = seq;
	if (seq > db->last_seq)
		db->last_seq = seq;
	db->latest_ms = latest;
	return 0;
}

int
store_write_event(
    struct store_db *db, struct store_event *event, struct err *err)
{
	return store_write_event_at(db, db->last_seq + 1, event, err);
}

/* The only constraint that good records can violate. */
static int
live_twice(const struct store_change *change, struct err *err)
{
	return err_set(err, -EEXIST,
	    "assignment %s: its node has a live assignment already; end that "
	    "one first",
	    change->id);
}

static int
apply_changes(struct store_db *db, struct store_request *request)
{
	struct err *err = &request->err;
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->change_count; i++) {
		struct store_change *change = &request->changes[i];
		struct store_columns columns = { .count = 0 };

		r = store_body_change(change, &request->pool, &columns, err);
		if (r == 0)
			r = store_write_change(db, change, &columns, err);
		if (r == -EEXIST && change->kind == STORE_ASSIGNMENT)
			r = live_twice(change, err);
	}
	for (size_t i = 0; r == 0 && i < request->event_count; i++) {
		struct store_event *event = &request->events[i];

		r = store_body_event(event, &request->pool, err);
		if (r == 0)
			r = store_write_event(db, event, err);
	}
	return r;
}

static int
run(struct store_db *db, unsigned sql, struct err *err)
{
	return store_db_run(db, store_db_statement(db, sql), err);
}

/* Returns negative errno if the transaction cannot go on; a fault of this
 * request alone is in its err. */
static int
apply(struct store_db *db, struct store_request *request, struct err *err)
{
	int64_t last_seq = db->last_seq, latest_ms = db->latest_ms;
	/* A statement that fails changes nothing: one alone needs no point to
	 * go back to, which would copy every page that it changes. */
	bool several = request->change_count + request->event_count > 1;
	int r = several ? run(db, STORE_SQL_SAVEPOINT, err) : 0;

	if (r < 0)
		return r;
	r = apply_changes(db, request);
	if (r == 0)
		return several ? run(db, STORE_SQL_RELEASE, err) : 0;
	db->last_seq = last_seq;
	db->latest_ms = latest_ms;
	if (!store_db_in_transaction(db) ||
	    (r != -EINVAL && r != -E2BIG && r != -EEXIST && r != -ENOENT)) {
		*err = request->err;
		return r;
	}
	if (!several)
		return 0;
	r = run(db, STORE_SQL_UNDO, err);
	return r < 0 ? r : run(db, STORE_SQL_RELEASE, err);
}

void
store_write(
    struct store_db *db, struct store_request *const *requests, size_t count)
{
	struct err err = { 0 };
	int r;

	r = store_db_begin(db, &err);
	if (r == 0)
		r = store_db_refresh(db, &err);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = apply(db, requests[i], &err);
	if (r == 0)
		r = store_db_commit(db, &err);
	if (r == 0)
		return;
	store_db_rollback(db);
	for (size_t i = 0; i < count; i++) {
		if (requests[i]->err.code == 0)
			requests[i]->err = err;
	}
}
