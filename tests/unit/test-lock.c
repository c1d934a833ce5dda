/* SPDX-License-Identifier: ISC */

#include <sys/prctl.h>

#include "unit.h"

#define ROUNDS 5000

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
		/* Do not survive a failing test. */
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

TEST(one_at_a_time)
{
	const char *path = fresh_path();
	struct err err = { 0 };
	int fd, other;

	fd = lock_try(path, &err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(err.code, 0);
	/* Within one process too: the lock belongs to the descriptor. */
	ck_assert_int_eq(lock_try(path, &err), -EAGAIN);
	ck_assert_int_eq(err.code, -EAGAIN);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	close(fd);
	other = lock_try(path, NULL);
	ck_assert_int_ge(other, 0);
	close(other);
}

TEST(descriptor_is_not_inherited_by_programs)
{
	cleanup_fd int fd = lock_try(fresh_path(), NULL);

	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

TEST(file_is_private_and_stays)
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

TEST(a_file_that_was_replaced_is_another)
{
	const char *path = fresh_path();
	cleanup_fd int fd = lock_try(path, NULL), other = -1;

	ck_assert(lock_is_at(fd, path));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!lock_is_at(fd, path));
	other = lock_try(path, NULL);
	ck_assert_int_ge(other, 0);
	ck_assert(lock_is_at(other, path));
	ck_assert(!lock_is_at(fd, path));
}

/* A process that removes the file whenever it holds the lock. */
static pid_t
start_remover(const char *path)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			cleanup_fd int fd = lock_try(path, NULL);

			if (fd >= 0)
				unlink(path);
		}
	}
	return pid;
}

/* Who has the lock of a file that was removed meanwhile has none. */
TEST(nobody_gets_the_lock_of_a_file_that_is_gone)
{
	const char *path = fresh_path();
	pid_t pid = start_remover(path);

	for (int got = 0; got < ROUNDS;) {
		cleanup_fd int fd = lock_try(path, NULL);

		if (fd < 0)
			continue;
		ck_assert(lock_is_at(fd, path));
		got++;
	}
	end_holder(pid);
}

TEST(text_in_the_file_is_kept)
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

TEST(is_held_asks_and_takes_nothing)
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
}

TEST(unusable_paths_are_errors)
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
	ck_assert_int_eq(lock_try(unit_scratch(), NULL), -EISDIR);
	ck_assert_int_eq(lock_is_held(below), -ENOTDIR);
}

/* It must not be waited for, and a link must not lead elsewhere. */
TEST(what_is_no_file_is_refused)
{
	const char *fifo = fresh_path(), *dir = unit_path(".llmc");
	const char *link = unit_path(".llmc/lock");
	struct err err = { 0 };

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(lock_try(fifo, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "it is not a regular file"));
	ck_assert_int_eq(lock_is_held(fifo), -EINVAL);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(symlink("../victim", link), 0);
	ck_assert_int_eq(lock_try(link, &err), -ELOOP);
	ck_assert_ptr_nonnull(strstr(err.msg, "it is a symbolic link"));
	ck_assert(!file_exists(unit_path("victim")));
}

TEST(death_lets_go)
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
