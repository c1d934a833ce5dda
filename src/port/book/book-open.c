/* SPDX-License-Identifier: ISC */

/* A book is opened, made, migrated and copied. */

#include "base.h"

#include <ctype.h>
#include <fcntl.h>

#include "book-care.h"
#include "book-private.h"

/* The loop waits for another process no longer than this; persist.c tries
 * again. Others have time, and so has a start: llmc status may be reading the
 * log of a daemon that was killed. */
#define BUSY_MS      100
#define BUSY_LONG_MS 5000

/* Commits survive a power cut; a checkpoint is at most 4 MB, and the log is
 * short again after a long reader. The cache is a large part of the daemon's
 * memory; the kernel has one too. */
#define SETTINGS                               \
	"PRAGMA synchronous = FULL;"           \
	"PRAGMA wal_autocheckpoint = 1000;"    \
	"PRAGMA journal_size_limit = 8388608;" \
	"PRAGMA cache_size = -1024;"           \
	"PRAGMA temp_store = MEMORY;"          \
	"PRAGMA trusted_schema = OFF;"         \
	"PRAGMA cell_size_check = ON;"

/* --- a connection -------------------------------------------------------- */

/* For a read-only file system: the file cannot change. */
static char *
immutable_uri(const char *path)
{
	cleanup_buf struct buf uri = BUF_INIT;

	buf_adds(&uri, "file:");
	for (const char *p = path; *p != '\0'; p++)
		if (isalnum((unsigned char)*p) || strchr("/-_.", *p) != NULL)
			buf_addc(&uri, *p);
		else
			buf_addf(&uri, "%%%02x", (unsigned char)*p);
	buf_adds(&uri, "?immutable=1");
	return buf_take(&uri);
}

static int
connect_to(const char *path, bool immutable, struct book **ret, struct err *err)
{
	static const char *const suffixes[] = { "", "-wal", "-shm",
		"-journal" };
	struct book *book;
	int rc;
	cleanup_free char *uri = NULL;
	int flags;

	/* SQLite has no way to refuse links only below a folder. */
	for (size_t i = 0; i < nitems(suffixes); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, suffixes[i]);

		rc = file_check(file);
		if (rc < 0)
			return err_set(
			    err, rc, "%s: %s", file, file_strerror(rc));
	}
	book = xcalloc(1, sizeof *book);
	TAILQ_INIT(&book->writes);
	book->path = xstrdup(path);
	uri = immutable ? immutable_uri(book->path) : NULL;
	flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	rc = immutable ? sqlite3_open_v2(uri, &book->sqlite,
			     flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
			     book_pages_vfs()) :
			 sqlite3_open_v2(book->path, &book->sqlite,
			     flags | SQLITE_OPEN_READWRITE, book_pages_vfs());
	if (rc != SQLITE_OK) {
		rc = book_error(book, rc, err);
		book_close(book);
		return rc;
	}
	sqlite3_db_config(book->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_busy_timeout(book->sqlite, BUSY_LONG_MS);
	*ret = book;
	return 0;
}

static int
read_version(struct book *book, int64_t *ret, struct err *err)
{
	int r = book_get_int(book, "PRAGMA user_version", NULL, 0, ret, err);

	return r == -ENOENT ? 0 : r;
}

static int
migrate_one(
    struct book *book, const char *script, size_t version, struct err *err)
{
	cleanup_free char *sql =
	    xasprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %zu; COMMIT",
		script, version);
	int r = book_exec(book, sql, err);

	if (r < 0)
		book_rollback(book);
	return r;
}

/* A newer book stays byte for byte what it is: its log is not even written back
 * when we close it. */
static int
expect_version(
    struct book *book, size_t version, int64_t *ret_found, struct err *err)
{
	int r = read_version(book, ret_found, err);

	if (r < 0 || *ret_found <= (int64_t)version)
		return r;
	sqlite3_db_config(
	    book->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return err_set(err, -EPROTONOSUPPORT,
	    "%s was written by a newer llmc (version %lld of its tables, this "
	    "one knows %zu): install that llmc again",
	    book->path, (long long)*ret_found, version);
}

static int
migrate(struct book *book, const char *const *scripts, size_t version,
    struct err *err)
{
	int64_t found = 0;
	int r = expect_version(book, version, &found, err);

	for (size_t i = found < 0 ? 0 : (size_t)found; r == 0 && i < version;
	     i++)
		r = migrate_one(book, scripts[i], i + 1, err);
	return r;
}

/* version: the newest that is known. */
static int
try_look(const char *path, bool immutable, size_t version, struct book **ret,
    struct err *err)
{
	struct book *book = NULL;
	int64_t found = 0;
	int r = connect_to(path, immutable, &book, err);

