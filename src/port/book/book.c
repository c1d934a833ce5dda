/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>

#include "book-private.h"
#include "book.h"

/* The transaction, its list of writes, the statements, and what errors mean. */

/* More writes than this wait only while the disk is full. */
#define WRITES_MANY 10000

struct book_write {
	TAILQ_ENTRY(book_write) entry;
	const char *sql;
	const char *row; /* that it writes, in the text; NULL = not known */
	size_t count;
	struct book_value values[]; /* and their text after them */
};

static int apply(struct book *book, struct err *err);

/* --- errors ------------------------------------------------------------- */

/* What is not here is -EIO. */
static const int meanings[] = {
	[SQLITE_PERM] = -EACCES,
	[SQLITE_BUSY] = -EAGAIN,
	[SQLITE_LOCKED] = -EAGAIN,
	[SQLITE_NOMEM] = -ENOMEM,
	[SQLITE_READONLY] = -EROFS,
	[SQLITE_CORRUPT] = -EUCLEAN,
	[SQLITE_FULL] = -ENOSPC,
	[SQLITE_CANTOPEN] = -EACCES,
	[SQLITE_PROTOCOL] = -EAGAIN,
	[SQLITE_SCHEMA] = -EAGAIN,
	[SQLITE_TOOBIG] = -E2BIG,
	[SQLITE_CONSTRAINT] = -EEXIST,
	[SQLITE_MISMATCH] = -EINVAL,
	[SQLITE_AUTH] = -EACCES,
	[SQLITE_NOTADB] = -EUCLEAN,
};

int
book_errno(int code)
{
	/* The other bits say more about the same. */
	unsigned primary = (unsigned)code & 0xff;

	if (primary == SQLITE_OK || primary == SQLITE_ROW ||
	    primary == SQLITE_DONE)
		return 0;
	if (primary < nitems(meanings) && meanings[primary] != 0)
		return meanings[primary];
	return -EIO;
}

/* sqlite3_system_errno() does not know what happened in a COMMIT; the files
 * do. */
static int
last_errno(struct book *book)
{
	static const int pointers[] = { SQLITE_FCNTL_JOURNAL_POINTER,
		SQLITE_FCNTL_FILE_POINTER };
	int code = 0;

	for (size_t i = 0; code == 0 && i < nitems(pointers); i++) {
		sqlite3_file *file = NULL;

		if (book->sqlite != NULL &&
		    sqlite3_file_control(book->sqlite, "main", pointers[i],
			&file) == SQLITE_OK &&
		    file != NULL && file->pMethods != NULL)
			file->pMethods->xFileControl(
			    file, SQLITE_FCNTL_LAST_ERRNO, &code);
	}
	return code;
}

static int
io_error(struct book *book, struct err *err)
{
	int code = last_errno(book);

	/* Of the index of the log, which is none of those files. */
	if (code == 0 && book->sqlite != NULL)
		code = sqlite3_system_errno(book->sqlite);
	switch (code) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return err_set(err, -ENOSPC,
		    "%s cannot grow: %s; free some space, nothing that was "
		    "stored is lost",
		    book->path, strerror(code));
	case 0:
		return err_set(err, -EIO, "%s: %s", book->path,
		    book->sqlite != NULL ? sqlite3_errmsg(book->sqlite) :
					   "input/output error");
	default:
		return err_errno(
		    err, -EIO, "%s (%s)", book->path, strerror(code));
	}
}

