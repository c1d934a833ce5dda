/* SPDX-License-Identifier: ISC */

/*
 * The shared book in an SQLite file: for clones on one machine, for trials and
 * for tests. It runs on the loop, one ask in a pass. Another process's lock is
 * never waited for: the ask is tried again a little later, until its deadline.
 */
#include "base.h"
#include "id.h"
#include "loop.h"
#include "book-private.h"
#include "shared-private.h"
#include "watch.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define BOOT_ID_LEN 36
#define BUSY_MS     8 /* until the next try, with jitter */
#define SETTINGS                                           \
	"pragma journal_mode=wal;pragma synchronous=full;" \
	"pragma foreign_keys=on;pragma trusted_schema=on;" \
	"pragma temp_store=memory;pragma cache_size=-2048;"

struct sqlite_book {
	struct shared base;
	const char *path; /* in base.database */
	char *hint_path; /* touched to tell the others */
	sqlite3 *sqlite;
	int64_t epoch; /* see find_epoch() */
	sqlite3_stmt *statements[SHARED_STATEMENT_COUNT];
	struct loop_call *run;
	struct loop_timer *busy;
	struct watch *watch;
};

/* --- the connection ----------------------------------------------------- */

static void
sql_now_ms(sqlite3_context *context, int count, sqlite3_value **values)
{
	const int64_t *epoch = sqlite3_user_data(context);

	(void)count;
	(void)values;
	sqlite3_result_int64(context, *epoch + clock_boot_ms());
}

static void
sql_me(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	(void)values;
	sqlite3_result_text(
	    context, sqlite3_user_data(context), -1, SQLITE_TRANSIENT);
}

