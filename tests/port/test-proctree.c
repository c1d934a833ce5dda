/* SPDX-License-Identifier: ISC */

#include <time.h>

#include "base.h"
#include "orphans.h"
#include "unit.h"

#define BURN_MS 60
#define TICK_MS 10 /* the kernel's unit */

/* A process in a fake /proc. Times are in ticks. */
static void
fake(const char *proc, int pid, const char *name, int parent, int own,
    int waited, int start)
{
	cleanup_free char *dir = xasprintf("%s/%d", proc, pid);
	cleanup_free char *path = file_join(dir, "stat");
	cleanup_free char *text = xasprintf("%d (%s) S %d %d %d 0 -1 4194560 1 "
					    "2 3 4 %d %d %d %d 20 0 1 0 %d "
					    "1000 200 18446744073709551615\n",
	    pid, name, parent, pid, pid, own, own, waited, waited, start);

	ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), 0);
	ck_assert_int_eq(file_replace(path, text, strlen(text), 0600, NULL), 0);
}

static struct proctree *
look(const char *proc)
{
	struct proctree *tree = NULL;

	ck_assert_int_eq(proctree_read(proc, &tree, NULL), 0);
	return tree;
}

static int64_t
cpu_of(const struct proctree *tree, int pid, int start)
{
	struct procref ref = PROCREF_INIT;

	ref.pid = pid;
	ref.start_time = (uint64_t)start;
	return proctree_cpu_ms(tree, &ref);
}

static int64_t
ms(int ticks)
{
	return (int64_t)ticks * 1000 / sysconf(_SC_CLK_TCK);
}

TEST(a_tree_counts_all_that_is_below)
{
	const char *proc = unit_path("below");
	struct proctree *tree;

	fake(proc, 1, "init", 0, 1000, 2000, 1);
	fake(proc, 10, "claude", 1, 1, 2, 100);
	fake(proc, 11, "sh", 10, 3, 4, 110);
	fake(proc, 9, "make", 11, 5, 6, 120);
	fake(proc, 20, "claude", 1, 7, 8, 130);
	tree = look(proc);
	ck_assert_int_eq(
	    cpu_of(tree, 10, 100), ms(2 * (1 + 2 + 3 + 4 + 5 + 6)));
	ck_assert_int_eq(cpu_of(tree, 11, 110), ms(2 * (3 + 4 + 5 + 6)));
	ck_assert_int_eq(cpu_of(tree, 9, 120), ms(2 * (5 + 6)));
	ck_assert_int_eq(cpu_of(tree, 20, 130), ms(2 * (7 + 8)));
	ck_assert_int_eq(cpu_of(tree, 1, 1), ms(2 * (3000 + 21 + 15)));
	proctree_free(tree);
}

TEST(a_reused_pid_is_another_process)
{
	const char *proc = unit_path("reused");
	struct procref none = PROCREF_INIT;
	struct proctree *tree;

	fake(proc, 10, "claude", 1, 1, 2, 100);
	tree = look(proc);
	ck_assert_int_eq(cpu_of(tree, 10, 99), -ESRCH);
	ck_assert_int_eq(cpu_of(tree, 12, 100), -ESRCH);
	ck_assert_int_eq(proctree_cpu_ms(tree, &none), -ESRCH);
	ck_assert_int_eq(cpu_of(tree, 10, 100), ms(2 * (1 + 2)));
	proctree_free(tree);
}

TEST(names_may_be_anything)
{
	static const char *const names[] = { "a b", "a) S 1 (b", "((", "))",
		") R 99 99", "\n", "", "0 (x) S 5" };
	const char *proc = unit_path("names");
	struct proctree *tree;

	for (int i = 0; i < (int)nitems(names); i++)
		fake(proc, 100 + i, names[i], i == 0 ? 1 : 99 + i, 1, 0, 7);
	tree = look(proc);
	ck_assert_int_eq(cpu_of(tree, 100, 7), ms(2 * nitems(names)));
	proctree_free(tree);
}

