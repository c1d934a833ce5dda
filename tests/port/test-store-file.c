/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "buf.h"
#include "dice.h"
#include "errtext.h"
#include "file.h"
#include "mem.h"
#include "store-aside.h"
#include "store-db.h"
#include "store-world.h"
#include "unit.h"

#define WHEN INT64_C(1700000000000) /* 20231114T221320Z */

static void
read_file(const char *path, struct buf *out)
{
	buf_clear(out);
	ck_assert_int_eq(file_read(path, 1 << 28, out, NULL), 0);
}

static void
write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
	fd_close(fd);
}

/* A store with some pages. */
static void
make_store(const char *path)
{
	struct store_world world;
	struct store_event event = { .type = "a",
		.goal_id = "G",
		.worker = "adam",
		.data = "{\"text\":\"something that takes some space\"}" };

	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	store_world_fill(&world);
	for (int i = 0; i < 300; i++)
		store_commit(
		    world.store, NULL, 0, &event, 1, store_world_done, &world);
	store_world_wait(&world, 302);
	store_world_close(&world);
}

/* --- the file ----------------------------------------------------------- */

START_TEST(new_store_is_private_and_has_no_log_when_closed)
{
	const char *path = unit_path("a store.db");
	struct store_world world;
	struct stat st;

	umask(0);
	store_world_open(&world, path);
	ck_assert_int_eq(world.err.code, 0);
	store_world_fill(&world);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(unit_path("a store.db-wal"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	store_world_close(&world);
	ck_assert(!file_exists(unit_path("a store.db-wal")));
	ck_assert(!file_exists(unit_path("a store.db.new")));
}
END_TEST

START_TEST(folder_that_is_not_there_is_named)
{
	struct store_world world;

	store_world_open(&world, unit_path("none/store.db"));
	ck_assert_int_eq(world.err.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "none/store.db"));
	ck_assert_int_eq(store_world_load(&world), -ENOENT);
	ck_assert_int_eq(
	    store_world_event(&world, (struct store_event){ .type = "a" }),
	    -ENOENT);
	store_world_close(&world);
}
END_TEST

START_TEST(rest_of_a_creation_that_was_killed_is_replaced)
{
	const char *path = unit_path("store.db");
	struct store_world world;

	write_file(unit_path("store.db.new"), "half", 4);
	write_file(unit_path("store.db.new-journal"), "half", 4);
	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	store_world_fill(&world);
	store_world_close(&world);
	ck_assert(!file_exists(unit_path("store.db.new-journal")));
}
END_TEST

/* Whatever the size: no statement walks a table but those that want all of
 * it. */
START_TEST(queries_use_an_index)
{
	struct store_db *db = NULL;

	ck_assert_int_eq(store_db_open(unit_path("store.db"), &db, NULL), 0);
	for (unsigned i = 0; i < STORE_SQL_COUNT; i++) {
		cleanup_free char *text =
		    xasprintf("EXPLAIN QUERY PLAN %s", store_sql[i]);
		struct sqlite3_stmt *plan = NULL;

		ck_assert_int_eq(store_db_prepare(db, text, &plan, NULL), 0);
		while (store_db_step(db, plan, NULL) == 1) {
			const char *step =
			    (const char *)sqlite3_column_text(plan, 3);
			bool walks = strncmp(step, "SCAN", 4) == 0;
			bool sorts = strstr(step, "TEMP B-TREE") != NULL;
			bool all = strstr(store_sql[i], "WHERE") == NULL ||
			    strstr(store_sql[i], "LIKE") != NULL;

			ck_assert_msg(
			    all || !walks, "%s: %s", store_sql[i], step);
			ck_assert_msg(i < STORE_SQL_EVENTS || !sorts, "%s: %s",
			    store_sql[i], step);
		}
		sqlite3_finalize(plan);
	}
	store_db_close(db);
}
END_TEST

/* --- versions ----------------------------------------------------------- */

#define NEXT "ALTER TABLE goals ADD COLUMN owner TEXT;"

/* With one more script after those that there are. */
static int
open_next(const char *path, const char *script, struct err *err)
{
	const char *list[16] = { NULL };
	struct store_db *db = NULL;
	int r;

	for (size_t i = 0; i < store_version; i++)
		list[i] = store_migrations[i];
	list[store_version] = script;
	r = store_db_open_at(path, list, store_version + 1, &db, err);

	store_db_close(db);
	return r;
}

START_TEST(older_store_is_migrated_and_keeps_its_records)
{
	const char *path = unit_path("store.db");
	struct err err = { 0 };
	struct store_world world;

	make_store(path);
	ck_assert_int_eq(open_next(path, NEXT, &err), 0);
	/* Once: a second time there is such a column already. */
	ck_assert_msg(open_next(path, NEXT, &err) == 0, "%s", err.msg);
	store_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EPROTONOSUPPORT);
	store_world_close(&world);
}
END_TEST