/* SQLITE_OK, or its code; *ret is to be closed in any case. */
static int
open_file(const char *path, int flags, const char *host, int64_t *epoch,
    sqlite3 **ret)
{
	int rc = sqlite3_open_v2(path, ret, flags, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_extended_result_codes(*ret, 0);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(*ret, "now_ms", 0,
		    SQLITE_UTF8 | SQLITE_INNOCUOUS, epoch, sql_now_ms, NULL,
		    NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(*ret, "me", 0,
		    SQLITE_UTF8 | SQLITE_INNOCUOUS,
		    (void *)(uintptr_t)(host != NULL ? host : ""), sql_me, NULL,
		    NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(*ret, SETTINGS, NULL, NULL, NULL);
	return rc;
}

/* One statement with its values; rows are added to *rows, which may be NULL. */
static int
step(sqlite3_stmt *statement, const struct book_value *values, size_t count,
    struct shared_rows *rows)
{
	int rc;

	book_bind(statement, values, count);
	if (rows != NULL) {
		rows->width = (size_t)sqlite3_column_count(statement);
		rows->names = xcalloc(rows->width + 1, sizeof *rows->names);
		for (size_t i = 0; i < rows->width; i++)
			rows->names[i] =
			    xstrdup(sqlite3_column_name(statement, (int)i));
	}
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		if (rows == NULL)
			continue;
		rows->count++;
		rows->cells = xreallocarray(rows->cells,
		    rows->count * rows->width, sizeof *rows->cells);
		for (size_t i = 0; i < rows->width; i++) {
			const char *text = (const char *)sqlite3_column_text(
			    statement, (int)i);

			rows->cells[(rows->count - 1) * rows->width + i] =
			    text != NULL ? xstrdup(text) : NULL;
		}
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int
prepare(sqlite3 *sqlite, const char *text, sqlite3_stmt **ret)
{
	cleanup_buf struct buf sql = BUF_INIT;

	shared_text_for(SHARED_SQLITE, text, &sql);
	return sqlite3_prepare_v3(
	    sqlite, sql.data, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
}

/*
 * All processes of a machine have the same time since it was started, whatever
 * they take for the time of day, and nobody sets it: leases are judged by that.
 * The first one after a start of the machine says which time of day that was.
 */
static int
find_epoch(sqlite3 *sqlite, int64_t *ret)
{
	static const char *const texts[] = {
		"select meta.value from meta where meta.key='clock' and "
		"substr(meta.value,1,36)=substr($1,1,36)",
		"insert into meta(key,value) values('clock',$1) on "
		"conflict(key) do update set value=case when "
		"substr(meta.value,1,36)=substr(excluded.value,1,36) then "
		"meta.value else excluded.value end returning meta.value"
	};
	cleanup_buf struct buf boot = BUF_INIT;
	cleanup_free char *now = NULL;
	bool known = false;
	int rc = SQLITE_OK;

	file_read("/proc/sys/kernel/random/boot_id", 64, &boot, NULL);
	now = xasprintf("%-36.36s %" PRId64, boot.len > 0 ? boot.data : "",
	    clock_wall_ms() - clock_boot_ms());
	for (size_t i = 0; i < nitems(texts) && rc == SQLITE_OK && !known;
	     i++) {
		struct shared_rows rows = { 0 };
		sqlite3_stmt *statement = NULL;

		rc = prepare(sqlite, texts[i], &statement);
		if (rc == SQLITE_OK)
			rc = step(statement, BOOK_VALUES(BOOK_T(now)), &rows);
		sqlite3_finalize(statement);
		known = rc == SQLITE_OK && rows.count > 0;
		if (known)
			*ret = strtoll(rows.cells[0] + BOOT_ID_LEN, NULL, 10);
		shared_rows_release(&rows);
	}
	return rc;
}

static int
run(struct sqlite_book *book, enum shared_statement id,
    const struct book_value *values, size_t count, struct shared_rows *rows)
{
	int rc = SQLITE_OK;

	if (book->statements[id] == NULL)
		rc = prepare(book->sqlite, shared_statements[id].text,
		    &book->statements[id]);
	return rc == SQLITE_OK ?
	    step(book->statements[id], values, count, rows) :
	    rc;
}

static void
drop(struct shared *shared)
{
	struct sqlite_book *book = (struct sqlite_book *)shared;

	loop_timer_free(take_ptr(&book->busy));
	watch_free(take_ptr(&book->watch));
	for (size_t i = 0; i < SHARED_STATEMENT_COUNT; i++) {
		sqlite3_finalize(book->statements[i]);
		book->statements[i] = NULL;
	}
	sqlite3_close(book->sqlite);
	book->sqlite = NULL;
}

static void
on_hint(void *arg)
{
	struct sqlite_book *book = arg;

	shared_hinted(&book->base, "all", NULL);
}

/* 0; -EAGAIN: somebody has it locked. Others have been dealt with. */
static int
failed(struct sqlite_book *book, int rc)
{
	cleanup_free char *words = NULL;

	if (rc == SQLITE_OK)
		return 0;
	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return -EAGAIN;
	words = xasprintf("%s: %s", book->path,
	    book->sqlite != NULL ? sqlite3_errmsg(book->sqlite) :
				   "out of memory");
	shared_went(&book->base, words);
	return -EIO;
}

/* May we write, whoever has changed the tables meanwhile? */
static int
check_meta(struct sqlite_book *book)
{
	struct shared_rows meta = { 0 };
	struct err err = { 0 };
	int r = failed(book, run(book, SHARED_META, NULL, 0, &meta));

	if (r == 0) {
		r = shared_check_meta(&meta, book->base.repository, &err);
		if (r < 0)
			shared_bar(&book->base, err.msg);
	}
	shared_rows_release(&meta);
	return r;
}

static void
begin(struct shared *shared)
{
	struct sqlite_book *book = (struct sqlite_book *)shared;
	cleanup_free char *words = NULL;
	struct stat file;
	int r;

	if (stat(book->path, &file) == -1 || file.st_size == 0) {
		words = xasprintf(
		    "%s: there is no shared book; make it with: llmc fleet "
		    "init",
		    book->path);
		shared_bar(shared, words);
		return;
	}
	r = failed(book,
	    open_file(book->path, SQLITE_OPEN_READWRITE, shared->host,
		&book->epoch, &book->sqlite));
	if (r == 0)
		r = check_meta(book);
	if (r == 0)
		r = failed(book, find_epoch(book->sqlite, &book->epoch));
	if (r == -EAGAIN)
		shared_went(shared,
		    "the shared book is locked by another "
		    "program");
	if (r < 0)
		return;
	/* A copy that was put in its place has another history. */
	snprintf(shared->identity, sizeof shared->identity, "%ju/%ju",
	    (uintmax_t)file.st_dev, (uintmax_t)file.st_ino);
	watch_new(
	    shared->loop, book->hint_path, on_hint, book, &book->watch, NULL);
	shared_set_state(shared, SHARED_UP, NULL);
}

/* --- asks --------------------------------------------------------------- */

static void
on_busy(void *arg)
{
	struct sqlite_book *book = arg;

	loop_timer_free(take_ptr(&book->busy));
	loop_call_request(book->run);
}

/* One transaction: SQLITE_OK, or why not. */
static int
transact(struct sqlite_book *book, struct shared_wait *wait)
{
	bool writes = false;
	int rc;

	for (size_t i = 0; i < wait->count; i++) {
		shared_rows_release(&wait->rows[i]);
		writes |= shared_statements[wait->calls[i].id].gives != NULL;
	}
	rc = sqlite3_exec(book->sqlite, writes ? "begin immediate" : "begin",
	    NULL, NULL, NULL);
	for (size_t i = 0; i < wait->count && rc == SQLITE_OK; i++)
		rc = run(book, wait->calls[i].id, wait->calls[i].values,
		    wait->calls[i].count, &wait->rows[i]);
	return rc == SQLITE_OK ?
	    sqlite3_exec(book->sqlite, "commit", NULL, NULL, NULL) :
	    rc;
}

static void
on_run(void *arg)
{
	struct sqlite_book *book = arg;
	struct shared_wait *wait = TAILQ_FIRST(&book->base.waits);
	cleanup_free char *words = NULL;
	int rc, r;

	if (wait == NULL || book->sqlite == NULL || book->busy != NULL)
		return;
	r = check_meta(book);
	if (r < 0 && r != -EAGAIN)
		return;
	rc = r == 0 ? transact(book, wait) : SQLITE_BUSY;
	if (rc != SQLITE_OK) {
		words = xstrdup(sqlite3_errmsg(book->sqlite));
		if (!sqlite3_get_autocommit(book->sqlite))
			sqlite3_exec(
			    book->sqlite, "rollback", NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK) {
		shared_answer_wait(&book->base, wait, SHARED_DONE, NULL);
	} else if (rc == SQLITE_CONSTRAINT || rc == SQLITE_ERROR ||
	    rc == SQLITE_MISMATCH || rc == SQLITE_TOOBIG) {
		shared_answer_wait(&book->base, wait, SHARED_REFUSED, words);
	} else if (failed(book, rc) == -EAGAIN) {
		book->busy = loop_after(
		    book->base.loop, shared_jitter(BUSY_MS), on_busy, book);
	} else {
		return; /* it is closed */
	}
	if (!TAILQ_EMPTY(&book->base.waits))
		loop_call_request(book->run);
}

static void
send_waits(struct shared *shared)
{
	loop_call_request(((struct sqlite_book *)shared)->run);
}

/* A change of this file is the hint; what is in it says nothing. */
static void
hint(struct shared *shared, const char *word, const char *host)
{
	struct sqlite_book *book = (struct sqlite_book *)shared;
	cleanup_fd int fd =
	    file_open(book->hint_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)word;
	(void)host;
	if (fd >= 0)
		file_write_all(fd, shared->host, strlen(shared->host));
}

static void
end(struct shared *shared)
{
	struct sqlite_book *book = (struct sqlite_book *)shared;

	loop_call_free(book->run);
	free(book->hint_path);
}

static const struct shared_engine_ops ops = {
	.begin = begin,
	.send = send_waits,
	.drop = drop,
	.end = end,
	.hint = hint,
};

static int
check_path(const char *database, struct err *err)
{
	return database[strlen("sqlite:")] == '/' ?
	    0 :
	    err_set(err, -EINVAL,
		"fleet.database: %s: the path of the file must begin with /",
		database);
}

int
shared_sqlite_new(
    const struct shared_options *options, struct shared **ret, struct err *err)
{
	struct sqlite_book *book;
	int r = check_path(options->database, err);

	if (r < 0)
		return r;
	book = xcalloc(1, sizeof *book);
	shared_init(&book->base, &ops, options);
	book->path = book->base.database + strlen("sqlite:");
	book->hint_path = xasprintf("%s-hint", book->path);
	book->run = loop_call_new(options->loop, on_run, book);
	*ret = &book->base;
	return 0;
}

/* --- the owner ---------------------------------------------------------- */

/* A statement of the owner. */
static int
own(sqlite3 *sqlite, const char *text, const struct book_value *values,
    size_t count, struct shared_rows *rows, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = prepare(sqlite, text, &statement);

	if (rc == SQLITE_OK)
		rc = step(statement, values, count, rows);
	if (rc != SQLITE_OK)
		err_set(err, -EIO, "%s", sqlite3_errmsg(sqlite));
	sqlite3_finalize(statement);
	return rc == SQLITE_OK ? 0 : -EIO;
}

/* All steps after `from`; the versions that they lead to. */
static int
make_tables(sqlite3 *sqlite, const struct shared_owner_task *task, int64_t from,
    struct json_object *report, struct err *err)
{
	char version[16], min_writer[16];
	int64_t now = from, writer = 0;
	int r = 0;

	for (size_t i = 0; i < task->step_count && r == 0; i++) {
		const struct shared_ddl *step = &task->steps[i];

		if (step->version <= from || step->engine == SHARED_POSTGRES)
			continue;
		now = step->version;
		writer = step->min_writer;
		r = own(sqlite, step->text, NULL, 0, NULL, err);
	}
	json_set_int(report, "schemaVersion", now);
	if (r < 0 || now == from)
		return r;
	snprintf(version, sizeof version, "%lld", (long long)now);
	snprintf(min_writer, sizeof min_writer, "%lld", (long long)writer);
	r = own(sqlite, shared_meta_put_text,
	    BOOK_VALUES(BOOK_T("schema_version"), BOOK_T(version)), NULL, err);
	if (r == 0)
		r = own(sqlite, shared_meta_put_text,
		    BOOK_VALUES(BOOK_T("min_writer"), BOOK_T(min_writer)), NULL,
		    err);
	return r;
}

static int
owner_act(sqlite3 *sqlite, const struct shared_owner_task *task,
    struct json_object *report, struct err *err)
{
	struct shared_rows rows = { 0 };
	struct shared_rows there = { 0 };
	int64_t version = 0;
	bool is_there;
	int r = own(sqlite,
	    "select 1 as there from sqlite_schema where name='meta'", NULL, 0,
	    &there, err);

	is_there = there.count > 0;
	shared_rows_release(&there);
	if (r == 0 && is_there)
		r = own(sqlite, shared_statements[SHARED_META].text, NULL, 0,
		    &rows, err);
	for (size_t i = 0; i < rows.count; i++)
		if (strcmp(shared_text(&rows, i, "key"), "schema_version") == 0)
			version = shared_int(&rows, i, "value");
	if (r == 0 && strcmp(task->verb, "init") == 0) {
		if (version > 0)
			r = shared_check_meta(&rows, task->repository, err);
		if (r == 0 && version == 0)
			r = make_tables(sqlite, task, 0, report, err);
		if (r == 0 && version == 0 && task->repository != NULL)
			r = own(sqlite, shared_meta_put_text,
			    BOOK_VALUES(
				BOOK_T("repository"), BOOK_T(task->repository)),
			    NULL, err);
	} else if (r == 0 && version == 0) {
		r = err_set(err, -ENOENT,
		    "there is no shared book; make it with: llmc fleet init");
	} else if (r == 0 && strcmp(task->verb, "migrate") == 0) {
		r = make_tables(sqlite, task, version, report, err);
	} else if (r == 0 && strcmp(task->verb, "join") == 0) {
		struct shared_rows joined = { 0 };

		r = shared_check_meta(&rows, task->repository, err);
		if (r == 0)
			r = own(sqlite, shared_join_text,
			    BOOK_VALUES(BOOK_T(task->host)), &joined, err);
		if (r == 0 && joined.count > 0)
			json_set_int(
			    report, "nr", shared_int(&joined, 0, "nr"));
		shared_rows_release(&joined);
	} else if (r == 0) {
		r = shared_check_meta(&rows, task->repository, err);
		json_set_int(report, "schemaVersion", version);
	}
	shared_rows_release(&rows);
	return r;
}

int
shared_sqlite_owner(const struct shared_owner_task *task,
    struct json_object *report, struct err *err)
{
	const char *path = task->owner + strlen("sqlite:");
	bool makes = strcmp(task->verb, "init") == 0;
	int64_t epoch = clock_wall_ms() - clock_boot_ms();
	sqlite3 *sqlite = NULL;
	int rc, r = check_path(task->owner, err);

	if (r < 0)
		return r;
	if (makes) { /* SQLite itself would let others read it */
		cleanup_fd int fd = file_open(path, O_WRONLY | O_CREAT, 0600);

		if (fd < 0)
			return err_set(
			    err, fd, "%s: %s", path, file_strerror(fd));
	} else if (!file_exists(path)) {
		return err_set(err, -ENOENT,
		    "%s: there is no shared book; make it with: llmc fleet "
		    "init",
		    path);
	}
	rc =
	    open_file(path, SQLITE_OPEN_READWRITE, task->host, &epoch, &sqlite);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(sqlite, 10 * 1000);
		rc = sqlite3_exec(sqlite, "begin immediate", NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK) {
		r = err_set(err, -EIO, "%s: %s", path, sqlite3_errmsg(sqlite));
	} else {
		r = owner_act(sqlite, task, report, err);
		if (r < 0)
			err_prefix(err, "%s", path);
		else if (sqlite3_exec(sqlite, "commit", NULL, NULL, NULL) !=
		    SQLITE_OK)
			r = err_set(
			    err, -EIO, "%s: %s", path, sqlite3_errmsg(sqlite));
	}
	sqlite3_close(sqlite);
	return r;
}
