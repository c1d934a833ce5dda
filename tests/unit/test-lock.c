/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "errtext.h"
#include "file.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"
#include "unit.h"

static const char *
fresh_path(void)
{
	static int count;
	cleanup_free char *name = xasprintf("lock%d", count++);

	return unit_path(name);
}

/* A child that holds the lock until it is killed. */
static pid_t
start_holder(const char *path)
{
	int ends[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* Nothing is left when a test fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (lock_try(path, NULL) < 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &c, 1), 1);
	close(ends[0]);
	return pid;
}

static void
end_holder(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(one_at_a_time)
{
	const char *path = fresh_path();
	struct err err = { 0 };
	int fd, other;

	fd = lock_try(path, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(err.code, 0);
	/* In one process too: the lock belongs to the descriptor. */
	ck_assert_int_eq(lock_try(path, &err), -EAGAIN);
	ck_assert_int_eq(err.code, -EAGAIN);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(lock_try_shared(path, NULL), -EAGAIN);
	close(fd);
	other = lock_try(path, NULL);
	ck_assert_int_ge(other, 0);
	close(other);
}
END_TEST

START_TEST(descriptor_is_not_inherited_by_programs)
{
	cleanup_fd int fd = lock_try(fresh_path(), NULL);

	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}
END_TEST

START_TEST(file_is_private_and_stays)
{
	const char *path = fresh_path();
	struct stat before, after;
	int fd;

	fd = lock_try(path, NULL);
	ck_assert_int_eq(fstat(fd, &before), 0);
	ck_assert_uint_eq(before.st_mode & 07777, 0600);
	close(fd);
	fd = lock_try(path, NULL);
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	close(fd);
	ck_assert(file_exists(path));
}
END_TEST

START_TEST(text_in_the_file_is_kept)
{
	const char *path = fresh_path();
	struct stat st;
	int fd;

	ck_assert_int_eq(file_replace(path, "held by me\n", 11, 0600, NULL), 0);
	fd = lock_try(path, NULL);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_size, 11);
	close(fd);
}
END_TEST

START_TEST(readers_share)
{
	const char *path = fresh_path();
	int one, two, three;

	one = lock_try_shared(path, NULL);
	two = lock_try_shared(path, NULL);
	ck_assert_int_ge(one, 0);
	ck_assert_int_ge(two, 0);
	ck_assert_int_eq(lock_try(path, NULL), -EAGAIN);
	close(one);
	ck_assert_int_eq(lock_try(path, NULL), -EAGAIN);
	close(two);
	three = lock_try(path, NULL);
	ck_assert_int_ge(three, 0);
	close(three);
}
END_TEST

START_TEST(is_held_asks_and_takes_nothing)
{
	const char *path = fresh_path();
	int fd;

	ck_assert_int_eq(lock_is_held(path), 0);
	ck_assert(!file_exists(path));
	fd = lock_try(path, NULL);
	ck_assert_int_eq(lock_is_held(path), 1);
	ck_assert_int_eq(lock_is_held(path), 1);
	close(fd);
	ck_assert_int_eq(lock_is_held(path), 0);
	fd = lock_try_shared(path, NULL);
	ck_assert_int_eq(lock_is_held(path), 0);
	close(fd);
}
END_TEST

START_TEST(unusable_paths_are_errors)
{
	const char *file = fresh_path();
	cleanup_free char *below = xasprintf("%s/lock", file);
	cleanup_free char *missing = xasprintf("%s.none/lock", file);
	struct err err = { 0 };
	int fd = lock_try(file, NULL);

	close(fd);
	ck_assert_int_eq(lock_try(below, &err), -ENOTDIR);
	ck_assert_int_eq(err.code, -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, below));
	ck_assert_int_eq(lock_try(missing, NULL), -ENOENT);
	ck_assert_int_eq(lock_try_shared(missing, NULL), -ENOENT);
	ck_assert_int_eq(lock_try(unit_scratch(), NULL), -EISDIR);
	ck_assert_int_eq(lock_is_held(below), -ENOTDIR);
}
END_TEST

