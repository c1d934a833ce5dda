/* SPDX-License-Identifier: ISC */

/* Plans and events as one JSON document, and what a person asks for in SQL. */

#include "base.h"

#include <fcntl.h>

#include "book-care.h"
#include "book-private.h"

#define PIECE ((size_t)256 * 1024)

/* --- export ------------------------------------------------------------- */

struct writer {
	struct book *book;
	int fd;
	struct buf out;
	struct err *err;
	int r; /* of what a callback did */
	bool first; /* in its list */
};

static int
flush(struct writer *w)
{
	int r = file_write_all(w->fd, w->out.data, w->out.len);

	buf_clear(&w->out);
	return r < 0 ? err_errno(w->err, r, "the export cannot be written") : 0;
}

/* Between the members of a list. */
static void
separate(struct writer *w)
{
	buf_adds(&w->out, w->first ? "\n" : ",\n");
	w->first = false;
}

static bool
go_on(struct writer *w)
{
	if (w->r == 0 && w->out.len >= PIECE)
		w->r = flush(w);
	return w->r == 0;
}

static void
add_body(struct writer *w, const struct book_record *record)
{
	separate(w);
	text_add_json(&w->out, record->id, strlen(record->id));
	buf_addc(&w->out, ':');
	buf_adds(&w->out, record->body);
}

static bool
add_record(const struct book_record *record, void *arg)
{
	add_body(arg, record);
	return go_on(arg);
}

/* Its body without the last brace, then its nodes. */
static bool
add_goal(const struct book_record *record, void *arg)
{
	struct writer *w = arg;

	add_body(w, record);
	buf_truncate(&w->out, w->out.len - 1);
	buf_adds(&w->out, ",\"nodes\":{");
	w->first = true;
	if (go_on(w))
		w->r = book_read_bodies(w->book, BOOK_NODE, record->id, NULL,
		    add_record, w, w->err);
	w->first = false;
	buf_adds(&w->out, "}}");
	return go_on(w);
}

static void
add_text(struct writer *w, const char *key, const char *text)
{
	if (text == NULL)
		return;
	buf_addf(&w->out, ",\"%s\":", key);
	text_add_json(&w->out, text, strlen(text));
}

static bool
add_event(struct book_row *row, void *arg)
{
	struct writer *w = arg;
	struct book_event event;

	book_row_event(row, &event);
	separate(w);
	buf_addf(&w->out, "{\"seq\":%lld,\"ts\":%lld", (long long)event.seq,
	    (long long)event.ts_ms);
	add_text(w, "type", event.type);
	add_text(w, "goalId", event.goal_id);
	add_text(w, "assignmentId", event.assignment_id);
	add_text(w, "workNodeId", event.node_id);
	add_text(w, "worker", event.worker);
	add_text(w, "task", event.task);
	add_text(w, "key", event.key);
	if (event.data != NULL)
		buf_addf(&w->out, ",\"data\":%s", event.data);
	buf_addc(&w->out, '}');
	return go_on(w);
}

static bool
stop(const struct book_record *record, void *arg)
{
	(void)record;
	*(bool *)arg = true;
	return false;
}

static int
add_kind(struct writer *w, const char *key, enum book_kind kind)
{
	bool some = kind < BOOK_MAIL;
	int r = some ?
	    0 :
	    book_read_bodies(w->book, kind, NULL, NULL, stop, &some, w->err);

	/* An llmc that does not know this part can read a file without it. */
	if (r < 0 || !some)
		return r;
	buf_addf(&w->out, ",\n\"%s\":{", key);
	w->first = true;
	r = book_read_bodies(w->book, kind, NULL, NULL,
	    kind == BOOK_GOAL ? add_goal : add_record, w, w->err);
	buf_addc(&w->out, '}');
	return r < 0 ? r : w->r;
}

static int
write_all(struct writer *w)
{
	static const struct {
		const char *key;
		enum book_kind kind;
	} parts[] = {
		{ "goals", BOOK_GOAL },
		{ "assignments", BOOK_ASSIGNMENT },
		{ "crystallizations", BOOK_CRYSTAL },
		{ "mail", BOOK_MAIL },
		{ "requests", BOOK_REQUEST },
		{ "reservations", BOOK_RESERVATION },
	};
	/* One snapshot: the daemon may be writing. */
	int r = book_exec(w->book, "BEGIN", w->err);

	buf_addf(&w->out, "{\"version\":%d", BOOK_EXPORT_VERSION);
	for (size_t i = 0; r == 0 && i < nitems(parts); i++)
		r = add_kind(w, parts[i].key, parts[i].kind);
	buf_adds(&w->out, ",\n\"events\":[");
	w->first = true;
	if (r == 0)
		r = book_query(w->book,
		    "SELECT " BOOK_EVENT_COLUMNS " FROM events AS e"
		    " ORDER BY e.seq",
		    NULL, 0, add_event, w, w->err);
	if (r == 0)
		r = w->r;
	buf_adds(&w->out, "]}\n");
	return r == 0 ? flush(w) : r;
}

static int
export_to(const char *path, int fd, struct err *err)
{
	struct writer w = { .fd = fd, .err = err };
	int r = book_look(path, &w.book, err);

	if (r < 0)
		return r;
	buf_init(&w.out);
	r = write_all(&w);
	book_close(w.book);
	buf_release(&w.out);
	return r;
}

