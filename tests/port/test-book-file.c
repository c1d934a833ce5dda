/* SPDX-License-Identifier: ISC */

#include "book-world.h"

#include <libgen.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <sqlite3.h>

#include "book-private.h"
#include "child.h"
#include "version.h"

#define WHEN INT64_C(1700000000000) /* 20231114T221320Z */

static void
write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
	fd_close(fd);
}

/* A book with some pages. */
static void
make_book(const char *path)
{
	struct book_world world;
	struct book_event event = { .type = "a",
		.goal_id = "G",
		.worker = "adam",
		.data = "{\"text\":\"something that takes some space\"}" };

	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_fill(&world);
	for (int i = 0; i < 300; i++)
		book_add_event(world.book, &event, NULL);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
}

/* --- the file ----------------------------------------------------------- */

TEST(new_book_is_private_and_has_no_log_when_closed)
{
	const char *path = unit_path("a llmc.db");
	struct book_world world;
	struct stat st;

	umask(0);
	book_world_open(&world, path);
	ck_assert_int_eq(world.err.code, 0);
	book_world_fill(&world);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(unit_path("a llmc.db-wal"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	book_world_close(&world);
	ck_assert(!file_exists(unit_path("a llmc.db-wal")));
	ck_assert(!file_exists(unit_path("a llmc.db.new")));
}

TEST(folder_that_is_not_there_is_named)
{
	ended_by(book_world_close) struct book_world world;

	book_world_open(&world, unit_path("none/llmc.db"));
	ck_assert_int_eq(world.err.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "none/llmc.db"));
}

static int
look_read_only(const char *folder, const char *path)
{
	struct book *book = NULL;
	int64_t count = 0;

	if (unshare(CLONE_NEWNS) == -1 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
		return 77;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount(folder, folder, NULL, MS_BIND, NULL) == -1 ||
	    mount(NULL, folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) ==
		-1)
		return 77;
	if (book_look(path, &book, NULL) < 0 ||
	    book_get_int(book, "SELECT count(*) FROM goals AS g", NULL, 0,
		&count, NULL) < 0)
		return 1;
	book_close(book);
	return count == 1 ? 0 : 2;
}

TEST(book_on_a_read_only_file_system_is_read)
{
	const char *path = unit_path("a ro%23?.db");
	cleanup_free char *copy = xstrdup(path);
	struct book_world world;
	int status;
	pid_t pid;

	book_world_open(&world, path);
	book_world_fill(&world);
	book_world_close(&world);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0)
		_exit(look_read_only(dirname(copy), path));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* nothing can be mounted here */
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}

TEST(rest_of_a_creation_that_was_killed_is_replaced)
{
	const char *path = unit_path("llmc.db");
	struct book_world world;

	write_file(unit_path("llmc.db.new"), "half", 4);
	write_file(unit_path("llmc.db.new-journal"), "half", 4);
	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_fill(&world);
	book_world_close(&world);
	ck_assert(!file_exists(unit_path("llmc.db.new-journal")));
}

/* --- versions ----------------------------------------------------------- */

#define NEXT "ALTER TABLE goals ADD COLUMN owner TEXT;"

/* With one more script after those that there are. */
static int
open_next(const char *path, const char *script, struct err *err)
{
	const char *list[16] = { NULL };
	struct book *book = NULL;
	int r;

	for (size_t i = 0; i < book_version; i++)
		list[i] = book_scripts[i];
	list[book_version] = script;
	r = book_open_at(path, list, book_version + 1, &book, err);
	book_close(book);
	return r;
}

TEST(older_book_is_migrated_and_keeps_its_records)
{
	const char *path = unit_path("llmc.db");
	struct err err = { 0 };
	ended_by(book_world_close) struct book_world world;

	make_book(path);
	ck_assert_int_eq(open_next(path, NEXT, &err), 0);
	/* Once: a second time there is such a column already. */
	ck_assert_msg(open_next(path, NEXT, &err) == 0, "%s", err.msg);
	book_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EPROTONOSUPPORT);
}

