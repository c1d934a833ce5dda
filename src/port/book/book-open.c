/* SPDX-License-Identifier: ISC */

/* The files of a book: moved together, opened, made, migrated; the store of
 * earlier versions is taken over. */

#include "base.h"

#include <ctype.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#include "book-private.h"
#include "state.h"

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

/* --- the first bytes ---------------------------------------------------- */

#define HEADER_SIZE 100
#define MAGIC       "SQLite format 3" /* and its NUL */

/* Offsets in the header, from SQLite's file format. */
#define AT_PAGE_SIZE       16
#define AT_CHANGES         24
#define AT_PAGES           28
#define AT_APPLICATION_ID  68
#define AT_PAGES_VALID_FOR 92

static bool book_files_has_log(const char *path);
static int book_files_retire(const char *path, char **ret_to, struct err *err);

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
	rc = immutable ?
	    sqlite3_open_v2(uri, &book->sqlite,
		flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) :
	    sqlite3_open_v2(
		book->path, &book->sqlite, flags | SQLITE_OPEN_READWRITE, NULL);
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

/* version: the newest that is known; 0 = any. */
static int
try_look(const char *path, bool damaged, bool immutable, size_t version,
    struct book **ret, struct err *err)
{
	struct book *book = NULL;
	int64_t found = 0;
	int r = connect_to(path, immutable, &book, err);