/* A store as the first version of its tables had it. */
static void
make_first(const char *path)
{
	struct store_db *db = NULL;
	struct err err = { 0 };

	make_store(path);
	ck_assert_int_eq(store_db_open(path, &db, &err), 0);
	ck_assert_int_eq(store_db_exec(db,
			     "DROP TABLE mail; DROP TABLE requests;"
			     "DROP TABLE reservations;"
			     "PRAGMA user_version = 1;",
			     &err),
	    0);
	store_db_close(db);
}

START_TEST(store_of_version_1_gets_the_tables_for_mail_and_keeps_the_rest)
{
	const char *path = unit_path("store.db");
	struct store_world world;

	make_first(path);
	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_uint_eq(world.records, 6);
	ck_assert_int_eq(store_world_put(&world, STORE_MAIL, "none", "M_1",
			     "{\"status\":\"open\",\"actor\":\"a\"}"),
	    0);
	store_world_close(&world);
	/* Once. */
	store_world_open(&world, path);
	ck_assert_int_eq(store_world_load(&world), 0);
	/* The record, and its id. */
	ck_assert_uint_eq(world.records, 8);
	ck_assert_ptr_nonnull(strstr(world.text.data, "mail none/M_1 "));
	store_world_close(&world);
}
END_TEST

START_TEST(migration_that_fails_leaves_the_old_version)
{
	const char *path = unit_path("store.db");
	struct store_world world;

	make_store(path);
	ck_assert_int_lt(open_next(path,
			     "ALTER TABLE goals ADD COLUMN owner TEXT;"
			     "ALTER TABLE nothing ADD COLUMN x TEXT;",
			     NULL),
	    0);
	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_uint_eq(world.records, 6);
	store_world_close(&world);
}
END_TEST

START_TEST(newer_store_is_refused_and_not_touched)
{
	const char *path = unit_path("store.db");
	cleanup_buf struct buf before = BUF_INIT, after = BUF_INIT;
	struct store_world world;
	struct err err = { 0 };

	make_store(path);
	ck_assert_int_eq(open_next(path, "CREATE TABLE b (a TEXT);", &err), 0);
	read_file(path, &before);
	store_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "newer llmc"));
	store_world_close(&world);
	read_file(path, &after);
	ck_assert_uint_eq(before.len, after.len);
	ck_assert_mem_eq(before.data, after.data, before.len);
}
END_TEST

START_TEST(database_of_another_program_is_refused)
{
	const char *path = unit_path("store.db");
	cleanup_buf struct buf bytes = BUF_INIT;
	struct store_world world;

	make_store(path);
	read_file(path, &bytes);
	memset(bytes.data + 68, 0, 4);
	write_file(path, bytes.data, bytes.len);
	store_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EINVAL);
	store_world_close(&world);
}
END_TEST

/* --- damage ------------------------------------------------------------- */

/* Open, read everything, write: whatever is wrong is told, and nothing else
 * happens. */
static int
try_store(const char *path)
{
	struct store_world world;
	int code;

	store_world_open(&world, path);
	code = world.err.code;
	if (code == 0)
		code = store_world_load(&world);
	if (code == 0)
		code = store_world_events(&world, (struct store_filter){ 0 });
	if (code == 0)
		code = store_world_event(
		    &world, (struct store_event){ .type = "a" });
	ck_assert_msg(code == 0 || world.err.msg[0] != '\0', "no words");
	store_world_close(&world);
	return code;
}

START_TEST(store_without_one_of_its_columns_is_called_damaged)
{
	const char *path = unit_path("store.db");
	struct store_db *db = NULL;

	make_store(path);
	ck_assert_int_eq(store_db_open(path, &db, NULL), 0);
	ck_assert_int_eq(store_db_exec(db,
			     "DROP INDEX events_worker;"
			     "ALTER TABLE events RENAME COLUMN worker TO w",
			     NULL),
	    0);
	store_db_close(db);
	ck_assert_int_eq(try_store(path), -EUCLEAN);
}
END_TEST

/* So that statements with more than three parameters are an SQLITE_ERROR. */
static int
allow_few(
    sqlite3 *sqlite, const char **message, const struct sqlite3_api_routines *a)
{
	(void)message;
	(void)a;
	sqlite3_limit(sqlite, SQLITE_LIMIT_VARIABLE_NUMBER, 3);
	return SQLITE_OK;
}

START_TEST(an_error_of_sqlite_itself_is_not_called_damage)
{
	const char *path = unit_path("store.db");

	make_store(path);
	sqlite3_auto_extension((void (*)(void))allow_few);
	ck_assert_int_eq(try_store(path), -EIO);
	sqlite3_reset_auto_extension();
	ck_assert_int_eq(try_store(path), 0);
}
END_TEST

START_TEST(file_cut_short_anywhere_is_called_damaged)
{
	const char *path = unit_path("store.db");
	cleanup_buf struct buf bytes = BUF_INIT;

	make_store(path);
	read_file(path, &bytes);
	for (size_t len = 0; len < bytes.len; len += len < 100 ? 9 : 1777) {
		store_files_remove(path);
		write_file(path, bytes.data, len);
		ck_assert_msg(try_store(path) == -EUCLEAN, "at %zu", len);
	}
}
END_TEST