	if (r < 0 || book == NULL)
		return r;
	book->is_look = true;
	/* A log that is there stays as it is; an empty one is removed again. */
	sqlite3_db_config(book->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
	    book_files_has_log(path), NULL);
	r = book_exec(
	    book, "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;", err);
	if (r == 0)
		r = expect_version(book, version, &found, err);
	if (r < 0) {
		book_close(book);
		return r;
	}
	*ret = book;
	return 0;
}

static int
look(const char *path, size_t version, struct book **ret, struct err *err)
{
	int r = try_look(path, false, version, ret, err);

	return (r == -EACCES || r == -EROFS) && !book_files_has_log(path) ?
	    try_look(path, true, version, ret, err) :
	    r;
}

/* Each page gets room for its checksum, *ret_had bytes until now. */
static void
reserve_stamps(struct book *book, int *ret_had)
{
	*ret_had = BOOK_STAMP_SIZE;
	sqlite3_file_control(
	    book->sqlite, "main", SQLITE_FCNTL_RESERVE_BYTES, ret_had);
}

/* One that another program has made is written anew, with them. */
static int
add_checksums(struct book *book, struct err *err)
{
	int had;

	reserve_stamps(book, &had);
	return had == BOOK_STAMP_SIZE ? 0 : book_exec(book, "VACUUM", err);
}

/* --- a new file --------------------------------------------------------- */

/* The application id goes with the first bytes of the file, the version with
 * the tables. */
static int
build(const char *path, const char *const *scripts, size_t version,
    struct err *err)
{
	cleanup_free char *mark = xasprintf("PRAGMA page_size = %d;"
					    "PRAGMA auto_vacuum = INCREMENTAL;"
					    "PRAGMA application_id = %d",
	    BOOK_PAGE_SIZE, BOOK_APPLICATION_ID);
	cleanup_fd int fd =
	    open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct book *book = NULL;
	int had, r;

	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	r = connect_to(path, false, &book, err);
	if (r < 0 || book == NULL)
		return r;
	reserve_stamps(book, &had);
	r = book_exec(book, mark, err);
	if (r == 0)
		r = migrate(book, scripts, version, err);
	if (r == 0)
		r = book_exec(book, "PRAGMA main.journal_mode = WAL", err);
	book_close(book);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", path);
	return r;
}

static int
create(const char *path, const char *const *scripts, size_t version,
    struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	int r;

	book_files_remove(fresh);
	r = build(fresh, scripts, version, err);
	if (r == 0)
		r = book_files_place(fresh, path, err);
	if (r < 0)
		book_files_remove(fresh);
	return r;
}

int
book_create(const char *path, size_t version, struct err *err)
{
	return create(path, book_scripts, version, err);
}

int
book_connect(const char *path, struct book **ret, struct err *err)
{
	return connect_to(path, false, ret, err);
}

/* --- the tables --------------------------------------------------------- */

static bool
add_table(struct book_row *row, void *arg)
{
	buf_addf(arg, "%s\n", book_text(row, 0));
	return true;
}

static int
list_tables(struct book *book, struct buf *out, struct err *err)
{
	return book_query(book,
	    "SELECT s.sql FROM sqlite_schema AS s WHERE s.sql IS NOT NULL"
	    " ORDER BY s.type, s.name",
	    NULL, 0, add_table, out, err);
}

static bool
has_all(const struct buf *wanted, const struct buf *found)
{
	const char *line = wanted->data;

	for (const char *end; (end = strchr(line, '\n')) != NULL;
	     line = end + 1) {
		cleanup_free char *one =
		    xstrndup(line, (size_t)(end - line) + 1);

		if (strstr(found->data, one) == NULL)
			return false;
	}
	return true;
}

/* A statement cannot be prepared: is that because the tables are not those of
 * this version? An error of SQLite itself is no damage. */
static int
judge_tables(struct book *book, const char *const *scripts, size_t version,
    struct err *err)
{
	cleanup_buf struct buf found = BUF_INIT, wanted = BUF_INIT;
	struct err none = { 0 };
	struct book *fresh = NULL;
	int r = connect_to(":memory:", false, &fresh, &none);

	if (r < 0 || fresh == NULL)
		return err->code;
	r = migrate(fresh, scripts, version, &none);
	if (r == 0)
		r = list_tables(fresh, &wanted, &none);
	book_close(fresh);
	if (r == 0)
		r = list_tables(book, &found, err);
	if (r == 0 && !has_all(&wanted, &found))
		return err_set(err, -EUCLEAN,
		    "%s is damaged: its tables are not those of version %zu",
		    book->path, version);
	return err->code;
}

static int
check_tables(struct book *book, const char *const *scripts, size_t version,
    struct err *err)
{
	struct err own = { 0 };
	int r = book_check_tables(book, &own);