	if (r < 0 || book == NULL)
		return r;
	book->is_look = true;
	/* A log that is there stays as it is; an empty one is removed again. */
	sqlite3_db_config(book->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
	    damaged || book_files_has_log(path), NULL);
	if (damaged) {
		/* SQLite then also reads a file whose end is missing. */
		sqlite3_db_config(
		    book->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
		sqlite3_db_config(
		    book->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
	}
	r = book_exec(
	    book, "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;", err);
	if (r == 0 && version > 0)
		r = expect_version(book, version, &found, err);
	if (r < 0) {
		book_close(book);
		return r;
	}
	*ret = book;
	return 0;
}

static int
look(const char *path, bool damaged, size_t version, struct book **ret,
    struct err *err)
{
	int r = try_look(path, damaged, false, version, ret, err);

	return (r == -EACCES || r == -EROFS) && !book_files_has_log(path) ?
	    try_look(path, damaged, true, version, ret, err) :
	    r;
}

/* --- the store of earlier versions --------------------------------------- */

#define OLD_VERSION 2 /* of its tables, the last there was */

int
book_attach(struct book *book, const char *path, struct err *err)
{
	return book_run_now(book, "ATTACH DATABASE $1 AS other",
	    BOOK_VALUES(BOOK_T(path)), NULL, err);
}

static int
copy_table(struct book *book, const char *table, struct err *err)
{
	cleanup_free char *columns = NULL, *sql = NULL;
	int r = book_get_text(book,
	    "SELECT group_concat(c.name, ', ') FROM"
	    " pragma_table_info($1, 'other') AS c",
	    BOOK_VALUES(BOOK_T(table)), &columns, err);

	/* The first version had no mail. */
	if (r < 0 || columns == NULL)
		return r;
	sql = xasprintf("INSERT INTO main.%s (%s) SELECT %s FROM other.%s"
			" WHERE true ON CONFLICT DO NOTHING",
	    table, columns, columns, table);
	return book_exec(book, sql, err);
}

/* After those that are there. */
static const char copy_events[] =
    "INSERT INTO main.events (seq, ts_ms, latest_ms, type, goal_id,"
    " assignment_id, node_id, worker, task, data, dedupe_key)"
    " SELECT e.seq + $1, e.ts_ms,"
    " CASE WHEN e.latest_ms > $2 THEN e.latest_ms ELSE $2 END,"
    " e.type, e.goal_id, e.assignment_id, e.node_id, e.worker, e.task,"
    " e.data, e.dedupe_key FROM other.events AS e"
    " WHERE e.dedupe_key IS NULL OR NOT EXISTS"
    " (SELECT m.seq FROM main.events AS m"
    " WHERE m.dedupe_key = e.dedupe_key)";

int
book_copy_attached(struct book *book, struct err *err)
{
	int64_t one;
	int r = 0;

	for (size_t i = 0; r == 0 && i < BOOK_KIND_COUNT; i++)
		if (i != BOOK_ASSIGNMENT)
			r = copy_table(book, book_kind_tables[i], err);
	if (r == 0)
		r = book_exec(book, book_fill_columns, err);
	/* An earlier version had a table of them. */
	if (r == 0 &&
	    book_get_int(book,
		"SELECT 1 FROM other.sqlite_schema AS s"
		" WHERE s.name = 'assignments'",
		NULL, 0, &one, NULL) == 0)
		r = book_exec(book, book_fill_work, err);
	if (r == 0)
		r = book_read_last(book, err);
	return r < 0 ?
	    r :
	    book_run_now(book, copy_events,
		BOOK_VALUES(BOOK_I(book->last_seq), BOOK_I(book->latest_ms)),
		NULL, err);
}

/* All of the store of goals, if there is one. */
static int
take_old(struct book *book, const char *path, struct err *err)
{
	cleanup_free char *old = book_files_old(path);
	struct book *before = NULL;
	int r = book_files_check(old, err);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = look(old, false, OLD_VERSION, &before, err);
	book_close(before);
	if (r == 0)
		r = book_attach(book, old, err);
	if (r < 0)
		return r;
	r = book_exec(book, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = book_copy_attached(book, err);
	if (r == 0)
		r = book_exec(book, "COMMIT", err);
	if (r < 0)
		book_rollback(book);
	if (r == -EUCLEAN)
		err_prefix(err, "%s", old);
	return r;
}

int
book_retire_old(const char *path, char **ret_to, struct err *err)
{
	cleanup_free char *old = book_files_old(path);

	return strcmp(old, path) != 0 && file_exists(old) ?
	    book_files_retire(old, ret_to, err) :
	    0;
}

/* --- a new file --------------------------------------------------------- */

/* The application id goes with the first bytes of the file, the version with
 * the tables. old_beside: NULL = nothing to take over. */
static int
build(const char *path, const char *old_beside, const char *const *scripts,
    size_t version, struct err *err)
{
	cleanup_free char *mark = xasprintf("PRAGMA auto_vacuum = INCREMENTAL;"
					    "PRAGMA application_id = %d",
	    BOOK_APPLICATION_ID);
	cleanup_fd int fd =
	    open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct book *book = NULL;
	int r;

	if (fd == -1)
		return err_errno(err, -errno, "%s", path);
	r = connect_to(path, false, &book, err);
	if (r < 0 || book == NULL)
		return r;
	r = book_exec(book, mark, err);
	if (r == 0)
		r = migrate(book, scripts, version, err);
	if (r == 0 && old_beside != NULL)
		r = take_old(book, old_beside, err);
	if (r == 0)
		r = book_exec(book, "PRAGMA main.journal_mode = WAL", err);
	book_close(book);
	if (r == 0 && fsync(fd) == -1)
		r = err_errno(err, -errno, "%s", path);
	return r;
}

static int
create(const char *path, bool take_over, const char *const *scripts,
    size_t version, struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	int r;

	book_files_remove(fresh);
	r = build(fresh, take_over ? path : NULL, scripts, version, err);
	if (r == 0)
		r = book_files_place(fresh, path, err);
	if (r < 0)
		book_files_remove(fresh);
	return r;
}

int
book_create(const char *path, struct err *err)
{
	return create(path, false, book_scripts, book_version, err);
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
		 * name, or a new one with what the store of goals has. */
		r = file_exists(recovered) ?
		    book_files_place(recovered, path, err) :
		    create(path, true, scripts, version, err);
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

	/* Not before the book is known to be good. */
	if (r == 0) {
		book_files_remove(recovered);
		r = book_retire_old(path, NULL, err);
	}
	if (r < 0) {
		book_close(book);
		return r;
	}
	*ret = book;
	return 0;
}

int
book_look_damaged(const char *path, struct book **ret, struct err *err)
{
	return look(path, true, 0, ret, err);
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
	return r < 0 ? r : look(path, false, book_version, ret, err);
}

static uint32_t
number(const unsigned char *header, size_t at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	    (uint32_t)header[at + 2] << 8 | (uint32_t)header[at + 3];
}

/* Is there anything in the write-ahead log? */
static bool
book_files_has_log(const char *path)
{
	cleanup_free char *log = xasprintf("%s-wal", path);
	struct stat st;

	return stat(log, &st) == 0 && st.st_size > 0;
}

static int
check(const char *path, const unsigned char *header, ssize_t len, off_t size,
    struct err *err)
{
	uint32_t page_size;

	if (len < HEADER_SIZE)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it has only %zd bytes", path, len);
	if (memcmp(header, MAGIC, sizeof MAGIC) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: it does not begin as a database", path);
	if (number(header, AT_APPLICATION_ID) != BOOK_APPLICATION_ID)
		return err_set(err, -EINVAL,
		    "%s is a database of another program; move it away", path);
	page_size = number(header, AT_PAGE_SIZE) >> 16;
	if (page_size == 1)
		page_size = 65536;
	if (page_size < 512 || (page_size & (page_size - 1)) != 0)
		return err_set(err, -EUCLEAN,
		    "%s is damaged: pages of %u bytes", path, page_size);
	if (number(header, AT_CHANGES) == number(header, AT_PAGES_VALID_FOR) &&
	    (uint64_t)size < (uint64_t)number(header, AT_PAGES) * page_size &&
	    /* While a log is beside it, it may be shorter than it will be. */
	    !book_files_has_log(path))
		return err_set(err, -EUCLEAN,
		    "%s is damaged: %llu of its bytes are missing", path,
		    (unsigned long long)number(header, AT_PAGES) * page_size -
			(unsigned long long)size);
	return 0;
}

int
book_files_check(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char header[HEADER_SIZE];
	struct stat st;
	ssize_t len;

	if (fd == -1)
		return errno == ENOENT ? -ENOENT :
					 err_errno(err, -errno, "%s", path);
	if (fstat(fd, &st) == -1)
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s is not a file", path);
	len = pread(fd, header, sizeof header, 0);
	if (len == -1)
		return err_errno(err, -errno, "%s", path);
	return check(path, header, len, st.st_size, err);
}

/* --- all files ---------------------------------------------------------- */

#define MARK ".corrupt-"

static const char *const beside[] = { "-wal", "-shm", "-journal" };

static char *
folder_of(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	return xstrdup(dirname(copy));
}

static int
sync_folder(const char *path, struct err *err)
{
	cleanup_free char *folder = folder_of(path);
	cleanup_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd == -1 || (fsync(fd) == -1 && errno != EINVAL))
		return err_errno(err, -errno, "%s", folder);
	return 0;
}

static int
move(const char *from, const char *to, struct err *err)
{
	if (rename(from, to) == -1)
		return err_errno(
		    err, -errno, "%s cannot be renamed to %s", from, to);
	return 0;
}

/* Everything beside the database; those that are not there are no failure. */
static int
move_beside(const char *from, const char *to, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(beside); i++) {
		cleanup_free char *old = xasprintf("%s%s", from, beside[i]);
		cleanup_free char *new = xasprintf("%s%s", to, beside[i]);

		if (file_exists(old))
			r = move(old, new, err);
	}
	return r;
}

static bool
has_beside(const char *path)
{
	for (size_t i = 0; i < nitems(beside); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, beside[i]);

		if (file_exists(file))
			return true;
	}
	return false;
}

/* "llmc.corrupt-" of "/a/llmc.db"; *ret_ending is ".db". */
static char *
stem_of(const char *path, const char **ret_ending)
{
	const char *name = strrchr(path, '/');
	const char *dot;

	name = name != NULL ? name + 1 : path;
	dot = strrchr(name, '.');
	if (dot == NULL || dot == name)
		dot = name + strlen(name);
	*ret_ending = dot;
	return xasprintf("%.*s%s", (int)(dot - name), name, MARK);
}

static char *
newest_damaged(const char *path)
{
	cleanup_free char *folder = folder_of(path), *stem = NULL, *best = NULL;
	const char *ending;
	const char *name;
	cleanup_dir DIR *dir = opendir(folder);

	stem = stem_of(path, &ending);
	while ((name = dir_next(dir)) != NULL)
		if (text_begins(name, stem) && text_ends(name, ending) &&
		    (best == NULL || strcmp(name, best) > 0))
			xstrset(&best, name);
	return best != NULL ? file_join(folder, best) : NULL;
}

/* The newest one, if it was moved aside without its log; NULL = none. */
static char *
half_moved(const char *path)
{
	cleanup_free char *newest = newest_damaged(path);

	return newest != NULL && !has_beside(newest) ? take_ptr(&newest) : NULL;
}

char *
book_files_damaged_name(const char *path, int64_t wall_ms)
{
	cleanup_free char *folder = folder_of(path), *stem = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	const char *ending;
	char *name = NULL;

	clock_format_compact(wall_ms, stamp);
	stem = stem_of(path, &ending);
	for (int i = 0; name == NULL; i++) {
		cleanup_free char *base = i == 0 ?
		    xasprintf("%s%s%s", stem, stamp, ending) :
		    xasprintf("%s%s.%d%s", stem, stamp, i, ending);
		cleanup_free char *full = file_join(folder, base);

		if (!file_exists(full) && !has_beside(full))
			name = take_ptr(&full);
	}
	return name;
}

/* A log without its database: the rest of a move that a crash interrupted. */
static int
finish(const char *path, int64_t wall_ms, struct err *err)
{
	cleanup_free char *to = half_moved(path);
	int r;

	if (to == NULL)
		to = book_files_damaged_name(path, wall_ms);
	r = move_beside(path, to, err);
	return r < 0 ? r : sync_folder(path, err);
}

int
book_files_move_damaged(
    const char *path, int64_t wall_ms, char **ret_path, struct err *err)
{
	cleanup_free char *to = NULL;
	int r;

	if (!file_exists(path)) {
		r = has_beside(path) ? finish(path, wall_ms, err) : 0;
		return r < 0 ? r :
			       err_set(err, -ENOENT, "there is no %s", path);
	}
	to = book_files_damaged_name(path, wall_ms);
	r = move(path, to, err);
	/* On the disk in this order too. */
	if (r == 0)
		r = sync_folder(path, err);
	if (r == 0)
		r = move_beside(path, to, err);
	if (r == 0)
		r = sync_folder(path, err);
	if (r == 0 && ret_path != NULL)
		*ret_path = take_ptr(&to);
	return r;
}

/* When the log was written: no clock is read here. */
static int64_t
log_time(const char *path)
{
	cleanup_free char *log = xasprintf("%s%s", path, beside[0]);
	struct stat st;

	return stat(log, &st) == 0 ? (int64_t)st.st_mtime * 1000 : 0;
}

int
book_files_place(const char *fresh, const char *path, struct err *err)
{
	int r = 0;

	if (has_beside(path))
		r = finish(path, log_time(path), err);
	if (r == 0)
		r = move(fresh, path, err);
	return r < 0 ? r : sync_folder(path, err);
}

void
book_files_remove(const char *path)
{
	unlink(path);
	for (size_t i = 0; i < nitems(beside); i++) {
		cleanup_free char *file = xasprintf("%s%s", path, beside[i]);

		unlink(file);
	}
}

/* Move a database with all its files to where those of an earlier version are
 * kept (state.h). */
static int
book_files_retire(const char *path, char **ret_to, struct err *err)
{
	cleanup_free char *name = xstrdup(path), *folder = folder_of(path);
	cleanup_free char *to =
	    state_upgrade_place(folder, basename(name), err);
	int r = -EIO;

	if (to == NULL)
		return r;
	/* The database last: while it is there, this is not done. */
	r = move_beside(path, to, err);
	if (r == 0)
		r = move(path, to, err);
	if (r == 0)
		r = sync_folder(to, err);
	if (r == 0)
		r = sync_folder(path, err);
	if (r == 0 && ret_to != NULL)
		*ret_to = take_ptr(&to);
	return r;
}

int
book_files_sync(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd == -1 || fsync(fd) == -1)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

char *
book_files_old(const char *path)
{
	cleanup_free char *folder = folder_of(path);

	return file_join(folder, "store.db");
}