/* The old file stays until the new one is complete. */
int
book_export(const char *path, const char *file, struct err *err)
{
	cleanup_free char *part = NULL;
	cleanup_fd int fd = -1;
	int r;

	if (file == NULL)
		return export_to(path, STDOUT_FILENO, err);
	part = xasprintf("%s.part", file);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1)
		return err_errno(err, -errno, "%s", part);
	r = export_to(path, fd, err);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", part);
	if (r == 0 && rename(part, file) == -1)
		r = err_errno(err, -errno, "%s", file);
	if (r < 0)
		unlink(part);
	return r;
}

/* --- SQL of a person ----------------------------------------------------- */

#define STEPS 10000 /* of SQLite's machine between two looks at the clock */

/* Only what reads tables. */
static int
authorize(void *arg, int action, const char *a, const char *b, const char *c,
    const char *d)
{
	(void)arg;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ ||
		action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE ?
	    SQLITE_OK :
	    SQLITE_DENY;
}

int
book_is_late(void *arg)
{
	return clock_mono_ms() > *(const int64_t *)arg;
}

static int
prepare_one(
    struct book *book, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	const char *rest = NULL;
	int rc = sqlite3_prepare_v2(book->sqlite, sql, -1, ret, &rest);

	if (rc == SQLITE_AUTH)
		return err_set(err, -EINVAL,
		    "only SELECT is possible here, nothing that changes the "
		    "book or its settings");
	if (rc == SQLITE_ERROR)
		return err_set(
		    err, -EINVAL, "%s", sqlite3_errmsg(book->sqlite));
	if (rc != SQLITE_OK)
		return book_error(book, rc, err);
	if (*ret == NULL)
		return err_set(err, -EINVAL,
		    "no statement; type for example: llmc doctor store sql \"SELECT "
		    "name, sql FROM sqlite_schema\"");
	rest += strspn(rest, " \t\r\n;");
	if (*rest != '\0')
		return err_set(err, -EINVAL,
		    "one statement at a time; more begins at: %.40s", rest);
	if (sqlite3_stmt_readonly(*ret) == 0)
		return err_set(err, -EINVAL, "only SELECT is possible here");
	return 0;
}

static struct json_object *
value_at(sqlite3_stmt *statement, int column, size_t *bytes)
{
	const char *text;
	int len = sqlite3_column_bytes(statement, column);
	size_t cut = (size_t)len;

	*bytes += cut + 8;
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		return json_object_new_int64(
		    sqlite3_column_int64(statement, column));
	case SQLITE_FLOAT:
		return json_object_new_double(
		    sqlite3_column_double(statement, column));
	case SQLITE_TEXT:
		text = (const char *)sqlite3_column_text(statement, column);
		if (!text_utf8_valid(text, (size_t)len))
			return json_object_new_string("(bytes)");
		if (cut > BOOK_SQL_BYTES_MAX)
			cut = BOOK_SQL_BYTES_MAX;
		while (cut < (size_t)len &&
		    ((unsigned char)text[cut] & 0xc0) == 0x80)
			cut--;
		return json_object_new_string_len(text, (int)cut);
	case SQLITE_BLOB:
		return json_object_new_string("(bytes)");
	default:
		return NULL;
	}
}

static int
run_rows(struct book *book, sqlite3_stmt *statement,
    struct json_object **ret_result, struct err *err)
{
	struct json_object *columns = json_object_new_array();
	struct json_object *rows = json_object_new_array();
	struct json_object *result = json_object_new_object();
	int count = sqlite3_column_count(statement), rc = SQLITE_ROW;
	size_t bytes = 0;

	for (int i = 0; i < count; i++)
		json_object_array_add(columns,
		    json_object_new_string(sqlite3_column_name(statement, i)));
	json_set(result, "columns", columns);
	json_set(result, "rows", rows);
	while (json_object_array_length(rows) < BOOK_SQL_ROWS_MAX &&
	    bytes < BOOK_SQL_BYTES_MAX &&
	    (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		struct json_object *row = json_object_new_array();

		for (int i = 0; i < count; i++)
			json_object_array_add(
			    row, value_at(statement, i, &bytes));
		json_object_array_add(rows, row);
	}
	if (rc == SQLITE_ROW)
		rc = sqlite3_step(statement);
	json_set_bool(result, "truncated", rc == SQLITE_ROW);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		json_object_put(result);
		return (rc & 0xff) == SQLITE_INTERRUPT ?
		    err_set(err, -ETIME,
			"the query was stopped because it took too long; ask "
			"for less, with WHERE or LIMIT") :
		    (rc & 0xff) == SQLITE_ERROR ?
		    err_set(err, -EINVAL, "%s", sqlite3_errmsg(book->sqlite)) :
		    book_error(book, rc, err);
	}
	*ret_result = result;
	return 0;
}

int
book_sql(const char *path, const char *sql, int deadline_ms,
    struct json_object **ret_result, struct err *err)
{
	int64_t deadline = clock_mono_ms() + deadline_ms;
	sqlite3_stmt *statement = NULL;
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (r < 0)
		return r;
	sqlite3_set_authorizer(book->sqlite, authorize, NULL);
	sqlite3_progress_handler(book->sqlite, STEPS, book_is_late, &deadline);
	r = prepare_one(book, sql, &statement, err);
	if (r == 0)
		r = run_rows(book, statement, ret_result, err);
	sqlite3_finalize(statement);
	book_close(book);
	return r;
}
