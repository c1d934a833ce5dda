/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "store-aside.h"
#include "store-build.h"
#include "store-db.h"
#include "store-header.h"
#include "store-recover.h"

/* After a page that cannot be read, every rowid is tried, up to so many in
 * vain: more than a page can have. */
#define MISSES_MAX 100000

struct salvage {
	struct store_db *from;
	struct store_build *build;
	struct store_recovered got;
};

/* In the order of enum store_kind. */
static const char *const tables[STORE_KIND_COUNT] = {
	"SELECT t.rowid, t.id, t.id, t.body FROM goals AS t NOT INDEXED"
	" WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM nodes AS t NOT INDEXED"
	" WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM assignments AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM dispatches AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM crystals AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM mail AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM requests AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
	"SELECT t.rowid, t.goal_id, t.id, t.body FROM reservations AS t"
	" NOT INDEXED WHERE t.rowid >= $1 ORDER BY t.rowid",
};
static const char events[] =
    "SELECT t.seq, t.ts_ms, t.type, t.goal_id, t.assignment_id, t.node_id,"
    " t.worker, t.task, t.data, t.dedupe_key FROM events AS t NOT INDEXED"
    " WHERE t.seq >= $1 ORDER BY t.seq";

typedef int row_fn(struct salvage *salvage, int kind, struct sqlite3_stmt *row,
    struct err *err);

static const char *
column(struct sqlite3_stmt *row, int n)
{
	return (const char *)sqlite3_column_text(row, n);
}

static bool
is_own_fault(int r)
{
	return r == -EINVAL || r == -E2BIG || r == -ENOENT || r == -EEXIST;
}

static int
save_record(struct salvage *salvage, int kind, struct sqlite3_stmt *row,
    struct err *err)
{
	struct store_change record = { (enum store_kind)kind, column(row, 1),
		column(row, 2), column(row, 3) };
	int r = -EINVAL;

	/* Without a body it would be a deletion. */
	if (record.body != NULL)
		r = store_build_record(salvage->build, &record, err);
	if (r == 0)
		salvage->got.records++;
	else if (is_own_fault(r))
		salvage->got.refused++;
	return is_own_fault(r) ? 0 : r;
}

static int
save_event(struct salvage *salvage, int kind, struct sqlite3_stmt *row,
    struct err *err)
{
	struct store_event event = {
		.seq = sqlite3_column_int64(row, 0),
		.ts_ms = sqlite3_column_int64(row, 1),
		.type = column(row, 2),
		.goal_id = column(row, 3),
		.assignment_id = column(row, 4),
		.node_id = column(row, 5),
		.worker = column(row, 6),
		.task = column(row, 7),
		.data = column(row, 8),
		.key = column(row, 9),
	};
	bool is_new = false;
	int r = -EINVAL;

	(void)kind;
	if (event.seq > 0)
		r = store_build_event(salvage->build, &event, &is_new, err);
	if (r == 0 && is_new)
		salvage->got.events++;
	else if (r == 0 || is_own_fault(r))
		salvage->got.refused++;
	return is_own_fault(r) ? 0 : r;
}

/* A row whose number is nonsense must not end the search. */
static bool
follows(int64_t row, int64_t last)
{
	return row > last && (last == 0 || row - last < MISSES_MAX);
}

/* Of a damaged store, a table that is unknown is gone. */
static int
prepare(struct salvage *salvage, const char *sql, struct sqlite3_stmt **ret,
    struct err *err)
{
	struct store_db *from = salvage->from;
	int r = store_db_prepare(from, sql, ret, err);

	if (r < 0 && (sqlite3_errcode(from->sqlite) & 0xff) == SQLITE_ERROR)
		return err_set(err, -EUCLEAN, "%s is damaged: %s", from->path,
		    sqlite3_errmsg(from->sqlite));
	return r;
}

/* A store of an earlier version has not all of them: those that came later, if
 * they cannot be found, were never there. */
static bool
has_table(struct salvage *salvage, const char *sql, int kind)
{
	struct sqlite3_stmt *rows = NULL;
	int r = kind < STORE_MAIL ?
	    0 :
	    store_db_prepare(salvage->from, sql, &rows, NULL);
	bool is_missing = r < 0 &&
	    (sqlite3_errcode(salvage->from->sqlite) & 0xff) == SQLITE_ERROR;

	sqlite3_finalize(rows);
	return !is_missing;
}