START_TEST(death_lets_go)
{
	const char *path = fresh_path();
	pid_t pid = start_holder(path);
	int fd;

	ck_assert_int_eq(lock_try(path, NULL), -EAGAIN);
	ck_assert_int_eq(lock_is_held(path), 1);
	end_holder(pid);
	ck_assert_int_eq(lock_is_held(path), 0);
	fd = lock_try(path, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
}
END_TEST

/* Waiting, in virtual time. */
struct waiter {
	struct loop *loop;
	struct lock_wait *wait;
	const char *path;
	int calls;
	int result;
	int64_t at_ms;
};

static void
waiter_got(int fd_or_error, void *arg)
{
	struct waiter *w = arg;

	w->calls++;
	w->result = fd_or_error;
	w->at_ms = clock_mono_ms();
	lock_wait_free(take_ptr(&w->wait));
}

static void
waiter_begin(struct waiter *w, const char *path, int64_t ms)
{
	clock_virtual_begin(1000000, 1000000);
	memset(w, 0, sizeof *w);
	w->loop = loop_new();
	w->path = path;
	w->wait = lock_wait_new(w->loop, path, ms, waiter_got, w);
}

static void
waiter_end(struct waiter *w)
{
	lock_wait_free(w->wait);
	loop_free(w->loop);
	clock_virtual_end();
}

static void
close_fd(void *arg)
{
	int *fd = arg;

	*fd = fd_close(*fd);
}

START_TEST(wait_gets_a_free_lock_from_the_loop)
{
	const char *path = fresh_path();
	struct waiter w;

	waiter_begin(&w, path, 1000);
	ck_assert_int_eq(w.calls, 0);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_ge(w.result, 0);
	ck_assert_int_le(w.at_ms, 1000000 + 5);
	ck_assert_int_eq(lock_is_held(path), 1);
	close(w.result);
	waiter_end(&w);
}
END_TEST

START_TEST(wait_gets_the_lock_soon_after_it_is_free)
{
	const char *path = fresh_path();
	struct loop_timer *timer;
	struct waiter w;
	int fd = lock_try(path, NULL);

	waiter_begin(&w, path, 60000);
	timer = loop_after(w.loop, 7777, close_fd, &fd);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_ge(w.result, 0);
	ck_assert_int_ge(w.at_ms, 1000000 + 7777);
	ck_assert_int_le(w.at_ms, 1000000 + 7777 + 100);
	/* Pauses of 100 ms: not thousands of tries. */
	ck_assert_uint_le(loop_turns(w.loop), 400);
	close(w.result);
	loop_timer_free(timer);
	waiter_end(&w);
}
END_TEST

START_TEST(wait_gives_up_at_the_deadline)
{
	const char *path = fresh_path();
	struct waiter w;
	int fd = lock_try(path, NULL);

	waiter_begin(&w, path, 2000);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_eq(w.result, -ETIMEDOUT);
	ck_assert_int_ge(w.at_ms, 1000000 + 2000);
	ck_assert_int_le(w.at_ms, 1000000 + 2000 + 100);
	close(fd);
	waiter_end(&w);
}
END_TEST

START_TEST(wait_reports_errors_at_once)
{
	cleanup_free char *path = xasprintf("%s.none/lock", fresh_path());
	struct waiter w;

	waiter_begin(&w, path, 2000);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_eq(w.result, -ENOENT);
	ck_assert_int_le(w.at_ms, 1000000 + 5);
	waiter_end(&w);
}
END_TEST

START_TEST(wait_that_was_freed_never_calls)
{
	const char *path = fresh_path();
	struct waiter w;

	waiter_begin(&w, path, 2000);
	lock_wait_free(take_ptr(&w.wait));
	lock_wait_free(NULL);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 0);
	ck_assert_int_eq(lock_is_held(path), 0);
	waiter_end(&w);
}
END_TEST

static void
kill_holder(void *arg)
{
	pid_t *pid = arg;

	end_holder(*pid);
}

START_TEST(wait_gets_the_lock_of_a_dead_process)
{
	const char *path = fresh_path();
	pid_t pid = start_holder(path);
	struct loop_timer *timer;
	struct waiter w;

	waiter_begin(&w, path, 60000);
	timer = loop_after(w.loop, 500, kill_holder, &pid);
	loop_run(w.loop);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_ge(w.result, 0);
	close(w.result);
	loop_timer_free(timer);
	waiter_end(&w);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("lock");

	unit_case(s, "try",
	    (const TTest *[]){ one_at_a_time,
		descriptor_is_not_inherited_by_programs,
		file_is_private_and_stays, text_in_the_file_is_kept,
		readers_share, is_held_asks_and_takes_nothing,
		unusable_paths_are_errors, death_lets_go, NULL });
	unit_case(s, "wait",
	    (const TTest *[]){ wait_gets_a_free_lock_from_the_loop,
		wait_gets_the_lock_soon_after_it_is_free,
		wait_gives_up_at_the_deadline, wait_reports_errors_at_once,
		wait_that_was_freed_never_calls,
		wait_gets_the_lock_of_a_dead_process, NULL });
	return s;
}