int
book_error(struct book *book, int code, struct err *err)
{
	const char *words =
	    book->sqlite != NULL ? sqlite3_errmsg(book->sqlite) : "";
	int meaning = book_errno(code);

	switch (meaning) {
	case -EUCLEAN:
		return err_set(
		    err, meaning, "%s is damaged: %s", book->path, words);
	case -ENOSPC:
		return err_set(err, meaning,
		    "no space left for %s; free some, nothing that was stored "
		    "is lost",
		    book->path);
	case -EAGAIN:
		return err_set(err, meaning,
		    "another program is writing to %s; try again when it has "
		    "ended",
		    book->path);
	case -EROFS:
		return err_set(err, meaning,
		    "%s cannot be written; check its owner and permissions",
		    book->path);
	case -EACCES:
		code = book->sqlite != NULL ?
		    sqlite3_system_errno(book->sqlite) :
		    0;
		/* -ENOENT would say that there is no such row. */
		if (code == ENOENT)
			return err_set(err, -EACCES,
			    "%s needs its log beside it, which cannot be made; "
			    "check the permissions of the folder",
			    book->path);
		return err_errno(err, code != 0 ? -code : -EACCES,
		    "%s cannot be opened", book->path);
	case -ENOMEM:
		return err_set(err, meaning, "%s: out of memory", book->path);
	default:
		if ((code & 0xff) == SQLITE_IOERR)
			return io_error(book, err);
		return err_set(err, meaning, "%s: %s", book->path, words);
	}
}

/* A large book is not looked at as a whole at every start. */
static void
note_damage(struct book *book, const char *words)
{
	cleanup_free char *mark = xasprintf("%s" BOOK_DAMAGED, book->path);
	cleanup_fd int fd = -1;
	void (*fn)(const char *, void *) = take_ptr(&book->damage_fn);

	if (book->is_open) {
		fd = file_open(mark, O_WRONLY | O_CREAT, 0600);
		if (fd < 0)
			log_debug("%s: %s", mark, file_strerror(fd));
	}
	if (fn != NULL)
		fn(words, book->damage_arg);
}

static int
noted(struct book *book, int r, const struct err *words, struct err *err)
{
	if (r == -EUCLEAN)
		note_damage(book, words->msg);
	if (r < 0 && err != NULL)
		*err = *words;
	return r;
}

void
book_row_unusable(struct book_row *row, const char *words)
{
	log_debug("%s", words);
	note_damage(row->book, words);
}

/* --- statements --------------------------------------------------------- */

int
book_exec(struct book *book, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(book->sqlite, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : book_error(book, rc, err);
}

int
book_prepare(
    struct book *book, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v3(
	    book->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);

	if (rc != SQLITE_OK)
		return book_error(book, rc, err);
	*ret = statement;
	return 0;
}

/* The kept one, unless a query that is under way uses it: *ret_own then is the
 * caller's to finalize. */
static int
statement_for(struct book *book, const char *sql, sqlite3_stmt **ret,
    sqlite3_stmt **ret_own, struct err *err)
{
	sqlite3_stmt *statement = strmap_get(&book->statements, sql);
	int r;

	*ret_own = NULL;
	if (statement != NULL && !sqlite3_stmt_busy(statement)) {
		*ret = statement;
		return 0;
	}
	r = book_prepare(book, sql, ret, err);
	if (r < 0)
		return r;
	if (statement != NULL)
		*ret_own = *ret;
	else /* by its own copy of the text: the caller may free its one */
		strmap_add(&book->statements, sqlite3_sql(*ret), *ret);
	return 0;
}

/* $10 is a name for SQLite, and its index need not be 10. */
static int
parameter(sqlite3_stmt *statement, int n)
{
	char name[16];
	const char *found = sqlite3_bind_parameter_name(statement, n);

	snprintf(name, sizeof name, "$%d", n);
	if (text_is(found, name))
		return n;
	return sqlite3_bind_parameter_index(statement, name);
}

/* The text must stay until the statement is reset. */
void
book_bind(sqlite3_stmt *statement, const struct book_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int at = parameter(statement, (int)i + 1);

		if (values[i].type == BOOK_INT)
			sqlite3_bind_int64(statement, at, values[i].number);
		else if (values[i].type == BOOK_TEXT && values[i].text != NULL)
			sqlite3_bind_text(
			    statement, at, values[i].text, -1, SQLITE_STATIC);
	}
}

