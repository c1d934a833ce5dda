/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <sqlite3.h>

#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "store-aside.h"
#include "store-body.h"
#include "store-build.h"
#include "store-db.h"
#include "store-pool.h"
#include "store-write.h"

/* Rows in one transaction. */
#define ROWS_MAX 20000

struct store_build {
	char *path, *fresh;
	struct store_db *db;
	size_t rows; /* in this transaction */
};

static int
expect_empty(struct store_db *db, struct err *err)
{
	static const char *const tables[] = { "goals", "nodes", "assignments",
		"dispatches", "crystals", "events" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < nitems(tables); i++) {
		cleanup_free char *text =
		    xasprintf("SELECT 1 FROM %s LIMIT 1", tables[i]);
		struct sqlite3_stmt *statement = NULL;

		r = store_db_prepare(db, text, &statement, err);
		if (r == 0)
			r = store_db_step(db, statement, err);
		sqlite3_finalize(statement);
	}
	if (r == 1)
		r = err_set(err, -EEXIST, "%s is not empty; move it away first",
		    db->path);
	return r;
}

static int
check_place(const char *path, struct err *err)
{
	struct store_db *db = NULL;
	int r;

	if (!file_exists(path))
		return 0;
	r = store_db_open(path, &db, err);
	if (r == 0)
		r = expect_empty(db, err);
	store_db_close(db);
	return r;
}

int
store_build_begin(
    const char *path, struct store_build **ret_build, struct err *err)
{
	struct store_build *build;
	int r = check_place(path, err);

	if (r < 0)
		return r;
	build = xcalloc(1, sizeof *build);
	build->path = xstrdup(path);
	build->fresh = xasprintf("%s.build", path);
	store_files_remove(build->fresh);
	r = store_db_open(build->fresh, &build->db, err);
	/* Durable at the end, not at every step. */
	if (r == 0)
		r = store_db_exec(build->db, "PRAGMA synchronous = OFF", err);
	if (r == 0)
		r = store_db_begin(build->db, err);
	if (r < 0) {
		store_build_drop(build);
		return r;
	}
	*ret_build = build;
	return 0;
}

static int
count_row(struct store_build *build, struct err *err)
{
	int r;

	if (++build->rows < ROWS_MAX)
		return 0;
	build->rows = 0;
	r = store_db_commit(build->db, err);
	return r < 0 ? r : store_db_begin(build->db, err);
}

int
store_build_record(struct store_build *build, const struct store_change *record,
    struct err *err)
{
	struct store_pool pool = STORE_POOL_INIT;
	struct store_columns columns = { .count = 0 };
	struct store_change copy = *record;
	int r = store_body_change(&copy, &pool, &columns, err);

	if (r == 0)
		r = store_write_change(build->db, &copy, &columns, err);
	if (r == -EEXIST)
		err_set(err, -EEXIST,
		    "assignment %s: its node has another live assignment",
		    record->id);
	if (r == 0)
		r = count_row(build, err);
	store_pool_release(&pool);
	return r;
}

int
store_build_event(struct store_build *build, const struct store_event *event,
    bool *ret_new, struct err *err)
{
	struct store_pool pool = STORE_POOL_INIT;
	struct store_event copy = *event;
	int r = store_body_event(&copy, &pool, err);

	if (r == 0)
		r = store_write_event_at(build->db,
		    event->seq > 0 ? event->seq : build->db->last_seq + 1,
		    &copy, err);
	if (r == -EEXIST)
		err_set(err, -EEXIST, "there are two events number %lld",
		    (long long)event->seq);
	if (r == 0 && ret_new != NULL)
		*ret_new = copy.seq != 0;
	if (r == 0)
		r = count_row(build, err);
	store_pool_release(&pool);
	return r;
}

static int
sync_file(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd == -1 || fsync(fd) == -1)
		return err_errno(err, -errno, "%s", path);
	return 0;
}

int
store_build_finish(struct store_build *build, struct err *err)
{
	int r = store_db_commit(build->db, err);

	if (r == 0)
		r = store_db_exec(
		    build->db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	store_db_close(build->db);
	build->db = NULL;
	if (r == 0)
		r = sync_file(build->fresh, err);
	if (r == 0)
		r = store_files_place(build->fresh, build->path, err);
	store_build_drop(build);
	return r;
}

void
store_build_drop(struct store_build *build)
{
	if (build == NULL)
		return;
	store_db_close(build->db);
	store_files_remove(build->fresh);
	free(build->fresh);
	free(build->path);
	free(build);
}
