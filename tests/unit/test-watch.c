/* SPDX-License-Identifier: ISC */

/*
 * Most tests run twice: _i is 0 with inotify and 1 without. Time is virtual:
 * settle() lets three seconds pass at once, enough for polling too.
 */

#include <sys/resource.h>

#include "dir-world.h"
#include "watch.h"

static struct loop *loop;
static struct watch *watch;
static int calls;

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

/* How often fn was called while time passed. */
static int
settle(void)
{
	struct loop_timer *timer = loop_after(loop, 3000, stop, loop);

	calls = 0;
	loop_run(loop);
	loop_timer_free(timer);
	return calls;
}

static void
count_call(void *arg)
{
	(void)arg;
	calls++;
}

static void
setup(int without)
{
	clock_virtual_begin(1000000, 1000000);
	watch_disable_inotify(without == 1);
	loop = loop_new();
}

static void
teardown(void)
{
	watch_free(watch);
	watch = NULL;
	loop_free(loop);
	watch_disable_inotify(false);
	clock_virtual_end();
}

/* Write in place. */
static void
add(const char *path, const char *text)
{
	ck_assert_int_eq(
	    file_append(path, text, strlen(text), 0600, false, NULL), 0);
}

static void
start(const char *path)
{
	ck_assert_int_eq(
	    watch_new(loop, path, count_call, NULL, &watch, NULL), 0);
}

TEST_ROWS(silent_while_nothing_changes, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	add(in(dir, "f"), "old\n");
	start(in(dir, "f"));
	ck_assert_int_eq(settle(), 0);
	add(in(dir, "other"), "x\n");
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST_ROWS(tells_of_every_kind_of_change, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	start(in(dir, "f"));
	add(in(dir, "f"), "created\n");
	ck_assert_int_eq(settle(), 1);
	add(in(dir, "f"), "written\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(truncate(in(dir, "f"), 0), 0);
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(
	    file_replace(in(dir, "f"), "replaced", 8, 0600, NULL), 0);
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(rename(in(dir, "f"), in(dir, "away")), 0);
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "away"), "x\n");
	ck_assert_int_eq(settle(), 0);
	ck_assert_int_eq(rename(in(dir, "away"), in(dir, "f")), 0);
	ck_assert_int_ge(settle(), 1);
	ck_assert_int_eq(unlink(in(dir, "f")), 0);
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "f"), "again\n");
	ck_assert_int_eq(settle(), 1);
	teardown();
}

TEST_ROWS(many_changes_make_one_call, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	start(in(dir, "f"));
	for (int i = 0; i < 50; i++) {
		add(in(dir, "f"), "x\n");
		if (i % 10 == 0)
			ck_assert_int_eq(unlink(in(dir, "f")), 0);
	}
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST_ROWS(same_size_replacement_is_a_change, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	add(in(dir, "f"), "one\n");
	start(in(dir, "f"));
	ck_assert_int_eq(file_replace(in(dir, "f"), "two\n", 4, 0600, NULL), 0);
	ck_assert_int_ge(settle(), 1);
	teardown();
}

TEST_ROWS(directory_means_its_entries, 2)
{
	const char *dir = fresh_dir(), *sub = in(dir, "sub");

	setup(_i);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	add(in(dir, "sub/old"), "x\n");
	start(in(dir, "sub///"));
	ck_assert_int_eq(settle(), 0);
	add(in(dir, "sub/old"), "y\n");
	ck_assert_int_eq(settle(), 1);
	add(in(dir, "sub/new"), "x\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(rename(in(dir, "sub/new"), in(dir, "sub/moved")), 0);
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(unlink(in(dir, "sub/old")), 0);
	ck_assert_int_eq(settle(), 1);
	add(in(dir, "beside"), "x\n");
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST_ROWS(directory_may_come_later_and_again, 2)
{
	const char *dir = fresh_dir(), *sub = in(dir, "sub");

	setup(_i);
	start(sub);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(mkdir(sub, 0700), 0);
		ck_assert_int_ge(settle(), 1);
		add(in(dir, "sub/f"), "x\n");
		ck_assert_int_eq(settle(), 1);
		ck_assert_int_eq(unlink(in(dir, "sub/f")), 0);
		ck_assert_int_eq(settle(), 1);
		ck_assert_int_eq(rmdir(sub), 0);
		ck_assert_int_ge(settle(), 1);
	}
	teardown();
}

TEST_ROWS(survives_the_loss_of_its_directory, 2)
{
	const char *dir = fresh_dir(), *sub = in(dir, "sub");

	setup(_i);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	add(in(dir, "sub/f"), "x\n");
	start(in(dir, "sub/f"));
	ck_assert_int_eq(rename(sub, in(dir, "away")), 0);
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "away/f"), "x\n");
	ck_assert_int_eq(settle(), 0);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	ck_assert_int_eq(settle(), 0);
	add(in(dir, "sub/f"), "new\n");
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "sub/f"), "more\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(unlink(in(dir, "sub/f")), 0);
	ck_assert_int_eq(rmdir(sub), 0);
	ck_assert_int_ge(settle(), 1);
	teardown();
}

