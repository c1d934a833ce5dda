/* SPDX-License-Identifier: ISC */

/*
 * The power fails while a book is made, written and opened again, and the names
 * of its files are lost too where nothing has synced their folder: what a
 * writer does is recorded (diskrecord.c), and its files are built as they are
 * after each of these steps (disk-replay.h). Every commit that was known to be
 * done is in the book, and none by half. test-book-power.c does more to the
 * contents.
 */

#include "book-world.h"
#include "book-private.h"
#include "disk-replay.h"

#define COMMITS 6 /* in the book that is opened first; then half of them */

/* --- the writer that is recorded: this program, run by itself ------------ */

static char *
told_path(const char *dir, int n)
{
	return xasprintf("%s/told-%d", dir, n);
}

static void
write_some(const char *dir, int first, int end)
{
	cleanup_free char *path = file_join(dir, "llmc.db");
	struct book_world world;
	int r = 0;

	book_world_open(&world, path);
	for (int n = first; r == 0 && world.err.code == 0 && n < end; n++) {
		cleanup_free char *told = told_path(dir, n);

		r = book_world_step(&world, n);
		if (r == 0)
			r = mkdir(told, 0755);
		if (r == 0 && n == COMMITS / 2)
			r = book_exec(world.book,
			    "PRAGMA wal_checkpoint(TRUNCATE)", &world.err);
	}
	if (r != 0 || world.err.code != 0) {
		fprintf(stderr, "%s\n", world.err.msg);
		exit(1);
	}
	book_world_close(&world);
}

static void
write_and_exit(const char *dir)
{
	write_some(dir, 0, COMMITS);
	write_some(dir, COMMITS, COMMITS + COMMITS / 2);
	exit(0);
}

static void
record_writer(const char *root, const char *dir)
{
	cleanup_free char *script =
	    xasprintf("LD_LIBRARY_PATH=\"${DISKRECORD%%/*}\" "
		      "LD_PRELOAD=\"${DISKRECORD##*/}\" DISKRECORD_LOG='%s' "
		      "DISKRECORD_ROOT='%s' POWER_WRITE='%s' "
		      "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "
		      "exec \"$POWER_SELF\"",
		unit_path("disk.log"), root, dir);
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* --- after the power cut -------------------------------------------------- */

/* The last commit that it knew to be done. */
static int
last_told(const struct disk *disk, size_t count, const char *dir)
{
	int n = 0;

	for (;; n++) {
		cleanup_free char *told = told_path(dir, n);

		if (!disk_has_made(disk, count, told))
			return n - 1;
	}
}

START_TEST(every_commit_is_there_or_not_whatever_is_on_disk)
{
	enum disk_loss loss = (enum disk_loss)_i;
	/* Of the root itself, the recorder sees no sync. */
	const char *root = unit_path("power"), *dir = unit_path("power/book");
	cleanup_free char *path = file_join(dir, "llmc.db");
	struct disk *disk;
	size_t count, states = 0;

	ck_assert_int_eq(file_mkdirs(dir, 0755, NULL), 0);
	disk = disk_new(root);
	record_writer(root, dir);
	count = disk_load(disk, unit_path("disk.log"));
	ck_assert_int_eq(
	    last_told(disk, count, dir), COMMITS + COMMITS / 2 - 1);
	for (size_t i = 0; i <= count; i++) {
		int told = last_told(disk, i, dir), found;

		if (!disk_build(disk, i, loss) && i < count)
			continue;
		found = book_world_whole(path, disk_describe(disk, i));
		ck_assert_msg(found == told || found == told + 1,
		    "%s, loss %d: commit %d is the last one there, %d was the "
		    "last one known to be done",
		    disk_describe(disk, i), (int)loss, found, told);
		states++;
	}
	printf("# %zu records, %zu states\n", count, states);
	fflush(stdout);
	ck_assert_uint_gt(states, COMMITS);
	disk_free(disk);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("book-disk");
	TCase *power = tcase_create("power");

	if (getenv("POWER_WRITE") != NULL)
		write_and_exit(getenv("POWER_WRITE"));
	unit_set_timeout(power, 200);
	tcase_add_loop_test(power,
	    every_commit_is_there_or_not_whatever_is_on_disk, 0,
	    DISK_LOSS_COUNT);
	suite_add_tcase(s, power);
	return s;
}
