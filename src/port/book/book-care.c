/* SPDX-License-Identifier: ISC */

/* What can still be read of a damaged book, made into a new one: row by row,
 * past pages that cannot be read. */

#include "base.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "book-care.h"
#include "book-private.h"

/* After a page that cannot be read, every rowid is tried, up to so many in
 * vain: more than a page can have. */
#define MISSES_MAX 100000
#define ROWS_MAX   1000 /* in one transaction */

/* --- rows --------------------------------------------------------------- */

struct salvage {
	struct book *from, *to;
	struct book_recovered *got;
	/* The table at hand: */
	int kind; /* of record; -1 = none */
	bool is_event;
	char *insert; /* of a table that is neither */
	int columns;
};

/* goal, id, body from the second column on. */
static int
save_record(struct salvage *s, struct book_row *row, struct err *err)
{
	/* Without a body it would be a deletion. */
	return book_is_null(row, 3) ?
	    -EINVAL :
	    book_put_body(s->to, (enum book_kind)s->kind, book_text(row, 1),
		book_text(row, 2), book_text(row, 3), err);
}

static int
save_event(struct salvage *s, struct book_row *row, struct err *err)
{
	struct book_event event;
	bool is_new = false;
	int r = -EINVAL;

	book_row_event(row, &event);
	if (event.seq > 0)
		r = book_insert_event(s->to, &event, &is_new, err);
	return r == 0 && !is_new ? -EEXIST : r;
}

static int
save_other(struct salvage *s, struct book_row *row, struct err *err)
{
	sqlite3_stmt *insert = NULL;
	int rc, r = book_prepare(s->to, s->insert, &insert, err);

	if (r < 0)
		return r;
	for (int i = 1; i <= s->columns; i++)
		sqlite3_bind_value(
		    insert, i, sqlite3_column_value(row->statement, i));
	rc = sqlite3_step(insert);
	if (rc != SQLITE_DONE)
		r = book_error(s->to, rc, err);
	sqlite3_finalize(insert);
	return r;
}

static int
save_row(struct salvage *s, struct book_row *row, struct err *err)
{
	int r = 0;

	if (!book_in_transaction(s->to))
		r = book_exec(s->to, "BEGIN IMMEDIATE", err);
	if (r == 0)
		r = s->is_event  ? save_event(s, row, err) :
		    s->kind >= 0 ? save_record(s, row, err) :
				   save_other(s, row, err);
	if (r == 0)
		s->got->rows++;
	else if (r == -EINVAL || r == -E2BIG || r == -ENOENT || r == -EEXIST)
		s->got->refused++;
	else
		return r;
	return (s->got->rows + s->got->refused) % ROWS_MAX == 0 ?
	    book_settle(s->to, err) :
	    0;
}

/* A row whose number is nonsense must not end the search. */
static bool
follows(int64_t row, int64_t last)
{
	return row > last && (last == 0 || row - last < MISSES_MAX);
}

/* Every row that can be read. Negative errno only from the new book. */
static int
save_rows(struct salvage *s, const char *sql, struct err *err)
{
	struct book_row row = { NULL };
	int64_t next = 1, misses = 0;
	int rc = SQLITE_DONE, r = 0;

	if (book_prepare(s->from, sql, &row.statement, NULL) < 0) {
		s->got->gaps++;
		return 0;
	}
	while (r == 0 && misses < MISSES_MAX) {
		sqlite3_reset(row.statement);
		book_bind(row.statement, BOOK_VALUES(BOOK_I(next)));
		while (r == 0 &&
		    (rc = sqlite3_step(row.statement)) == SQLITE_ROW) {
			int64_t at = book_int(&row, 0);

			r = save_row(s, &row, err);
			if (follows(at, next - 1))
				next = at + 1;
			misses = 0;
		}
		if (r < 0 || rc == SQLITE_DONE)
			break;
		if (misses++ == 0)
			s->got->gaps++;
		next++;
	}
	sqlite3_finalize(row.statement);
	return r;
}