/* A book with records, as a process left it that was killed right after these
 * statements: they are in its log. */
static void
leave_with_log(const char *path, const char *statements)
{
	cleanup_free char *log = xasprintf("%s-wal", path);
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct book_world world;

		book_world_open(&world, path);
		book_world_fill(&world);
		book_exec(world.book, statements, NULL);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert(file_exists(log));
}

TEST(migration_that_fails_leaves_the_old_version)
{
	static const char good[] = "ALTER TABLE goals ADD COLUMN owner TEXT;";
	cleanup_free char *bad =
	    xasprintf("%sALTER TABLE nothing ADD COLUMN x TEXT;", good);
	const char *path = unit_path("llmc.db");
	struct book_world world;

	make_book(path);
	ck_assert_int_lt(open_next(path, bad, NULL), 0);
	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	ck_assert_int_eq(book_world_load(&world), 0);
	ck_assert_uint_eq(world.records, 5);
	book_world_close(&world);
	/* None of it was done. */
	ck_assert_int_eq(open_next(path, good, NULL), 0);
}

TEST(newer_book_is_refused_and_not_touched)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf before = BUF_INIT, after = BUF_INIT;
	struct book_world world;
	struct err err = { 0 };

	make_book(path);
	ck_assert_int_eq(open_next(path, "CREATE TABLE b (a TEXT);", &err), 0);
	book_world_file(path, &before);
	book_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EPROTONOSUPPORT);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "newer llmc"));
	book_world_close(&world);
	book_world_file(path, &after);
	ck_assert_uint_eq(before.len, after.len);
	ck_assert_mem_eq(before.data, after.data, before.len);
}

/* What its own llmc would find there is still in it. */
TEST(log_of_a_newer_book_is_not_touched)
{
	const char *const files[] = { unit_path("llmc.db"),
		unit_path("llmc.db-wal") };
	struct buf before[2] = { BUF_INIT, BUF_INIT };
	struct book_world world;

	leave_with_log(files[0], "PRAGMA user_version = 999;");
	for (size_t i = 0; i < nitems(files); i++)
		book_world_file(files[i], &before[i]);
	book_world_open(&world, files[0]);
	ck_assert_int_eq(world.err.code, -EPROTONOSUPPORT);
	book_world_close(&world);
	for (size_t i = 0; i < nitems(files); i++) {
		cleanup_buf struct buf after = BUF_INIT;

		book_world_file(files[i], &after);
		ck_assert_uint_eq(before[i].len, after.len);
		ck_assert_mem_eq(before[i].data, after.data, after.len);
		buf_release(&before[i]);
	}
}

TEST(database_of_another_program_is_refused)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf bytes = BUF_INIT;
	ended_by(book_world_close) struct book_world world;

	make_book(path);
	book_world_file(path, &bytes);
	memset(bytes.data + 68, 0, 4);
	write_file(path, bytes.data, bytes.len);
	book_world_open(&world, path);
	ck_assert_int_eq(world.err.code, -EINVAL);
}

/* --- damage ------------------------------------------------------------- */

/* Open, read everything, write: whatever is wrong is told, and nothing else
 * happens. */
static int
try_book(const char *path)
{
	struct book_world world;
	int code;

	book_world_open(&world, path);
	code = world.err.code;
	if (code == 0)
		code = book_world_load(&world);
	if (code == 0)
		code = book_world_events(&world, (struct book_filter){ 0 });
	if (code == 0)
		code = book_world_event(
		    &world, (struct book_event){ .type = "a" });
	ck_assert_msg(code == 0 || world.err.msg[0] != '\0', "no words");
	book_world_close(&world);
	return code;
}

