/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "store-aside.h"
#include "store-code.h"
#include "store-db.h"
#include "store-header.h"

#define BUSY_MS 5000

/* Commits survive a power cut; a checkpoint is at most 4 MB, and the log is
 * short again after a long reader. */
#define SETTINGS                               \
	"PRAGMA synchronous = FULL;"           \
	"PRAGMA wal_autocheckpoint = 1000;"    \
	"PRAGMA journal_size_limit = 8388608;" \
	"PRAGMA cache_size = -8192;"           \
	"PRAGMA temp_store = MEMORY;"          \
	"PRAGMA trusted_schema = OFF;"         \
	"PRAGMA cell_size_check = ON;"

/* sqlite3_system_errno() does not know what happened in a COMMIT; the files
 * do. */
static int
last_errno(struct store_db *db)
{
	static const int pointers[] = { SQLITE_FCNTL_JOURNAL_POINTER,
		SQLITE_FCNTL_FILE_POINTER };
	int code = 0;

	for (size_t i = 0; code == 0 && i < nitems(pointers); i++) {
		sqlite3_file *file = NULL;

		if (db->sqlite != NULL &&
		    sqlite3_file_control(
			db->sqlite, "main", pointers[i], &file) == SQLITE_OK &&
		    file != NULL && file->pMethods != NULL)
			file->pMethods->xFileControl(
			    file, SQLITE_FCNTL_LAST_ERRNO, &code);
	}
	return code;
}

static int
io_error(struct store_db *db, struct err *err)
{
	int code = last_errno(db);

	switch (code) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return err_set(err, -ENOSPC,
		    "%s cannot grow: %s; free some space, nothing that was "
		    "stored is lost",
		    db->path, strerror(code));
	case 0:
		return err_set(err, -EIO, "%s: %s", db->path,
		    db->sqlite != NULL ? sqlite3_errmsg(db->sqlite) :
					 "input/output error");
	default:
		return err_errno(
		    err, -EIO, "%s (%s)", db->path, strerror(code));
	}
}

static int
open_error(struct store_db *db, struct err *err)
{
	int code = db->sqlite != NULL ? sqlite3_system_errno(db->sqlite) : 0;

	return err_errno(
	    err, code != 0 ? -code : -EACCES, "%s cannot be opened", db->path);
}

int
store_db_error(struct store_db *db, int code, struct err *err)
{
	const char *words =
	    db->sqlite != NULL ? sqlite3_errmsg(db->sqlite) : "";

	int meaning = store_code_errno(code);

	switch (meaning) {
	case -EUCLEAN:
		return err_set(
		    err, meaning, "%s is damaged: %s", db->path, words);
	case -ENOSPC:
		return err_set(err, meaning,
		    "no space left for %s; free some, nothing that was stored "
		    "is lost",
		    db->path);
	case -EAGAIN:
		return err_set(err, meaning,
		    "another program is writing to %s; try again when it has "
		    "ended",
		    db->path);
	case -EROFS:
		return err_set(err, meaning,
		    "%s cannot be written; check its owner and permissions",
		    db->path);
	case -EACCES:
		return open_error(db, err);
	case -ENOMEM:
		return err_set(err, meaning, "%s: out of memory", db->path);
	default:
		if ((code & 0xff) == SQLITE_IOERR)
			return io_error(db, err);
		return err_set(err, meaning, "%s: %s", db->path, words);
	}
}

int
store_db_prepare(struct store_db *db, const char *text,
    struct sqlite3_stmt **ret_statement, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v3(
	    db->sqlite, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);

	if (rc != SQLITE_OK)
		return store_db_error(db, rc, err);
	*ret_statement = statement;
	return 0;
}

struct sqlite3_stmt *
store_db_statement(struct store_db *db, unsigned sql)
{
	sqlite3_reset(db->statements[sql]);
	sqlite3_clear_bindings(db->statements[sql]);
	return db->statements[sql];
}

/* $10 is a name for SQLite, and its index need not be 10. */
static int
parameter(struct sqlite3_stmt *statement, int n)
{
	char name[16];

	snprintf(name, sizeof name, "$%d", n);
	return sqlite3_bind_parameter_index(statement, name);
}

void
store_db_bind_text(struct sqlite3_stmt *statement, int n, const char *text)
{
	if (text != NULL)
		sqlite3_bind_text(statement, parameter(statement, n), text, -1,
		    SQLITE_STATIC);
}

void
store_db_bind_int(struct sqlite3_stmt *statement, int n, int64_t value)
{
	sqlite3_bind_int64(statement, parameter(statement, n), value);
}