/* --- tables ------------------------------------------------------------- */

/* One that this unit does not know is made as it was. */
static int
make_other(struct salvage *s, const char *name, const char *ddl)
{
	cleanup_buf struct buf insert = BUF_INIT;
	cleanup_free char *probe = xasprintf("SELECT * FROM \"%s\"", name);
	sqlite3_stmt *statement = NULL;

	if (!text_begins(ddl, "CREATE TABLE ") ||
	    book_settle(s->to, NULL) < 0 || book_exec(s->to, ddl, NULL) < 0 ||
	    book_prepare(s->to, probe, &statement, NULL) < 0)
		return -EUCLEAN;
	s->columns = sqlite3_column_count(statement);
	sqlite3_finalize(statement);
	buf_addf(&insert, "INSERT INTO \"%s\" VALUES (", name);
	for (int i = 0; i < s->columns; i++)
		buf_adds(&insert, i > 0 ? ", ?" : "?");
	buf_addc(&insert, ')');
	s->insert = buf_take(&insert);
	return 0;
}

static int
save_table(
    struct salvage *s, const char *name, const char *ddl, struct err *err)
{
	cleanup_free char *sql = NULL;
	const char *columns = "t.rowid, t.*";
	int r;

	s->kind = -1;
	s->is_event = strcmp(name, "events") == 0;
	for (int i = 0; i < BOOK_KIND_COUNT; i++)
		if (strcmp(name, book_kind_tables[i]) == 0)
			s->kind = i;
	if (s->is_event) {
		sql = xasprintf(
		    "SELECT " BOOK_EVENT_COLUMNS " FROM events AS e NOT INDEXED"
		    " WHERE e.seq >= $1 ORDER BY e.seq");
		return save_rows(s, sql, err);
	}
	if (s->kind == BOOK_GOAL)
		columns = "t.rowid, t.id, t.id, t.body";
	else if (s->kind >= 0)
		columns = "t.rowid, t.goal_id, t.id, t.body";
	else if (make_other(s, name, ddl) < 0) {
		s->got->gaps++;
		return 0;
	}
	sql = xasprintf("SELECT %s FROM \"%s\" AS t NOT INDEXED"
			" WHERE t.rowid >= $1 ORDER BY t.rowid",
	    columns, name);
	r = save_rows(s, sql, err);
	free(take_ptr(&s->insert));
	if (r < 0 || s->kind != BOOK_NODE ||
	    strstr(ddl, "assignment_id") == NULL)
		return r;
	s->kind = BOOK_ASSIGNMENT;
	return save_rows(s,
	    "SELECT t.rowid, t.goal_id, t.assignment_id, t.assignment"
	    " FROM nodes AS t NOT INDEXED WHERE t.rowid >= $1"
	    " AND t.assignment_id IS NOT NULL ORDER BY t.rowid",
	    err);
}

/* --- the header -------------------------------------------------------- */

#define HEADER_SIZE 100
#define PAGE_SIZE   4096

static int
copy_file(const char *from, const char *to, struct err *err)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_fd int out = file_open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char bytes[65536];
	ssize_t n;
	int r = 0;

	if (in == -1)
		return err_errno(err, -errno, "%s", from);
	if (out < 0)
		return err_set(err, out, "%s: %s", to, file_strerror(out));
	while (r == 0 && (n = read(in, bytes, sizeof bytes)) > 0)
		r = file_write_all(out, bytes, (size_t)n);
	if (r == 0 && n == -1)
		r = -errno;
	return r < 0 ? err_errno(err, r, "%s", to) : 0;
}