/* Every row that can be read. Negative errno only from the new store. */
static int
save_table(struct salvage *salvage, const char *sql, int kind, row_fn *save,
    struct err *err)
{
	struct sqlite3_stmt *rows = NULL;
	int64_t next = 1, misses = 0;
	int found, r;

	r = prepare(salvage, sql, &rows, err);
	while (r == 0 && misses < MISSES_MAX) {
		sqlite3_reset(rows);
		store_db_bind_int(rows, 1, next);
		while (r == 0 &&
		    (found = store_db_step(salvage->from, rows, NULL)) == 1) {
			int64_t row = sqlite3_column_int64(rows, 0);

			r = save(salvage, kind, rows, err);
			if (follows(row, next - 1))
				next = row + 1;
			misses = 0;
		}
		if (r < 0 || found == 0)
			break;
		if (misses++ == 0)
			salvage->got.gaps++;
		next++;
	}
	sqlite3_finalize(rows);
	return r;
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

static void
put_number(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(number >> (24 - 8 * i));
}

/* The header of a new store, with the size of this one and no free pages. */
static int
write_header(const char *path, struct err *err)
{
	cleanup_free char *fresh = xasprintf("%s.new", path);
	cleanup_fd int in = -1, out = open(path, O_RDWR | O_CLOEXEC);
	unsigned char header[HEADER_SIZE];
	struct stat st = { 0 };
	int r = store_db_create(fresh, err);

	if (r == 0) {
		in = open(fresh, O_RDONLY | O_CLOEXEC);
		if (in == -1 || out == -1 || fstat(out, &st) == -1 ||
		    pread(in, header, sizeof header, 0) != sizeof header)
			r = err_set(err, -EIO, "%s cannot be read", path);
	}
	if (r == 0) {
		put_number(header + 28, (uint32_t)(st.st_size / PAGE_SIZE));
		memcpy(header + 92, header + 24, 4);
		memset(header + 32, 0, 8);
		if (pwrite(out, header, sizeof header, 0) != sizeof header)
			r = err_set(err, -EIO, "%s cannot be written", path);
	}
	store_files_remove(fresh);
	return r;
}

/* Of a store whose first bytes are damaged, a copy that SQLite reads. */
static int
repair_copy(const char *damaged, const char *copy, struct err *err)
{
	cleanup_free char *log = xasprintf("%s-wal", damaged);
	cleanup_free char *to = xasprintf("%s-wal", copy);
	int r;

	store_files_remove(copy);
	r = copy_file(damaged, copy, err);
	if (r == 0)
		r = write_header(copy, err);
	if (r == 0 && file_exists(log))
		r = copy_file(log, to, err);
	return r;
}

static int
salvage_all(const char *path, const char *damaged, struct store_recovered *ret,
    struct err *err)
{
	struct salvage salvage = { 0 };
	int r = store_db_look(damaged, &salvage.from, err);

	if (r == 0)
		r = store_build_begin(path, &salvage.build, err);
	for (int kind = 0; r == 0 && kind < STORE_KIND_COUNT; kind++)
		if (has_table(&salvage, tables[kind], kind))
			r = save_table(
			    &salvage, tables[kind], kind, save_record, err);
	if (r == 0)
		r = save_table(&salvage, events, 0, save_event, err);
	store_db_close(salvage.from);
	if (r < 0) {
		store_build_drop(salvage.build);
		return r;
	}
	r = store_build_finish(salvage.build, err);
	if (r == 0)
		*ret = salvage.got;
	return r;
}

int
store_recover(const char *path, const char *damaged,
    struct store_recovered *ret, struct err *err)
{
	cleanup_free char *copy = xasprintf("%s.repaired", path);
	int r;

	if (store_header_check(damaged, NULL) != -EUCLEAN)
		return salvage_all(path, damaged, ret, err);
	r = repair_copy(damaged, copy, err);
	if (r == 0)
		r = salvage_all(path, copy, ret, err);
	store_files_remove(copy);
	return r;
}