TEST(book_without_one_of_its_columns_is_called_damaged)
{
	const char *path = unit_path("llmc.db");
	struct book_world world;

	make_book(path);
	book_world_open(&world, path);
	ck_assert_int_eq(book_exec(world.book,
			     "DROP INDEX events_worker;"
			     "ALTER TABLE events RENAME COLUMN worker TO w",
			     NULL),
	    0);
	book_world_close(&world);
	ck_assert_int_eq(try_book(path), -EUCLEAN);
}

TEST(directory_in_its_place_is_refused)
{
	struct book_world world;

	ck_assert_int_eq(mkdir(unit_path("llmc.db"), 0700), 0);
	book_world_open(&world, unit_path("llmc.db"));
	ck_assert_int_eq(world.err.code, -EINVAL);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "is not a file"));
	book_world_close(&world);
	ck_assert_int_eq(
	    book_look(unit_path("llmc.db"), &world.book, NULL), -EINVAL);
}

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

TEST(an_error_of_sqlite_itself_is_not_called_damage)
{
	const char *path = unit_path("llmc.db");

	make_book(path);
	sqlite3_auto_extension((void (*)(void))allow_few);
	ck_assert_int_eq(try_book(path), -EIO);
	sqlite3_reset_auto_extension();
	ck_assert_int_eq(try_book(path), 0);
}

TEST(file_cut_short_anywhere_is_called_damaged)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf bytes = BUF_INIT;

	make_book(path);
	book_world_file(path, &bytes);
	for (size_t len = 0; len < bytes.len; len += len < 100 ? 9 : 1777) {
		book_files_remove(path);
		write_file(path, bytes.data, len);
		ck_assert_msg(try_book(path) == -EUCLEAN, "at %zu", len);
	}
}

TEST(flipped_bytes_are_survived)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf bytes = BUF_INIT, copy = BUF_INIT;
	struct dice dice = { 7 };
	int damaged = 0;

	make_book(path);
	book_world_file(path, &bytes);
	for (int round = 0; round < 60; round++) {
		buf_clear(&copy);
		buf_add(&copy, bytes.data, bytes.len);
		for (int i = 0; i < 40; i++)
			copy.data[dice_below(&dice, (unsigned)copy.len)] ^=
			    (char)(1 + dice_below(&dice, 255));
		book_files_remove(path);
		write_file(path, copy.data, copy.len);
		damaged += try_book(path) != 0;
	}
	ck_assert_int_gt(damaged, 20);
}

/* --- aside -------------------------------------------------------------- */

#define ASIDE "llmc.corrupt-20231114T221320Z.db"

TEST(damaged_book_moves_aside_with_its_log)
{
	const char *path = unit_path("llmc.db");
	cleanup_free char *aside = NULL, *again = NULL;
	struct err err = { 0 };

	write_file(path, "broken", 6);
	write_file(unit_path("llmc.db-wal"), "log", 3);
	write_file(unit_path("llmc.db-shm"), "shm", 3);
	ck_assert_int_eq(book_files_move_damaged(path, WHEN, &aside, &err), 0);
	ck_assert_str_eq(aside, unit_path(ASIDE));
	ck_assert(file_exists(aside));
	ck_assert(file_exists(unit_path(ASIDE "-wal")));
	ck_assert(file_exists(unit_path(ASIDE "-shm")));
	ck_assert(!file_exists(path));
	ck_assert(!file_exists(unit_path("llmc.db-wal")));
	ck_assert_int_eq(
	    book_files_move_damaged(path, WHEN, NULL, &err), -ENOENT);
	write_file(path, "again", 5);
	ck_assert_int_eq(book_files_move_damaged(path, WHEN, &again, &err), 0);
	ck_assert_str_ne(again, aside);
	ck_assert(file_exists(again));
}

