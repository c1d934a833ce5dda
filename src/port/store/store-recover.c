/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "errtext.h"
#include "mem.h"
#include "store-build.h"
#include "store-db.h"
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

/* Every row that can be read. Negative errno only from the new store. */
static int
save_table(struct salvage *salvage, const char *sql, int kind, row_fn *save,
    struct err *err)
{
	struct sqlite3_stmt *rows = NULL;
	int64_t next = 1, misses = 0;
	int found, r;

	r = store_db_prepare(salvage->from, sql, &rows, err);
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

int
store_recover(const char *path, const char *damaged,
    struct store_recovered *ret, struct err *err)
{
	struct salvage salvage = { 0 };
	int r = store_db_look(damaged, &salvage.from, err);

	if (r == 0)
		r = store_build_begin(path, &salvage.build, err);
	for (int kind = 0; r == 0 && kind < STORE_KIND_COUNT; kind++)
		r = save_table(&salvage, tables[kind], kind, save_record, err);
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