static void
let_go(sqlite3_stmt *statement, sqlite3_stmt *own)
{
	if (own != NULL) {
		sqlite3_finalize(own);
		return;
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

int
book_run_now(struct book *book, const char *sql,
    const struct book_value *values, size_t count, int *ret_changes,
    struct err *err)
{
	sqlite3_stmt *statement = NULL, *own = NULL;
	int rc, r = statement_for(book, sql, &statement, &own, err);

	if (r < 0)
		return r;
	book_bind(statement, values, count);
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		;
	if (rc != SQLITE_DONE)
		r = book_error(book, rc, err);
	else if (ret_changes != NULL)
		*ret_changes = sqlite3_changes(book->sqlite);
	let_go(statement, own);
	return r;
}

int
book_query(struct book *book, const char *sql, const struct book_value *values,
    size_t count, book_row_fn *fn, void *arg, struct err *err)
{
	struct err own = { 0 };
	int r = apply(book, &own);

	if (r == 0)
		r = book_query_now(book, sql, values, count, fn, arg, &own);
	return noted(book, r, &own, err);
}

int
book_query_now(struct book *book, const char *sql,
    const struct book_value *values, size_t count, book_row_fn *fn, void *arg,
    struct err *err)
{
	sqlite3_stmt *own = NULL;
	struct book_row row = { .book = book };
	int rc, r = statement_for(book, sql, &row.statement, &own, err);

	if (r < 0)
		return r;
	book_bind(row.statement, values, count);
	while ((rc = sqlite3_step(row.statement)) == SQLITE_ROW)
		if (!fn(&row, arg))
			break;
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		r = book_error(book, rc, err);
	let_go(row.statement, own);
	return r;
}

const char *
book_text(struct book_row *row, int column)
{
	return (const char *)sqlite3_column_text(row->statement, column);
}

int64_t
book_int(struct book_row *row, int column)
{
	return sqlite3_column_int64(row->statement, column);
}

struct json_object *
book_json(struct book_row *row, int column)
{
	const char *text = book_text(row, column);
	struct json_object *json = NULL;

	struct err err = { 0 };

	if (text != NULL &&
	    json_parse(text, strlen(text), BOOK_BODY_MAX, &json, &err) < 0) {
		err_prefix(&err, "%s: a row is no JSON", row->book->path);
		book_row_unusable(row, err.msg);
	}
	return json;
}

bool
book_is_null(struct book_row *row, int column)
{
	return sqlite3_column_type(row->statement, column) == SQLITE_NULL;
}

int
book_columns(struct book_row *row)
{
	return sqlite3_column_count(row->statement);
}

struct first {
	int64_t *number;
	char **text;
	bool found;
};

static bool
take_first(struct book_row *row, void *arg)
{
	struct first *first = arg;

	first->found = true;
	if (first->number != NULL)
		*first->number = book_int(row, 0);
	else if (first->text != NULL)
		*first->text =
		    book_is_null(row, 0) ? NULL : xstrdup(book_text(row, 0));
	return false;
}

int
book_get_int(struct book *book, const char *sql,
    const struct book_value *values, size_t count, int64_t *ret,
    struct err *err)
{
	struct first first = { .number = ret };
	int r = book_query(book, sql, values, count, take_first, &first, err);

	return r == 0 && !first.found ? -ENOENT : r;
}

int
book_get_text(struct book *book, const char *sql,
    const struct book_value *values, size_t count, char **ret, struct err *err)
{
	struct first first = { .text = ret };
	int r = book_query(book, sql, values, count, take_first, &first, err);

	return r == 0 && !first.found ? -ENOENT : r;
}

/* --- writes ------------------------------------------------------------- */

static char *
add_text(char *at, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(at, text, size);
	return at + size;
}

void
book_queue(struct book *book, const char *sql, const char *row,
    const struct book_value *values, size_t count)
{
	size_t size = row != NULL ? strlen(row) + 1 : 0;
	struct book_write *write;
	char *at;

	if (book->is_look)
		fatalx("%s was opened for reading", book->path);
	for (size_t i = 0; i < count; i++)
		if (values[i].type == BOOK_TEXT && values[i].text != NULL)
			size += strlen(values[i].text) + 1;
	write = xmalloc(sizeof *write + count * sizeof *values + size);
	write->sql = sql;
	write->count = count;
	at = (char *)&write->values[count];
	for (size_t i = 0; i < count; i++) {
		write->values[i] = values[i];
		if (values[i].type != BOOK_TEXT || values[i].text == NULL)
			continue;
		write->values[i].text = at;
		at = add_text(at, values[i].text);
	}
	write->row = row != NULL ? at : NULL;
	if (row != NULL)
		add_text(at, row);
	TAILQ_INSERT_TAIL(&book->writes, write, entry);
	if (book->next == NULL)
		book->next = write;
	if (book->write_count++ == 0 && book->dirty_fn != NULL)
		book->dirty_fn(book->dirty_arg);
}

void
book_run(struct book *book, const char *sql, const struct book_value *values,
    size_t count)
{
	book_queue(book, sql, NULL, values, count);
}

bool
book_is_clean(const struct book *book)
{
	return TAILQ_EMPTY(&book->writes);
}

void
book_on_dirty(struct book *book, void (*fn)(void *arg), void *arg)
{
	book->dirty_fn = fn;
	book->dirty_arg = arg;
}

void
book_on_damage(
    struct book *book, void (*fn)(const char *words, void *arg), void *arg)
{
	book->damage_fn = fn;
	book->damage_arg = arg;
}

static void
drop(struct book *book, struct book_write *write)
{
	TAILQ_REMOVE(&book->writes, write, entry);
	book->write_count--;
	free(write);
}

/* Nothing of the transaction is in the book. SQLite has rolled back by itself
 * after some errors. */
void
book_rollback(struct book *book)
{
	if (book_in_transaction(book))
		sqlite3_exec(book->sqlite, "ROLLBACK", NULL, NULL, NULL);
	book->next = TAILQ_FIRST(&book->writes);
}

bool
book_in_transaction(const struct book *book)
{
	return sqlite3_get_autocommit(book->sqlite) == 0;
}

const char book_sql_append[] =
    "INSERT INTO events (seq, ts_ms, latest_ms, type, goal_id,"
    " assignment_id, node_id, worker, task, data, dedupe_key)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    " ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING";
const char book_sql_last[] = "SELECT e.seq, e.latest_ms FROM events AS e"
			     " ORDER BY e.seq DESC LIMIT 1";

static bool
take_last(struct book_row *row, void *arg)
{
	struct book *book = arg;

	book->last_seq = book_int(row, 0);
	book->latest_ms = book_int(row, 1);
	return false;
}

/* Another process may have added some. */
int
book_read_last(struct book *book, struct err *err)
{
	book->last_seq = book->latest_ms = 0;
	return book_query_now(
	    book, book_sql_last, NULL, 0, take_last, book, err);
}

/* An event gets its number here, so that there are no gaps. */
static int
apply_one(struct book *book, struct book_write *write, struct err *err)
{
	bool is_event = write->sql == book_sql_append;
	int changes = 0, r;

	if (is_event) {
		write->values[0].number = book->last_seq + 1;
		write->values[2].number =
		    write->values[1].number > book->latest_ms ?
		    write->values[1].number :
		    book->latest_ms;
	}
	r = book_run_now(
	    book, write->sql, write->values, write->count, &changes, err);
	if (r == 0 && is_event && changes > 0) {
		book->last_seq = write->values[0].number;
		book->latest_ms = write->values[2].number;
	}
	return r;
}

/* Put all that was written into the transaction, which is begun if there is
 * none. */
static int
apply(struct book *book, struct err *err)
{
	struct err own = { 0 };
	int r = 0;

	if (TAILQ_EMPTY(&book->writes))
		return 0;
	if (!book_in_transaction(book)) {
		r = book_exec(book, "BEGIN IMMEDIATE", &own);
		book->next = TAILQ_FIRST(&book->writes);
		if (r == 0)
			r = book_read_last(book, &own);
	}
	while (r == 0 && book->next != NULL) {
		struct book_write *write = book->next;

		r = apply_one(book, write, &own);
		/* It would fail in every transaction, and nothing could be
		 * committed. */
		if (r < 0 && (r == -EEXIST || r == -EINVAL || r == -E2BIG) &&
		    book_in_transaction(book)) {
			log_info("this cannot be stored and is dropped: %s "
				 "(%s)",
			    own.msg, write->sql);
			book->next = TAILQ_NEXT(write, entry);
			drop(book, write);
			r = 0;
		} else if (r == 0) {
			book->next = TAILQ_NEXT(write, entry);
		}
	}
	if (r < 0) {
		book_rollback(book);
		if (err != NULL)
			*err = own;
	}
	return r;
}

/* While nothing can be committed the list must not grow without end: of a row
 * that is written again and again the last state is enough. It takes the place
 * of the first, as rows may have been numbered in that order. */
static void
shorten(struct book *book)
{
	struct book_write *write, *next;
	struct strmap puts = { 0 };

	for (write = TAILQ_FIRST(&book->writes); write != NULL; write = next) {
		struct book_write *first = write->row != NULL ?
		    strmap_remove(&puts, write->row) :
		    NULL;
		bool is_put = !text_begins(write->sql, "DELETE");

		next = TAILQ_NEXT(write, entry);
		if (first != NULL && is_put) {
			TAILQ_REMOVE(&book->writes, write, entry);
			TAILQ_INSERT_BEFORE(first, write, entry);
		}
		if (first != NULL)
			drop(book, first);
		if (write->row != NULL && is_put)
			strmap_add(&puts, write->row, write);
	}
	strmap_release(&puts);
	book->next = TAILQ_FIRST(&book->writes);
}

int
book_commit(struct book *book, struct err *err)
{
	struct book_write *write;
	struct err own = { 0 };
	int r;

	if (TAILQ_EMPTY(&book->writes))
		return 0;
	r = apply(book, &own);
	if (r == 0)
		r = book_exec(book, "COMMIT", &own);
	if (r < 0) {
		book_rollback(book);
		if (book->write_count > WRITES_MANY)
			shorten(book);
		return noted(book, r, &own, err);
	}
	while ((write = TAILQ_FIRST(&book->writes)) != NULL)
		drop(book, write);
	book->next = NULL;
	return 0;
}

int
book_settle(struct book *book, struct err *err)
{
	int r = book_commit(book, err);

	return r == 0 && book_in_transaction(book) ?
	    book_exec(book, "COMMIT", err) :
	    r;
}

/* --- the end ------------------------------------------------------------ */

static void
tables_release(struct book *book)
{
	for (size_t i = 0; i < book->tables.size; i++)
		if (book->tables.slots[i].key != NULL) {
			struct book_made *made = book->tables.slots[i].value;

			strv_free(made->columns);
			free(made->put);
			free(made->remove);
			free(made);
		}
	strmap_release(&book->tables);
}

void
book_close(struct book *book)
{
	struct book_write *write;

	if (book == NULL)
		return;
	while ((write = TAILQ_FIRST(&book->writes)) != NULL)
		drop(book, write);
	for (size_t i = 0; i < book->statements.size; i++)
		sqlite3_finalize(book->statements.slots[i].value);
	strmap_release(&book->statements);
	tables_release(book);
	sqlite3_close(book->sqlite);
	free(book->path);
	free(book);
}

void
book_rest(struct book *book)
{
	sqlite3_db_release_memory(book->sqlite);
}