/* The header of a new book, with the size of this one and no free pages. */
static int
write_header(const char *path, struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	cleanup_fd int in = -1, out = open(path, O_RDWR | O_CLOEXEC);
	unsigned char header[HEADER_SIZE];
	struct stat st = { 0 };
	int r = book_create(fresh, err);

	if (r == 0) {
		in = open(fresh, O_RDONLY | O_CLOEXEC);
		if (in == -1 || out == -1 || fstat(out, &st) == -1 ||
		    pread(in, header, sizeof header, 0) != sizeof header)
			r = err_set(err, -EIO, "%s cannot be read", path);
	}
	if (r == 0) {
		unsigned char *at = header + 28;
		uint32_t number = (uint32_t)(st.st_size / PAGE_SIZE);

		for (int i = 0; i < 4; i++)
			at[i] = (unsigned char)(number >> (24 - 8 * i));
		memcpy(header + 92, header + 24, 4);
		memset(header + 32, 0, 8);
		/* Where pages were moved to matters to writers only. */
		memset(header + 52, 0, 4);
		memset(header + 64, 0, 4);
		if (pwrite(out, header, sizeof header, 0) != sizeof header)
			r = err_set(err, -EIO, "%s cannot be written", path);
	}
	book_files_remove(fresh);
	return r;
}

/* Of a book whose first bytes are damaged, a copy that SQLite reads. */
static int
repair_copy(const char *damaged, const char *copy, struct err *err)
{
	cleanup_free char *log = xasprintf("%s-wal", damaged);
	cleanup_free char *to = xasprintf("%s-wal", copy);
	int r;

	book_files_remove(copy);
	r = copy_file(damaged, copy, err);
	if (r == 0)
		r = write_header(copy, err);
	if (r == 0 && file_exists(log))
		r = copy_file(log, to, err);
	return r;
}

/* --- a book that is damaged ---------------------------------------------- */

/* All that can be read of one, in a new one at built. */
static int
salvage(const char *damaged, const char *built, struct book_recovered *got,
    struct err *err)
{
	cleanup_strv char **names = NULL, **ddl = NULL;
	struct salvage s = { .got = got };
	int r;

	book_files_remove(built);
	r = book_create(built, err);
	if (r == 0)
		r = book_open_at(built, book_scripts, book_version, &s.to, err);
	/* Durable at the end, not at every step. */
	if (r == 0)
		r = book_exec(s.to, "PRAGMA synchronous = OFF", err);
	if (r == 0 && book_look_damaged(damaged, &s.from, NULL) == 0) {
		struct book_row row = { NULL };
		int rc = SQLITE_ERROR;

		/* Their names and definitions, as far as they can be read. */
		if (book_prepare(s.from,
			"SELECT m.name, m.sql FROM sqlite_schema AS m"
			" WHERE m.type = 'table' AND m.sql IS NOT NULL",
			&row.statement, NULL) == 0) {
			while (
			    (rc = sqlite3_step(row.statement)) == SQLITE_ROW) {
				const char *name = book_text(&row, 0);

				if (name == NULL || strchr(name, '"') != NULL ||
				    text_begins(name, "sqlite_"))
					continue;
				strv_add(&names, name);
				strv_add(&ddl, book_text(&row, 1));
			}
			sqlite3_finalize(row.statement);
		}
		if (rc != SQLITE_DONE)
			s.got->gaps++;
	}
	for (size_t i = 0; r == 0 && names != NULL && names[i] != NULL; i++)
		r = save_table(&s, names[i], ddl[i], err);
	if (r == 0)
		r = book_settle(s.to, err);
	if (r == 0) /* its rows may be of a version without them */
		r = book_exec(s.to, book_fill_columns, err);
	if (r == 0)
		r = book_exec(s.to, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	book_close(s.from);
	book_close(s.to);
	if (r == 0)
		r = book_files_sync(built, err);
	return r;
}

/* The damaged one stays in its place until the new one is complete. */
static int
recover(const char *path, const char *damaged, int64_t wall_ms,
    struct book_recovered *got, struct err *err)
{
	cleanup_free char *built = xasprintf("%s.build", path);
	cleanup_free char *copy = xasprintf("%s.repaired", path);
	cleanup_free char *ready = xasprintf("%s" BOOK_RECOVERED, path);
	int r;