TEST(what_vanished_or_is_malformed_is_passed_over)
{
	static const char *const texts[] = { "", "1", "5 (x", "5 (x) S",
		"5 (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0",
		"x (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 9" };
	const char *proc = unit_path("vanished");
	struct proctree *tree;

	fake(proc, 10, "claude", 1, 1, 0, 100);
	for (int i = 0; i < (int)nitems(texts); i++) {
		cleanup_free char *path = xasprintf("%s/%d/stat", proc, 30 + i);

		fake(proc, 30 + i, "x", 10, 1000, 0, 1);
		ck_assert_int_eq(
		    file_replace(path, texts[i], strlen(texts[i]), 0600, NULL),
		    0);
	}
	/* Only the directory exists. */
	ck_assert_int_eq(file_mkdirs(unit_path("vanished/50"), 0700, NULL), 0);
	ck_assert_int_eq(
	    file_mkdirs(unit_path("vanished/self"), 0700, NULL), 0);
	ck_assert_int_eq(
	    file_mkdirs(unit_path("vanished/99999999999/stat"), 0700, NULL), 0);
	tree = look(proc);
	ck_assert_int_eq(cpu_of(tree, 10, 100), ms(2));
	proctree_free(tree);
}

TEST(a_circle_ends)
{
	const char *proc = unit_path("circle");
	struct proctree *tree;

	fake(proc, 10, "a", 11, 1, 0, 100);
	fake(proc, 11, "b", 10, 1, 0, 100);
	fake(proc, 12, "c", 12, 1, 0, 100);
	fake(proc, 13, "d", 1, 1, 0, 100);
	tree = look(proc);
	ck_assert_int_eq(cpu_of(tree, 10, 100), ms(2 * 2));
	ck_assert_int_eq(cpu_of(tree, 13, 100), ms(2));
	proctree_free(tree);
}

TEST(no_processes_at_all)
{
	const char *proc = unit_path("none");
	struct proctree *tree = NULL;
	struct err err = { 0, "" };

	ck_assert_int_eq(proctree_read(proc, &tree, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, proc));
	ck_assert_ptr_null(tree);
	ck_assert_int_eq(file_mkdirs(proc, 0700, NULL), 0);
	tree = look(proc);
	ck_assert_int_eq(cpu_of(tree, 1, 1), -ESRCH);
	proctree_free(tree);
	proctree_free(NULL);
}

/* Use CPU time until the kernel has counted it. */
static void
burn(void)
{
	struct timespec ts = { 0, 0 };

	while (ts.tv_sec == 0 && ts.tv_nsec < BURN_MS * 1000000L)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
}

/* The child starts a grandchild that works, reports that and waits, like the
 * child. Both end when the leash is closed. */
static pid_t
start_family(int leash[2], int ready[2])
{
	pid_t pid = fork();
	char byte = 0;

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	pid = fork();
	fd_close(leash[1]);
	if (pid == 0) {
		burn();
		(void)!write(ready[1], &byte, 1);
	}
	(void)!read(leash[0], &byte, 1);
	while (pid > 0 && wait(NULL) == -1 && errno == EINTR)
		continue;
	_exit(0);
}

TEST(real_descendants_are_counted)
{
	struct procref child = PROCREF_INIT, self = PROCREF_INIT;
	int leash[2], ready[2];
	struct proctree *tree;
	int64_t used;
	pid_t pid;
	char byte;

	ck_assert_int_eq(pipe(leash), 0);
	ck_assert_int_eq(pipe(ready), 0);
	pid = start_family(leash, ready);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(procref_set(&child, pid), 0);
	ck_assert_int_eq(procref_set_self(&self), 0);
	tree = look(PROCTREE_PROC);
	used = proctree_cpu_ms(tree, &child);
	ck_assert_int_ge(used, BURN_MS - 2 * TICK_MS);
	ck_assert_int_ge(proctree_cpu_ms(tree, &self), used);
	proctree_free(tree);
	fd_close(leash[0]);
	fd_close(leash[1]);
	fd_close(ready[0]);
	fd_close(ready[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	/* Its CPU time now counts as ours, since we reaped it. */
	tree = look(PROCTREE_PROC);
	ck_assert_int_eq(proctree_cpu_ms(tree, &child), -ESRCH);
	ck_assert_int_ge(proctree_cpu_ms(tree, &self), used);
	proctree_free(tree);
	procref_release(&child);
	procref_release(&self);
}