int
store_db_step(
    struct store_db *db, struct sqlite3_stmt *statement, struct err *err)
{
	int rc = sqlite3_step(statement);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	rc = store_db_error(db, rc, err);
	sqlite3_reset(statement);
	return rc;
}

int
store_db_run(
    struct store_db *db, struct sqlite3_stmt *statement, struct err *err)
{
	int r;

	do
		r = store_db_step(db, statement, err);
	while (r == 1);
	sqlite3_reset(statement);
	return r;
}

int
store_db_exec(struct store_db *db, const char *text, struct err *err)
{
	int rc = sqlite3_exec(db->sqlite, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_db_error(db, rc, err);
}

int
store_db_begin(struct store_db *db, struct err *err)
{
	return store_db_exec(db, "BEGIN IMMEDIATE", err);
}

int
store_db_commit(struct store_db *db, struct err *err)
{
	return store_db_exec(db, "COMMIT", err);
}

bool
store_db_in_transaction(const struct store_db *db)
{
	return sqlite3_get_autocommit(db->sqlite) == 0;
}

/* SQLite has rolled back by itself after some errors. */
void
store_db_rollback(struct store_db *db)
{
	if (store_db_in_transaction(db))
		sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

void
store_db_close(struct store_db *db)
{
	if (db == NULL)
		return;
	for (size_t i = 0; i < nitems(db->statements); i++)
		sqlite3_finalize(db->statements[i]);
	sqlite3_close(db->sqlite);
	free(db->path);
	free(db);
}

static int
connect_to(
    const char *path, int flags, struct store_db **ret_db, struct err *err)
{
	static const char *const suffixes[] = { "", "-wal", "-shm",
		"-journal" };
	struct store_db *db;
	int rc;

	/* SQLite has no way to refuse links only below a folder. */
	for (size_t i = 0; i < nitems(suffixes); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, suffixes[i]);

		rc = file_check(file);
		if (rc < 0)
			return err_set(
			    err, rc, "%s: %s", file, file_strerror(rc));
	}
	db = xcalloc(1, sizeof *db);
	db->path = xstrdup(path);
	rc = sqlite3_open_v2(path, &db->sqlite,
	    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK) {
		rc = store_db_error(db, rc, err);
		store_db_close(db);
		return rc;
	}
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_busy_timeout(db->sqlite, BUSY_MS);
	*ret_db = db;
	return 0;
}

static int
read_number(
    struct store_db *db, const char *text, int64_t *ret, struct err *err)
{
	struct sqlite3_stmt *statement = NULL;
	int r = store_db_prepare(db, text, &statement, err);

	if (r < 0)
		return r;
	r = store_db_step(db, statement, err);
	if (r == 1)
		*ret = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return r < 0 ? r : 0;
}

static int
migrate_one(
    struct store_db *db, const char *script, size_t version, struct err *err)
{
	cleanup_free char *mark =
	    xasprintf("PRAGMA user_version = %zu", version);
	int r = store_db_begin(db, err);

	if (r == 0)
		r = store_db_exec(db, script, err);
	if (r == 0)
		r = store_db_exec(db, mark, err);
	if (r == 0)
		r = store_db_commit(db, err);
	if (r < 0)
		store_db_rollback(db);
	return r;
}

/* A newer store stays byte for byte what it is: its log is not even written
 * back when we close it. */
static int
migrate(struct store_db *db, const char *const *migrations, size_t version,
    struct err *err)
{
	int64_t found = 0;
	int r = read_number(db, "PRAGMA user_version", &found, err);

	if (r < 0)
		return r;
	if (found > (int64_t)version) {
		sqlite3_db_config(
		    db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
		return err_set(err, -EPROTONOSUPPORT,
		    "%s was written by a newer llmc (version %lld of its "
		    "tables, this one knows %zu): install that llmc again",
		    db->path, (long long)found, version);
	}
	for (size_t i = found < 0 ? 0 : (size_t)found; r == 0 && i < version;
	     i++)
		r = migrate_one(db, migrations[i], i + 1, err);
	return r;
}

int
store_db_refresh(struct store_db *db, struct err *err)
{
	struct sqlite3_stmt *last = store_db_statement(db, STORE_SQL_LAST);
	int r = store_db_step(db, last, err);

	if (r < 0)
		return r;
	db->last_seq = r == 1 ? sqlite3_column_int64(last, 0) : 0;
	db->latest_ms = r == 1 ? sqlite3_column_int64(last, 1) : 0;
	sqlite3_reset(last);
	return 0;
}

/* --- the tables -------------------------------------------------------- */

static int
add_tables(struct store_db *db, struct buf *out, struct err *err)
{
	struct sqlite3_stmt *rows = NULL;
	int r = store_db_prepare(db,
	    "SELECT coalesce(s.sql, s.name) FROM sqlite_schema AS s"
	    " ORDER BY s.type, s.name",
	    &rows, err);

	if (r < 0)
		return r;
	while ((r = store_db_step(db, rows, err)) == 1)
		buf_addf(
		    out, "%s\n", (const char *)sqlite3_column_text(rows, 0));
	sqlite3_finalize(rows);
	return r;
}

/* A statement cannot be prepared: is that because the tables are not those of
 * this version? An error of SQLite itself is no damage. */
static int
check_tables(struct store_db *db, const char *const *migrations, size_t version,
    struct err *err)
{
	cleanup_buf struct buf found = BUF_INIT, wanted = BUF_INIT;
	struct err none = { 0 };
	struct store_db *fresh = NULL;
	int r;

	r = connect_to(":memory:", SQLITE_OPEN_READWRITE, &fresh, &none);
	if (r < 0 || fresh == NULL)
		return err->code;
	r = migrate(fresh, migrations, version, &none);
	if (r == 0)
		r = add_tables(fresh, &wanted, &none);
	store_db_close(fresh);
	if (r == 0)
		r = add_tables(db, &found, err);
	if (r == 0 && strcmp(found.data, wanted.data) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: its tables are not those of version %zu",
		    db->path, version);
	return err->code;
}

static int
prepare_all(struct store_db *db, struct err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < STORE_SQL_COUNT; i++)
		r = store_db_prepare(db, store_sql[i], &db->statements[i], err);
	return r == 0 ? store_db_refresh(db, err) : r;
}

/* The application id goes with the first bytes of the file, the version with
 * the tables. */
static int
build(const char *path, const char *const *migrations, size_t version,
    struct err *err)
{
	cleanup_free char *mark =
	    xasprintf("PRAGMA application_id = %d", STORE_APPLICATION_ID);
	cleanup_fd int fd =
	    open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct store_db *db = NULL;
	int r;

	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	r = connect_to(path, SQLITE_OPEN_READWRITE, &db, err);
	if (r < 0 || db == NULL)
		return r;
	r = store_db_exec(db, mark, err);
	if (r == 0)
		r = migrate(db, migrations, version, err);
	if (r == 0)
		r = store_db_exec(db, "PRAGMA journal_mode = WAL", err);
	store_db_close(db);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", path);
	return r;
}

static int
create(const char *path, const char *const *migrations, size_t version,
    struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	int r;

	store_files_remove(fresh);
	r = build(fresh, migrations, version, err);
	if (r == 0)
		r = store_files_place(fresh, path, err);
	if (r < 0)
		store_files_remove(fresh);
	return r;
}

int
store_db_create(const char *path, struct err *err)
{
	return create(path, store_migrations, store_version, err);
}

int
store_db_open_at(const char *path, const char *const *migrations,
    size_t version, struct store_db **ret_db, struct err *err)
{
	struct store_db *db = NULL;
	struct err own = { 0 };
	int r = store_header_check(path, err);

	if (r == -ENOENT)
		r = create(path, migrations, version, err);
	if (r == 0)
		r = connect_to(path, SQLITE_OPEN_READWRITE, &db, err);
	if (r < 0 || db == NULL)
		return r;
	r = store_db_exec(db, SETTINGS, err);
	if (r == 0)
		r = migrate(db, migrations, version, err);
	if (r == 0) {
		r = prepare_all(db, &own);
		if (r == -EIO)
			r = check_tables(db, migrations, version, &own);
		if (r < 0 && err != NULL)
			*err = own;
	}
	if (r < 0) {
		store_db_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}

int
store_db_open(const char *path, struct store_db **ret_db, struct err *err)
{
	return store_db_open_at(
	    path, store_migrations, store_version, ret_db, err);
}

int
store_db_look(const char *path, struct store_db **ret_db, struct err *err)
{
	struct store_db *db = NULL;
	int r = connect_to(path, SQLITE_OPEN_READWRITE, &db, err);

	if (r < 0 || db == NULL)
		return r;
	sqlite3_db_config(
	    db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* SQLite then also reads a file whose end is missing. */
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	r = store_db_exec(db, "PRAGMA query_only = ON", err);
	if (r < 0) {
		store_db_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}