TEST(log_of_another_file_is_never_applied)
{
	const char *path = unit_path("llmc.db");
	struct book_world world;

	leave_with_log(path, "");
	ck_assert(file_exists(unit_path("llmc.db-wal")));
	/* As a crash in the middle of book_files_move_damaged() leaves it. */
	ck_assert_int_eq(rename(path, unit_path(ASIDE)), 0);
	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_load(&world);
	ck_assert_uint_eq(world.records, 0);
	book_world_events(&world, (struct book_filter){ 0 });
	ck_assert_uint_eq(world.events, 0);
	book_world_close(&world);
	/* The log has found its database again. */
	ck_assert(file_exists(unit_path(ASIDE "-wal")));
	book_world_open(&world, unit_path(ASIDE));
	book_world_load(&world);
	ck_assert_uint_eq(world.records, 5);
	book_world_close(&world);
}

TEST(log_without_any_database_is_moved_aside)
{
	const char *path = unit_path("llmc.db");
	cleanup_buf struct buf log = BUF_INIT;
	ended_by(book_world_close) struct book_world world;

	/* It is not that of one that was moved aside with its own. */
	write_file(unit_path(ASIDE), "broken", 6);
	write_file(unit_path(ASIDE "-wal"), "log", 3);
	leave_with_log(path, "");
	ck_assert_int_eq(unlink(path), 0);
	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	book_world_load(&world);
	ck_assert_uint_eq(world.records, 0);
	book_world_file(unit_path(ASIDE "-wal"), &log);
	ck_assert_str_eq(log.data, "log");
}

/* --- no space ----------------------------------------------------------- */

/* The index of the log is made by whoever looks first. */
TEST(a_look_on_a_full_disk_says_that_it_is_full)
{
	const char *path = unit_path("llmc.db"), *copy = unit_path("copy.db");
	cleanup_free char *command = xasprintf(
	    "cp '%s' '%s' && cp '%s-wal' '%s-wal'", path, copy, path, copy);
	const struct child_spec spec = { .shell = command };
	cleanup_child_result struct child_result result;
	struct rlimit old, none;
	struct book_world world;
	struct book *look = NULL;
	struct err err = { 0 };
	int r;

	signal(SIGXFSZ, SIG_IGN);
	book_world_open(&world, path);
	ck_assert_int_eq(book_world_event(&world,
			     (struct book_event){ .type = "a", .data = "{}" }),
	    0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	ck_assert_int_eq(child_run(&spec, &result, NULL), 0);
	ck_assert(child_succeeded(&result));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_FSIZE, &none); /* also limits check's own files */
	r = book_look(copy, &look, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_msg(r == -ENOSPC, "%d %s", r, err.msg);
	ck_assert_ptr_nonnull(strstr(err.msg, "free some"));
	book_close(look);
	book_world_close(&world);
}

TEST(full_disk_is_told_and_loses_nothing)
{
	const char *path = unit_path("llmc.db");
	struct rlimit old, tight;
	struct book_event event = { .type = "a",
		.data = "{\"text\":\"something that takes some space\"}" };
	struct book_world world;
	size_t sent = 1;

	signal(SIGXFSZ, SIG_IGN);
	book_world_open(&world, path);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight = old;
	tight.rlim_cur = 400 * 1024;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
	while (book_world_event(&world, event) == 0)
		sent++;
	ck_assert_msg(world.err.code == -ENOSPC, "%s", world.err.msg);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "free some"));
	sent++;
	ck_assert_int_eq(book_world_event(&world, event), -ENOSPC);
	/* What waits can be read all the same. */
	ck_assert_int_eq(
	    book_world_events(&world, (struct book_filter){ 0 }), 0);
	ck_assert_uint_eq(world.events, sent);
	ck_assert_int_eq(book_commit(world.book, NULL), -ENOSPC);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(book_commit(world.book, NULL), 0);
	book_world_close(&world);
	book_world_open(&world, path);
	book_world_events(&world, (struct book_filter){ 0 });
	ck_assert_uint_eq(world.events, sent);
	ck_assert_int_eq(world.last_seq, (int64_t)sent);
	book_world_close(&world);
}
