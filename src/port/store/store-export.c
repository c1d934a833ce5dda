/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "store-db.h"
#include "store-export.h"
#include "store-header.h"
#include "text.h"

#define PIECE ((size_t)256 * 1024)

struct writer {
	struct store_db *db;
	int fd;
	struct buf out;
	struct err *err;
};

static int
flush(struct writer *w)
{
	int r = file_write_all(w->fd, w->out.data, w->out.len);

	buf_clear(&w->out);
	return r < 0 ? err_errno(w->err, r, "the export cannot be written") : 0;
}

static const char *
column(struct sqlite3_stmt *row, int n)
{
	const char *text = (const char *)sqlite3_column_text(row, n);

	return text != NULL ? text : "";
}

/* Call add for every row of the statement, with a comma between them. */
static int
each_row(struct writer *w, struct sqlite3_stmt *statement,
    int (*add)(struct writer *w, struct sqlite3_stmt *row))
{
	bool first = true;
	int r;

	while ((r = store_db_step(w->db, statement, w->err)) == 1) {
		buf_adds(&w->out, first ? "\n" : ",\n");
		first = false;
		r = add(w, statement);
		if (r == 0 && w->out.len >= PIECE)
			r = flush(w);
		if (r < 0)
			break;
	}
	sqlite3_reset(statement);
	return r;
}

static int
add_record(struct writer *w, struct sqlite3_stmt *row)
{
	text_add_json(&w->out, column(row, 1), strlen(column(row, 1)));
	buf_addc(&w->out, ':');
	buf_adds(&w->out, column(row, 2));
	return 0;
}

/* Its body without the last brace, then its nodes. */
static int
add_goal(struct writer *w, struct sqlite3_stmt *row)
{
	struct sqlite3_stmt *nodes = store_db_statement(w->db,
	    STORE_SQL_RECORD + STORE_NODE * STORE_VERB_COUNT + STORE_BY_GOAL);
	int r;

	add_record(w, row);
	buf_truncate(&w->out, w->out.len - 1);
	buf_adds(&w->out, ",\"nodes\":{");
	store_db_bind_text(nodes, 1, column(row, 1));
	r = each_row(w, nodes, add_record);
	buf_adds(&w->out, "}}");
	return r;
}

static void
add_text(struct writer *w, const char *key, struct sqlite3_stmt *row, int n)
{
	if (sqlite3_column_type(row, n) == SQLITE_NULL)
		return;
	buf_addf(&w->out, ",\"%s\":", key);
	text_add_json(&w->out, column(row, n), strlen(column(row, n)));
}

static int
add_event(struct writer *w, struct sqlite3_stmt *row)
{
	buf_addf(&w->out, "{\"seq\":%lld,\"ts\":%lld",
	    (long long)sqlite3_column_int64(row, 0),
	    (long long)sqlite3_column_int64(row, 1));
	add_text(w, "type", row, 2);
	add_text(w, "goalId", row, 3);
	add_text(w, "assignmentId", row, 4);
	add_text(w, "workNodeId", row, 5);
	add_text(w, "worker", row, 6);
	add_text(w, "task", row, 7);
	add_text(w, "key", row, 9);
	if (sqlite3_column_type(row, 8) != SQLITE_NULL)
		buf_addf(&w->out, ",\"data\":%s", column(row, 8));
	buf_addc(&w->out, '}');
	return 0;
}

static int
add_kind(struct writer *w, const char *key, enum store_kind kind)
{
	struct sqlite3_stmt *all = store_db_statement(w->db,
	    (unsigned)STORE_SQL_RECORD + kind * STORE_VERB_COUNT + STORE_ALL);
	int r = kind < STORE_MAIL ? 1 : store_db_step(w->db, all, w->err);

	/* An llmc that does not know this part can read a file without it. */
	sqlite3_reset(all);
	if (r != 1)
		return r;
	buf_addf(&w->out, ",\n\"%s\":{", key);
	r = each_row(w, all, kind == STORE_GOAL ? add_goal : add_record);
	buf_addc(&w->out, '}');
	return r;
}

static int
add_events(struct writer *w)
{
	struct sqlite3_stmt *events =
	    store_db_statement(w->db, STORE_SQL_EVENTS + STORE_LEAD_NONE * 2);
	int r;

	store_db_bind_int(events, 1, 0);
	store_db_bind_int(events, 2, INT64_MAX);
	buf_adds(&w->out, ",\n\"events\":[");
	r = each_row(w, events, add_event);
	buf_adds(&w->out, "]}\n");
	return r;
}

static int
write_all(struct writer *w)
{
	static const struct {
		const char *key;
		enum store_kind kind;
	} parts[] = {
		{ "goals", STORE_GOAL },
		{ "assignments", STORE_ASSIGNMENT },
		{ "crystallizations", STORE_CRYSTAL },
		{ "dispatchIndex", STORE_DISPATCH },
		{ "mail", STORE_MAIL },
		{ "requests", STORE_REQUEST },
		{ "reservations", STORE_RESERVATION },
	};
	int r = store_db_exec(w->db, "BEGIN", w->err);

	buf_addf(&w->out, "{\"version\":%d", STORE_EXPORT_VERSION);
	for (size_t i = 0; r == 0 && i < nitems(parts); i++)
		r = add_kind(w, parts[i].key, parts[i].kind);
	if (r == 0)
		r = add_events(w);
	if (r == 0)
		r = flush(w);
	return r;
}

int
store_export(const char *path, int fd, struct err *err)
{
	struct writer w = { .fd = fd, .err = err };
	int r = store_header_check(path, err);

	if (r == -ENOENT)
		return err_set(err, r, "there is no %s", path);
	if (r == 0)
		r = store_db_open(path, &w.db, err);
	if (r < 0)
		return r;
	buf_init(&w.out);
	r = write_all(&w);
	store_db_rollback(w.db);
	store_db_close(w.db);
	buf_release(&w.out);
	return r;
}