TEST_ROWS(sees_through_links, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	ck_assert_int_eq(mkdir(in(dir, "real"), 0700), 0);
	ck_assert_int_eq(symlink("real/f", in(dir, "link")), 0);
	start(in(dir, "link"));
	ck_assert_int_eq(settle(), 0);
	add(in(dir, "real/f"), "x\n");
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "real/f"), "y\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(
	    file_replace(in(dir, "real/f"), "z\n", 2, 0600, NULL), 0);
	ck_assert_int_ge(settle(), 1);
	ck_assert_int_eq(unlink(in(dir, "link")), 0);
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "link"), "a file now\n");
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "real/f"), "not ours\n");
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST_ROWS(name_without_directory_is_here, 2)
{
	const char *dir = fresh_dir();
	cleanup_fd int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	setup(_i);
	ck_assert_int_eq(chdir(dir), 0);
	start("f");
	add("f", "x\n");
	ck_assert_int_eq(settle(), 1);
	watch_free(watch);
	start(".");
	add("g", "x\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_int_eq(fchdir(home), 0);
	teardown();
}

TEST_ROWS(missing_directory_is_an_error, 2)
{
	const char *dir = fresh_dir();
	struct err err = { 0 };

	setup(_i);
	ck_assert_int_eq(
	    watch_new(loop, in(dir, "none/f"), count_call, NULL, &watch, &err),
	    -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "none/f"));
	add(in(dir, "f"), "x\n");
	ck_assert_int_eq(
	    watch_new(loop, in(dir, "f/g"), count_call, NULL, &watch, NULL),
	    -ENOTDIR);
	ck_assert_ptr_null(watch);
	teardown();
}

static void
free_itself(void *arg)
{
	calls++;
	watch_free(take_ptr((struct watch **)arg));
}

TEST_ROWS(may_be_freed_from_its_call, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	ck_assert_int_eq(
	    watch_new(loop, in(dir, "f"), free_itself, &watch, &watch, NULL),
	    0);
	add(in(dir, "f"), "x\n");
	ck_assert_int_eq(settle(), 1);
	ck_assert_ptr_null(watch);
	add(in(dir, "f"), "x\n");
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST_ROWS(may_be_freed_with_a_call_due, 2)
{
	const char *dir = fresh_dir();

	setup(_i);
	start(in(dir, "f"));
	add(in(dir, "f"), "x\n");
	watch_free(take_ptr(&watch));
	watch_free(NULL);
	ck_assert_int_eq(settle(), 0);
	teardown();
}

TEST(no_descriptors_left_means_looking)
{
	const char *dir = fresh_dir(), *path = in(dir, "f");
	struct rlimit rl;
	rlim_t old;

	setup(0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &rl), 0);
	old = rl.rlim_cur;
	rl.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
	start(path);
	rl.rlim_cur = old;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
	/* By polling, and then by inotify again. */
	add(path, "x\n");
	ck_assert_int_eq(settle(), 1);
	add(path, "y\n");
	ck_assert_int_eq(settle(), 1);
	teardown();
}

TEST(inotify_does_not_wake_the_loop_for_nothing)
{
	const char *dir = fresh_dir();
	uint64_t passes;

	setup(0);
	add(in(dir, "f"), "x\n");
	start(in(dir, "f"));
	passes = loop_passes(loop);
	for (int i = 0; i < 10; i++)
		settle();
	/* Two passes or three for the timer of each settle(). */
	ck_assert_uint_le(loop_passes(loop) - passes, 40);
	teardown();
}

TEST(overflow_of_the_queue_is_a_change)
{
	const char *dir = fresh_dir(), *names[2];

	setup(0);
	ck_assert_int_eq(mkdir(in(dir, "sub"), 0700), 0);
	names[0] = in(dir, "sub/a");
	names[1] = in(dir, "sub/b");
	start(in(dir, "sub"));
	/* More than fs.inotify.max_queued_events, 16384 by default. */
	for (int i = 0; i < 10000; i++) {
		int fd = creat(names[i % 2], 0600);

		ck_assert_int_ge(fd, 0);
		close(fd);
		ck_assert_int_eq(unlink(names[i % 2]), 0);
	}
	ck_assert_int_ge(settle(), 1);
	add(in(dir, "sub/c"), "x\n");
	ck_assert_int_eq(settle(), 1);
	teardown();
}
