/* SPDX-License-Identifier: ISC */

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>

#include "unit.h"

#define ROUNDS 400
#define FILES  4

static void
write_file(const char *path)
{
	ck_assert_int_eq(file_append(path, "x", 1, 0600, false, NULL), 0);
}

static const char *
make_dir(const char *name)
{
	const char *dir = unit_path(name);

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	return dir;
}

TEST(all_of_a_folder_goes_and_nothing_a_link_leads_to)
{
	const char *dir = make_dir("a b");

	make_dir("a b/c/d");
	make_dir("mine");
	write_file(unit_path("a b/c/file"));
	write_file(unit_path("mine/file"));
	ck_assert_int_eq(symlink(unit_path("mine"), unit_path("a b/link")), 0);
	ck_assert_int_eq(mkfifo(unit_path("a b/fifo"), 0600), 0);
	ck_assert_int_eq(remove_tree(dir), 0);
	ck_assert(!file_exists(dir));
	ck_assert(file_exists(unit_path("mine/file")));
	ck_assert_int_eq(remove_tree(dir), 0);
}

TEST(a_link_or_a_file_is_removed_itself)
{
	make_dir("real");
	write_file(unit_path("real/file"));
	ck_assert_int_eq(symlink(unit_path("real"), unit_path("link")), 0);
	ck_assert_int_eq(remove_tree(unit_path("link/")), 0);
	ck_assert(!file_exists(unit_path("link")));
	ck_assert_int_eq(remove_tree(unit_path("real/file")), 0);
	ck_assert(file_is_dir(unit_path("real")));
	ck_assert(!file_exists(unit_path("real/file")));
}

/* 77 = nothing can be mounted here. */
static int
remove_around_mount(const char *dir, const char *mounted)
{
	if (unshare(CLONE_NEWNS) == -1 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
		return 77;
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == -1 ||
	    mount("none", mounted, "tmpfs", 0, NULL) == -1)
		return 77;
	return remove_tree(dir) == -EXDEV ? 0 : 1;
}

/* Nothing is looked for in it, and everything else goes. */
TEST(another_file_system_stays)
{
	const char *dir = make_dir("around");
	const char *mounted = make_dir("around/disk");
	int status;
	pid_t pid;

	write_file(unit_path("around/file"));
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0)
		_exit(remove_around_mount(dir, mounted));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		unit_skip("nothing can be mounted here");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert(!file_exists(unit_path("around/file")));
}

TEST(what_is_too_deep_stays)
{
	int fd = open(make_dir("deep"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	write_file(unit_path("deep/file"));
	for (int i = 0; i < REMOVE_TREE_DEPTH; i++) {
		int below;

		ck_assert_int_eq(mkdirat(fd, "d", 0700), 0);
		below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ne(below, -1);
		close(fd);
		fd = below;
	}
	close(fd);
	ck_assert_int_eq(remove_tree(unit_path("deep")), -ENAMETOOLONG);
	ck_assert(!file_exists(unit_path("deep/file")));
	ck_assert_int_eq(remove_tree(unit_path("deep/d")), 0);
	ck_assert_int_eq(remove_tree(unit_path("deep")), 0);
}

TEST(no_link_on_the_way_below_a_folder_is_followed)
{
	const char *top = make_dir("top");

	make_dir("top/a/b");
	make_dir("users");
	write_file(unit_path("users/file"));
	write_file(unit_path("top/a/b/file"));
	ck_assert_int_eq(symlink(unit_path("users"), unit_path("top/to")), 0);
	ck_assert_int_lt(remove_tree_below(top, "to/file"), 0);
	ck_assert_int_lt(remove_tree_below(top, "../users/file"), 0);
	ck_assert_int_lt(remove_tree_below(top, "a/b/file/x"), 0);
	ck_assert(file_exists(unit_path("users/file")));
	ck_assert_int_eq(remove_tree_below(top, "a/none/file"), 0);
	ck_assert_int_eq(remove_tree_below(unit_path("none"), "a"), 0);
	ck_assert_int_eq(remove_tree_below(top, "a//b/"), 0);
	ck_assert(!file_exists(unit_path("top/a/b")));
	ck_assert(file_is_dir(unit_path("top/a")));
}

/* --- a folder that becomes a link -------------------------------------- */

/* A process of its own: valgrind runs one thread at a time. */
struct swapper {
	pid_t pid;
	int began; /* readable after its first exchange */
};

/* Now a folder, now a link to that of the user. */
static struct swapper
swap_begin(const char *sub, const char *other)
{
	struct swapper swapper;
	char byte = 0;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	swapper.pid = fork();
	ck_assert_int_ne(swapper.pid, -1);
	if (swapper.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		renameat2(AT_FDCWD, sub, AT_FDCWD, other, RENAME_EXCHANGE);
		if (write(ends[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			renameat2(
			    AT_FDCWD, sub, AT_FDCWD, other, RENAME_EXCHANGE);
	}
	close(ends[1]);
	swapper.began = ends[0];
	ck_assert_int_eq(read(swapper.began, &byte, 1), 1);
	return swapper;
}

static void
swap_end(const struct swapper *swapper)
{
	kill(swapper->pid, SIGKILL);
	ck_assert_int_eq(waitpid(swapper->pid, NULL, 0), swapper->pid);
	close(swapper->began);
}

static void
fill(const char *dir)
{
	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	for (int i = 0; i < FILES; i++) {
		cleanup_free char *name = xasprintf("%s/%d", dir, i);

		write_file(name);
	}
}

static void
assert_full(const char *dir)
{
	for (int i = 0; i < FILES; i++) {
		cleanup_free char *name = xasprintf("%s/%d", dir, i);

		ck_assert_msg(file_exists(name), "%s is gone", name);
	}
}

TEST(a_folder_that_becomes_a_link_meanwhile_is_not_left)
{
	const char *users = unit_path("users files");
	const char *race = unit_path("race"), *sub = unit_path("race/sub");
	const char *swapped = unit_path("swapped");

	fill(users);
	for (int round = 0; round < ROUNDS; round++) {
		struct swapper swapper;

		fill(sub);
		ck_assert_int_eq(symlink(users, swapped), 0);
		swapper = swap_begin(sub, swapped);
		remove_tree(race);
		swap_end(&swapper);
		assert_full(users);
		ck_assert_int_eq(remove_tree(race), 0);
		ck_assert_int_eq(remove_tree(swapped), 0);
	}
}