START_TEST(flipped_bytes_are_survived)
{
	const char *path = unit_path("store.db");
	cleanup_buf struct buf bytes = BUF_INIT, copy = BUF_INIT;
	struct dice dice = { 7 };
	int damaged = 0;

	make_store(path);
	read_file(path, &bytes);
	for (int round = 0; round < 60; round++) {
		buf_clear(&copy);
		buf_add(&copy, bytes.data, bytes.len);
		for (int i = 0; i < 40; i++)
			copy.data[dice_below(&dice, (unsigned)copy.len)] ^=
			    (char)(1 + dice_below(&dice, 255));
		store_files_remove(path);
		write_file(path, copy.data, copy.len);
		damaged += try_store(path) != 0;
	}
	ck_assert_int_gt(damaged, 20);
}
END_TEST

/* --- aside -------------------------------------------------------------- */

#define ASIDE "store.corrupt-20231114T221320Z.db"

START_TEST(damaged_store_moves_aside_with_its_log)
{
	const char *path = unit_path("store.db");
	cleanup_free char *aside = NULL, *again = NULL;
	struct err err = { 0 };

	write_file(path, "broken", 6);
	write_file(unit_path("store.db-wal"), "log", 3);
	write_file(unit_path("store.db-shm"), "shm", 3);
	ck_assert_int_eq(store_aside(path, WHEN, &aside, &err), 0);
	ck_assert_str_eq(aside, unit_path(ASIDE));
	ck_assert(file_exists(aside));
	ck_assert(file_exists(unit_path(ASIDE "-wal")));
	ck_assert(file_exists(unit_path(ASIDE "-shm")));
	ck_assert(!file_exists(path));
	ck_assert(!file_exists(unit_path("store.db-wal")));
	ck_assert_int_eq(store_aside(path, WHEN, NULL, &err), -ENOENT);
	write_file(path, "again", 5);
	ck_assert_int_eq(store_aside(path, WHEN, &again, &err), 0);
	ck_assert_str_ne(again, aside);
	ck_assert(file_exists(again));
}
END_TEST

/* Leaves a database with a log in which everything is that was committed. */
static void
leave_log(const char *path)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct store_world world;

		store_world_open(&world, path);
		store_world_fill(&world);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

START_TEST(log_of_another_file_is_never_applied)
{
	const char *path = unit_path("store.db");
	struct store_world world;

	leave_log(path);
	ck_assert(file_exists(unit_path("store.db-wal")));
	/* As a crash in the middle of store_aside() leaves it. */
	ck_assert_int_eq(rename(path, unit_path(ASIDE)), 0);
	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	store_world_load(&world);
	ck_assert_uint_eq(world.records, 0);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, 0);
	store_world_close(&world);
	/* The log has found its database again. */
	ck_assert(file_exists(unit_path(ASIDE "-wal")));
	store_world_open(&world, unit_path(ASIDE));
	store_world_load(&world);
	ck_assert_uint_eq(world.records, 6);
	store_world_close(&world);
}
END_TEST

START_TEST(log_without_any_database_is_moved_aside)
{
	const char *path = unit_path("store.db");
	struct store_world world;

	leave_log(path);
	ck_assert_int_eq(unlink(path), 0);
	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	store_world_load(&world);
	ck_assert_uint_eq(world.records, 0);
	store_world_close(&world);
}
END_TEST

/* --- no space ----------------------------------------------------------- */

START_TEST(full_disk_is_told_and_loses_nothing)
{
	const char *path = unit_path("store.db");
	struct rlimit old, tight;
	struct store_event event = { .type = "a",
		.data = "{\"text\":\"something that takes some space\"}" };
	struct store_world world;
	size_t good = 0;

	signal(SIGXFSZ, SIG_IGN);
	store_world_open(&world, path);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight = old;
	tight.rlim_cur = 400 * 1024;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
	while (store_world_event(&world, event) == 0)
		good++;
	ck_assert_msg(world.err.code == -ENOSPC, "%s", world.err.msg);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "free some"));
	ck_assert_int_eq(store_world_event(&world, event), -ENOSPC);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, good);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(store_world_event(&world, event), 0);
	store_world_close(&world);
	store_world_open(&world, path);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, good + 1);
	store_world_close(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		new_store_is_private_and_has_no_log_when_closed,
		folder_that_is_not_there_is_named,
		rest_of_a_creation_that_was_killed_is_replaced,
		queries_use_an_index,
		older_store_is_migrated_and_keeps_its_records,
		store_of_version_1_gets_the_tables_for_mail_and_keeps_the_rest,
		migration_that_fails_leaves_the_old_version,
		newer_store_is_refused_and_not_touched,
		database_of_another_program_is_refused,
		store_without_one_of_its_columns_is_called_damaged,
		an_error_of_sqlite_itself_is_not_called_damage,
		file_cut_short_anywhere_is_called_damaged,
		flipped_bytes_are_survived,
		damaged_store_moves_aside_with_its_log,
		log_of_another_file_is_never_applied,
		log_without_any_database_is_moved_aside,
		full_disk_is_told_and_loses_nothing,
		NULL,
	};
	Suite *suite = suite_create("store-file");

	unit_case(suite, "store-file", tests);
	return suite;
}
