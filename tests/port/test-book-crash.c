/* SPDX-License-Identifier: ISC */

/* A writer that is killed at any moment: every commit that it knew to be done
 * is there, and none is there by half. */

#include "book-world.h"

#include <sys/time.h>

#include "book-private.h"

#define ROUNDS 25

/* After each commit, tell the parent that it is done. */
static void
write_until_killed(const char *path, int out, int n)
{
	struct book_world world;

	book_world_open(&world, path);
	if (world.err.code != 0)
		_exit(1);
	for (;; n++)
		if (book_world_step(&world, n) < 0 ||
		    write(out, &n, sizeof n) == -1)
			_exit(1);
}

/* Read what it says until it has said enough; kill it; read the rest. Returns
 * the highest number, or -1. */
static int
hear_and_kill(pid_t pid, int in, int enough)
{
	int n, last = -1;

	while (enough > 0 && read(in, &n, sizeof n) == sizeof n) {
		last = n;
		enough--;
	}
	kill(pid, SIGKILL);
	while (read(in, &n, sizeof n) == sizeof n)
		last = n;
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return last;
}

static int
run_writer(const char *path, int first, int enough)
{
	int pipes[2], last;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(pipes[0]);
		write_until_killed(path, pipes[1], first);
	}
	close(pipes[1]);
	last = hear_and_kill(pid, pipes[0], enough);
	close(pipes[0]);
	return last;
}

TEST(killed_writer_loses_no_commit_and_leaves_none_by_half)
{
	const char *path = unit_path("llmc.db");
	struct dice dice = { 11 };
	int n = -1;

	for (int round = 0; round < ROUNDS; round++) {
		int last = run_writer(path, n + 1, (int)dice_below(&dice, 40));
		int found = book_world_whole(path, "killed");

		ck_assert_int_ge(found, last > n ? last : n);
		n = found;
	}
	ck_assert_int_gt(n, ROUNDS);
}

/* --- the store of earlier versions --------------------------------------- */

static void
copy_file(const char *from, const char *to)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	ck_assert_int_eq(file_read(from, 1 << 26, &bytes, NULL), 0);
	ck_assert_int_eq(
	    file_replace(to, bytes.data, bytes.len, 0600, NULL), 0);
}

static bool
is_of(const char *path, int64_t version)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;
	int64_t found = 0;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &statement, NULL);
	if (sqlite3_step(statement) == SQLITE_ROW)
		found = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return found == version;
}

/* One or the other, never half, and another start finishes it; also where the
 * book itself is of an earlier version. */
TEST_ROWS(killed_take_over_of_a_store_loses_nothing, 2)
{
	const char *book = unit_path("llmc.db"), *old = unit_path("store.db");
	const char *kept = unit_path("kept"), *place = _i == 0 ? old : book;
	struct dice dice = { 3 };
	struct book_world world;
	int64_t began, took;
	int done = 0;

	book_world_open(&world, kept);
	book_world_fill(&world);
	ck_assert_int_eq(book_exec(world.book,
			     _i == 0 ? BOOK_WORLD_VERSION_3
				 "DROP INDEX goals_number;"
				 "ALTER TABLE goals DROP COLUMN number;"
				 "PRAGMA user_version = 2;" :
				       BOOK_WORLD_VERSION_3,
			     NULL),
	    0);
	book_world_close(&world);
	copy_file(kept, place);
	began = clock_mono_us();
	book_world_open(&world, book);
	took = clock_mono_us() - began;
	book_world_close(&world);
	for (int round = 0; round < 60; round++) {
		/* SIGALRM ends the child. */
		struct itimerval end = { .it_value.tv_usec = 1 +
			    (suseconds_t)dice_below(
				&dice, (unsigned)took * 2) };
		pid_t pid;

		book_files_remove(book);
		copy_file(kept, place);
		fflush(NULL);
		pid = fork();
		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			signal(SIGALRM, SIG_DFL);
			setitimer(ITIMER_REAL, &end, NULL);
			book_world_open(&world, book);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		done += _i == 0 ? file_exists(book) : is_of(book, 4);
		book_world_open(&world, book);
		ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
		ck_assert_int_eq(book_world_load(&world), 0);
		ck_assert_uint_eq(world.records, 5);
		book_world_events(&world, (struct book_filter){ 0 });
		ck_assert_uint_eq(world.events, 3);
		book_world_close(&world);
		ck_assert(!file_exists(old));
	}
	/* Some of both. */
	ck_assert_int_gt(done, 0);
	ck_assert_int_lt(done, 60);
}
