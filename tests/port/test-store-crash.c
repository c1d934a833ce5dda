/* SPDX-License-Identifier: ISC */

/* A writer that is killed at any moment: every commit that it knew to be done
 * is there, and none is there by half. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dice.h"
#include "loop.h"
#include "mem.h"
#include "store-world.h"
#include "unit.h"

#define ROUNDS 25

struct writer {
	struct store_world world;
	int out;
	int next;
};

struct commit {
	struct writer *writer;
	int n;
};

static void commit_next(struct writer *writer);

/* Tell the parent that commit n is done. */
static void
on_done(const struct err *err, void *arg)
{
	struct commit *commit = arg;
	struct writer *writer = commit->writer;

	if (err != NULL ||
	    write(writer->out, &commit->n, sizeof commit->n) == -1)
		_exit(1);
	free(commit);
	commit_next(writer);
}

/* A record that counts, one of its own, and an event with a key. */
static void
commit_next(struct writer *writer)
{
	struct commit *commit = xcalloc(1, sizeof *commit);
	char id[16], count[64], key[32];
	struct store_change changes[] = {
		{ STORE_GOAL, NULL, "G", count },
		{ STORE_NODE, "G", id, "{\"status\":\"todo\"}" },
	};
	struct store_event event = { .type = "a", .goal_id = id, .key = key };

	commit->writer = writer;
	commit->n = writer->next++;
	snprintf(id, sizeof id, "T%07d", commit->n);
	snprintf(key, sizeof key, "%d", commit->n);
	snprintf(
	    count, sizeof count, "{\"status\":\"active\",\"n\":%d}", commit->n);
	store_commit(
	    writer->world.store, changes, 2, &event, 1, on_done, commit);
}

static void
write_until_killed(const char *path, int out, int first)
{
	struct writer writer = { .out = out, .next = first };

	store_world_open(&writer.world, path);
	if (writer.world.err.code != 0)
		_exit(1);
	for (int i = 0; i < 4; i++)
		commit_next(&writer);
	for (;;)
		loop_run(writer.world.loop);
}

/* Read what it says until it has said enough; kill it; read the rest. Returns
 * the highest number, or -1. */
static int
hear_and_kill(pid_t pid, int in, int enough)
{
	int n, last = -1;
	ssize_t got;

	while (enough > 0 && (got = read(in, &n, sizeof n)) == sizeof n) {
		last = n;
		enough--;
	}
	kill(pid, SIGKILL);
	while ((got = read(in, &n, sizeof n)) == sizeof n)
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

/* Nodes, events and the number in the goal must agree. */
static int
expect_whole(const char *path, int least)
{
	struct store_world world;
	size_t nodes;
	int n = -1;

	store_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s", world.err.msg);
	ck_assert_int_eq(store_world_read(&world, STORE_NODE, "G", NULL), 0);
	nodes = world.records;
	ck_assert_int_eq(store_world_read(&world, STORE_GOAL, "G", NULL), 0);
	if (world.records > 0)
		ck_assert_int_eq(
		    sscanf(strstr(world.text.data, "\"n\":"), "\"n\":%d", &n),
		    1);
	ck_assert_int_ge(n, least);
	ck_assert_int_eq((int)nodes, n + 1);
	store_world_events(
	    &world, (struct store_filter){ .newest_first = true });
	ck_assert_int_eq((int)world.first_seq, n + 1);
	store_world_close(&world);
	return n;
}

START_TEST(killed_writer_loses_no_commit_and_leaves_none_by_half)
{
	const char *path = unit_path("store.db");
	struct dice dice = { 11 };
	int n = -1;

	for (int round = 0; round < ROUNDS; round++) {
		int last = run_writer(path, n + 1, (int)dice_below(&dice, 40));

		n = expect_whole(path, last > n ? last : n);
	}
	ck_assert_int_gt(n, ROUNDS);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		killed_writer_loses_no_commit_and_leaves_none_by_half, NULL
	};
	Suite *suite = suite_create("store-crash");

	unit_case(suite, "store-crash", tests);
	return suite;
}