	if (book_files_check(damaged, NULL) == -EUCLEAN) {
		r = repair_copy(damaged, copy, err);
		if (r == 0)
			r = salvage(copy, built, got, err);
	} else {
		r = salvage(damaged, built, got, err);
	}
	if (r == 0)
		r = book_files_place(built, ready, err);
	if (r == 0 && strcmp(damaged, path) == 0)
		r = book_files_move_damaged(path, wall_ms, &got->damaged, err);
	if (r == 0)
		r = book_files_place(ready, path, err);
	if (r == 0 && strcmp(damaged, path) != 0)
		r = book_retire_old(path, &got->damaged, err);
	book_files_remove(copy);
	book_files_remove(built);
	return r;
}

/* --- open ---------------------------------------------------------------- */

/* A larger file would take too long at every start. */
#define LOOK_SIZE_MAX ((off_t)32 * 1024 * 1024)
#define LOOK_MS       500

static bool
take_words(struct book_row *row, void *arg)
{
	if (strcmp(book_text(row, 0), "ok") != 0)
		xstrset(arg, book_text(row, 0));
	return false;
}

/* What a page that cannot be read would do later, when it is needed. all: one
 * was found, so take the time. */
static int
look_at_pages(struct book *book, bool all, struct err *err)
{
	int64_t deadline = clock_mono_ms() + LOOK_MS;
	cleanup_free char *words = NULL;
	struct stat st;
	int r;

	if (!all && (stat(book->path, &st) == -1 || st.st_size > LOOK_SIZE_MAX))
		return 0;
	if (!all)
		sqlite3_progress_handler(
		    book->sqlite, 10000, book_is_late, &deadline);
	r = book_query(book,
	    all ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)", NULL,
	    0, take_words, &words, err);
	sqlite3_progress_handler(book->sqlite, 0, NULL, NULL);
	if (words != NULL)
		return err_set(
		    err, -EUCLEAN, "%s is damaged: %s", book->path, words);
	return r == -EUCLEAN ? r : 0;
}

int
book_open_or_recover(const char *path, int64_t wall_ms, struct book **ret,
    struct book_recovered *ret_found, struct err *err)
{
	cleanup_free char *old = book_files_old(path);
	cleanup_free char *mark = xasprintf("%s" BOOK_DAMAGED, path);
	struct book *book = NULL;
	struct err own = { 0 };
	int r = book_open(path, &book, &own);

	memset(ret_found, 0, sizeof *ret_found);
	if (r == 0)
		r = look_at_pages(book, file_exists(mark), &own);
	if (r == -EUCLEAN) {
		book_close(take_ptr(&book));
		strlcpy(ret_found->why, own.msg, sizeof ret_found->why);
		r = recover(path, file_exists(path) ? path : old, wall_ms,
		    ret_found, &own);
		if (r == 0)
			r = book_open(path, &book, &own);
	}
	if (r < 0) {
		book_recovered_release(ret_found);
		return err_set(err, r, "%s", own.msg);
	}
	unlink(mark);
	*ret = book;
	return 0;
}

void
book_recovered_release(struct book_recovered *found)
{
	free(take_ptr(&found->damaged));
}

/* --- size ---------------------------------------------------------------- */

#define FREE_MIN 1000 /* pages that are kept for what comes */
#define STEP     200 /* pages at a time */

bool
book_shrink(struct book *book)
{
	int64_t pages = 0, unused = 0;

	if (!book_is_clean(book) ||
	    book_get_int(book, "PRAGMA page_count", NULL, 0, &pages, NULL) <
		0 ||
	    book_get_int(
		book, "PRAGMA freelist_count", NULL, 0, &unused, NULL) < 0 ||
	    unused < FREE_MIN + STEP || unused < pages / 4)
		return false;
	return book_exec(book, "PRAGMA incremental_vacuum(200)", NULL) == 0;
}