	if (r == -EIO)
		r = judge_tables(book, scripts, version, &own);
	if (r < 0 && err != NULL)
		*err = own;
	return r;
}

int
book_open_at(const char *path, const char *const *scripts, size_t version,
    struct book **ret, struct err *err)
{
	struct book *book = NULL;
	int r = book_files_check(path, err);

	if (r == -ENOENT) {
		cleanup_free char *recovered =
		    xasprintf("%s" BOOK_RECOVERED, path);

		/* There is no file: one that was recovered and lacks only its
		 * name, or a new one. */
		r = file_exists(recovered) ?
		    book_files_place(recovered, path, err) :
		    create(path, scripts, version, err);
	}
	if (r == 0)
		r = connect_to(path, false, &book, err);
	if (r < 0 || book == NULL)
		return r;
	r = book_exec(book, SETTINGS, err);
	if (r == 0)
		r = migrate(book, scripts, version, err);
	if (r == 0)
		r = check_tables(book, scripts, version, err);
	if (r == 0)
		r = add_checksums(book, err);
	if (r < 0) {
		book_close(book);
		return r;
	}
	sqlite3_busy_timeout(book->sqlite, BUSY_MS);
	book->is_open = true;
	*ret = book;
	return 0;
}

int
book_open(const char *path, struct book **ret, struct err *err)
{
	cleanup_free char *recovered = xasprintf("%s" BOOK_RECOVERED, path);
	struct book *book = NULL;
	int r = book_open_at(path, book_scripts, book_version, &book, err);

	if (r < 0)
		return r;
	/* Not before the book is known to be good. */
	book_files_remove(recovered);
	*ret = book;
	return 0;
}

int
book_look(const char *path, struct book **ret, struct err *err)
{
	cleanup_free char *recovered = xasprintf("%s" BOOK_RECOVERED, path);
	int r = book_files_check(path, err);

	if (r == -ENOENT && file_exists(recovered))
		return err_set(err, -EUCLEAN,
		    "%s was damaged, and the daemon that was repairing it was "
		    "killed; start another one, which finishes that: llmc up",
		    path);
	if (r == -ENOENT)
		return err_set(err, r, "there is no %s", path);
	return r < 0 ? r : look(path, book_version, ret, err);
}

/* --- a copy -------------------------------------------------------------- */

/* All that was committed. SQLite itself would let others read it. */
static int
copy(struct book *book, const char *to, struct err *err)
{
	cleanup_fd int fd =
	    open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd == -1)
		return err_errno(err, -errno, "%s", to);
	book_rollback(book);
	return book_query(
	    book, "VACUUM INTO $1", BOOK_VALUES(BOOK_T(to)), NULL, NULL, err);
}

int
book_keep(struct book *book, int64_t wall_ms, char **ret_kept, struct err *err)
{
	cleanup_free char *to = book_files_damaged_name(book->path, wall_ms);
	int r = copy(book, to, err);

	if (r == 0)
		r = book_files_sync(to, err);
	if (r == 0)
		*ret_kept = take_ptr(&to);
	return r;
}

/* The copy has no log. */
static int
finish(const char *path, struct err *err)
{
	struct book *book = NULL;
	int r = book_connect(path, &book, err);

	if (r == 0)
		r = book_exec(book, "PRAGMA journal_mode = WAL", err);
	book_close(book);
	return r == 0 ? book_files_sync(path, err) : r;
}

int
book_copy(const char *path, const char *to, struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", to);
	struct book *book = NULL;
	int r = book_look(path, &book, err);

	if (book == NULL)
		return r;
	book->is_open = true; /* so that damage is noted */
	book_files_remove(fresh);
	r = book_exec(book, "PRAGMA query_only = OFF", err);
	if (r == 0)
		r = copy(book, fresh, err);
	book_close(book);
	if (r == 0)
		r = finish(fresh, err);
	if (r == 0)
		r = book_files_place(fresh, to, err);
	if (r < 0)
		book_files_remove(fresh);
	return r;
}

int
book_put_back(struct book *book, struct err *err)
{
	cleanup_free char *path = xstrdup(book->path);
	cleanup_free char *fresh = xasprintf("%s.new", path);
	cleanup_free char *ready = xasprintf("%s" BOOK_RECOVERED, path);
	cleanup_free char *other = xasprintf("%s.replaced", path);
	int r;

	book_files_remove(fresh);
	r = copy(book, fresh, err);
	/* This removes the log, which has the name that the other file would
	 * use. */
	book_close(book);
	if (r == 0)
		r = finish(fresh, err);
	/* If we are killed from here on, the next daemon gives it its name. */
	if (r == 0)
		r = book_files_place(fresh, ready, err);
	if (r == 0 && file_exists(path) && rename(path, other) == -1)
		r = err_errno(err, -errno, "%s", path);
	if (r == 0)
		r = book_files_place(ready, path, err);
	return r;
}
