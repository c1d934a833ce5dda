/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "loop.h"
#include "mem.h"
#include "store-world.h"
#include "unit.h"

static void
begin(struct store_world *world)
{
	store_world_open(world, unit_path("store.db"));
	ck_assert_msg(world->err.code == 0, "%s", world->err.msg);
}

static char *
body_with(const char *before, size_t len, const char *after)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, before);
	for (size_t i = 0; i < len; i++)
		buf_addc(&text, 'x');
	buf_adds(&text, after);
	return buf_take(&text);
}

/* --- records ------------------------------------------------------------ */

START_TEST(what_was_committed_is_loaded_again_in_its_order)
{
	struct store_world world;

	begin(&world);
	store_world_fill(&world);
	store_world_close(&world);
	begin(&world);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_str_eq(world.text.data,
	    "goal G/G {\"goalId\":\"G\",\"title\":\"Test\","
	    "\"status\":\"active\"}\n"
	    "node G/P1 {\"phaseId\":\"P1\",\"goalId\":\"G\","
	    "\"name\":\"Phase\",\"status\":\"in_progress\"}\n"
	    "node G/T1.1 {\"taskId\":\"T1.1\",\"goalId\":\"G\","
	    "\"parentId\":\"P1\",\"name\":\"Task\","
	    "\"status\":\"in_progress\"}\n"
	    "assignment G/A_1 {\"assignmentId\":\"A_1\",\"goalId\":\"G\","
	    "\"workNodeId\":\"T1.1\",\"status\":\"active\"}\n"
	    "dispatch G/D_1 {\"dispatchId\":\"D_1\","
	    "\"assignmentId\":\"A_1\",\"goalId\":\"G\",\"ts\":5,"
	    "\"mode\":\"sessions_send\"}\n"
	    "crystallization G/C_1 {\"crystallizationId\":\"C_1\","
	    "\"goalId\":\"G\",\"workNodeId\":\"T1.1\","
	    "\"summary\":\"half\"}\n");
	store_world_close(&world);
}
END_TEST

START_TEST(only_open_goals_are_loaded_and_others_can_be_read)
{
	struct store_world world;

	begin(&world);
	store_world_fill(&world);
	ck_assert_int_eq(store_world_put(&world, STORE_GOAL, "G", "G",
			     "{\"status\":\"completed\"}"),
	    0);
	ck_assert_int_eq(store_world_put(&world, STORE_GOAL, NULL, "H",
			     "{\"status\":\"paused\"}"),
	    0);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_str_eq(world.text.data, "goal H/H {\"status\":\"paused\"}\n");
	store_world_read(&world, STORE_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 2);
	store_world_read(&world, STORE_NODE, "G", NULL);
	ck_assert_uint_eq(world.records, 2);
	store_world_read(&world, STORE_NODE, NULL, "T1.1");
	ck_assert_uint_eq(world.records, 1);
	store_world_read(&world, STORE_NODE, "H", "T1.1");
	ck_assert_uint_eq(world.records, 0);
	store_world_read(&world, STORE_ASSIGNMENT, NULL, "A_1");
	ck_assert_uint_eq(world.records, 1);
	store_world_find(&world, STORE_NODE, "Task");
	ck_assert_uint_eq(world.records, 1);
	store_world_find(&world, STORE_NODE, "Nobody");
	ck_assert_uint_eq(world.records, 0);
	store_world_close(&world);
}
END_TEST

START_TEST(record_is_replaced_and_deleted)
{
	struct store_world world;

	begin(&world);
	store_world_fill(&world);
	store_world_put(&world, STORE_NODE, "G", "P1", "{\"status\":\"done\"}");
	store_world_read(&world, STORE_NODE, "G", "P1");
	ck_assert_str_eq(world.text.data, "node G/P1 {\"status\":\"done\"}\n");
	ck_assert_int_eq(
	    store_world_put(&world, STORE_NODE, "G", "P1", NULL), 0);
	store_world_read(&world, STORE_NODE, "G", NULL);
	ck_assert_uint_eq(world.records, 1);
	ck_assert_int_eq(
	    store_world_put(&world, STORE_GOAL, NULL, "G", NULL), 0);
	store_world_read(&world, STORE_GOAL, NULL, NULL);
	ck_assert_uint_eq(world.records, 0);
	store_world_close(&world);
}
END_TEST

START_TEST(failed_commit_changes_nothing_and_the_others_of_its_pass_stand)
{
	struct store_change good = { STORE_GOAL, NULL, "G",
		"{\"status\":\"active\"}" };
	struct store_change half[] = {
		{ STORE_GOAL, NULL, "H", "{\"status\":\"active\"}" },
		{ STORE_NODE, "H", "T1", "{\"status\":1}" },
	};
	struct store_event event = { .type = "goal.created" };
	struct store_world world;

	begin(&world);
	store_commit(
	    world.store, &good, 1, &event, 1, store_world_done, &world);
	store_commit(world.store, half, 2, &event, 1, store_world_done, &world);
	store_world_wait(&world, 3);
	ck_assert_int_eq(world.err.code, -EINVAL);
	good.id = "I";
	store_commit(
	    world.store, &good, 1, &event, 1, store_world_done, &world);
	store_world_wait(&world, 4);
	ck_assert_int_eq(world.err.code, 0);
	store_world_load(&world);
	ck_assert_str_eq(world.text.data,
	    "goal G/G {\"status\":\"active\"}\n"
	    "goal I/I {\"status\":\"active\"}\n");
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, 2);
	ck_assert_int_eq(world.last_seq, 2);
	store_world_close(&world);
}
END_TEST

/* The statement fails, not the check before it; there is no more in it that
 * could be undone. */
START_TEST(failed_commit_of_one_record_leaves_the_others_of_its_pass)
{
	const struct store_change second = { STORE_ASSIGNMENT, "G", "A_2",
		"{\"workNodeId\":\"T1.1\",\"status\":\"queued\"}" };
	struct store_event event = { .type = "test" };
	struct store_world world;
	int before;

	begin(&world);
	store_world_fill(&world);
	before = world.answers;
	store_commit(world.store, NULL, 0, &event, 1, store_world_done, &world);
	store_commit(
	    world.store, &second, 1, NULL, 0, store_world_done, &world);
	store_world_wait(&world, before + 2);
	ck_assert_int_eq(world.err.code, -EEXIST);
	store_commit(world.store, NULL, 0, &event, 1, store_world_done, &world);
	store_world_wait(&world, before + 3);
	ck_assert_int_eq(world.err.code, 0);
	store_world_events(&world, (struct store_filter){ .type = "test" });
	ck_assert_uint_eq(world.events, 2);
	store_world_read(&world, STORE_ASSIGNMENT, NULL, NULL);
	ck_assert_uint_eq(world.records, 1);
	store_world_close(&world);
}
END_TEST

START_TEST(node_never_has_two_live_assignments)
{
	const char *second = "{\"workNodeId\":\"T1.1\",\"status\":\"queued\"}";
	struct store_change swap[] = {
		{ STORE_ASSIGNMENT, "G", "A_1",
		    "{\"workNodeId\":\"T1.1\",\"status\":\"cancelled\"}" },
		{ STORE_ASSIGNMENT, "G", "A_2", second },
	};
	struct store_world world;

	begin(&world);
	store_world_fill(&world);
	ck_assert_int_eq(
	    store_world_put(&world, STORE_ASSIGNMENT, "G", "A_2", second),
	    -EEXIST);
	ck_assert_ptr_nonnull(strstr(world.err.msg, "end that one first"));
	ck_assert_int_eq(store_world_commit(&world, swap, 2, NULL, 0), 0);
	store_world_close(&world);
}
END_TEST

/* --- events ------------------------------------------------------------- */

START_TEST(event_with_a_known_key_is_not_added_again)
{
	struct store_event events[] = {
		{ .type = "a", .key = "D_1/sent" },
		{ .type = "b" },
		{ .type = "b" },
		{ .type = "c", .key = "D_1/sent" },
		{ .type = "d", .key = "D_1/done" },
	};
	struct store_world world;

	begin(&world);
	ck_assert_int_eq(store_world_commit(&world, NULL, 0, events, 5), 0);
	ck_assert_int_eq(store_world_commit(&world, NULL, 0, events, 1), 0);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_str_eq(world.text.data, "a -\nb -\nb -\nd -\n");
	ck_assert_int_eq(world.last_seq, 4);
	store_world_close(&world);
}
END_TEST

static const struct {
	struct store_filter filter;
	size_t count;
	int64_t first, last;
} filters[] = {
	{ { 0 }, 100, 1, 100 },
	{ { .newest_first = true }, 100, 100, 1 },
	{ { .limit = 3 }, 3, 1, 3 },
	{ { .limit = 3, .newest_first = true }, 3, 100, 98 },
	{ { .after_seq = 90 }, 10, 91, 100 },
	{ { .before_seq = 11, .newest_first = true }, 10, 10, 1 },
	{ { .goal_id = "G1" }, 50, 2, 100 },
	{ { .goal_id = "G1", .type = "t1" }, 0, 0, 0 },
	{ { .goal_id = "G1", .type = "t0", .limit = 2 }, 2, 4, 8 },
	{ { .type = "t1" }, 25, 1, 97 },
	{ { .assignment_id = "A3" }, 10, 3, 93 },
	{ { .node_id = "N2", .goal_id = "G1" }, 10, 2, 92 },
	{ { .worker = "w4", .newest_first = true }, 20, 99, 4 },
	{ { .task = "k5" }, 10, 5, 95 },
	{ { .task = "nobody" }, 0, 0, 0 },
	{ { .since_ms = 95000 }, 7, 50, 100 },
	{ { .since_ms = 200000 }, 1, 50, 50 },
	{ { .since_ms = 300000 }, 0, 0, 0 },
	{ { .since_ms = 98000, .worker = "w4" }, 1, 99, 99 },
};

START_TEST(events_are_found_by_every_filter)
{
	struct store_event events[100];
	char names[100][6][8];
	struct store_world world;

	for (int i = 0; i < 100; i++) {
		int n = i + 1;

		snprintf(names[i][0], 8, "t%d", n % 4);
		snprintf(names[i][1], 8, "G%d", n % 2 == 0);
		snprintf(names[i][2], 8, "A%d", n % 10);
		snprintf(names[i][3], 8, "N%d", n % 5);
		snprintf(names[i][4], 8, "w%d", n % 5);
		snprintf(names[i][5], 8, "k%d", n % 10);
		/* The clock was wrong once. */
		events[i] = (struct store_event){
			.ts_ms = n == 50 ? 200000 : n * 1000,
			.type = names[i][0],
			.goal_id = names[i][1],
			.assignment_id = names[i][2],
			.node_id = names[i][3],
			.worker = names[i][4],
			.task = names[i][5],
		};
	}
	begin(&world);
	ck_assert_int_eq(store_world_commit(&world, NULL, 0, events, 100), 0);
	for (size_t i = 0; i < nitems(filters); i++) {
		ck_assert_int_eq(
		    store_world_events(&world, filters[i].filter), 0);
		ck_assert_msg(world.events == filters[i].count &&
			world.first_seq == filters[i].first &&
			world.last_seq == filters[i].last,
		    "row %zu: %zu events, %lld to %lld", i, world.events,
		    (long long)world.first_seq, (long long)world.last_seq);
	}
	store_world_close(&world);
}
END_TEST

static void
on_event(const struct store_event *event, void *arg)
{
	buf_addf(arg, "%lld %s %s\n", (long long)event->seq, event->type,
	    event->data != NULL ? event->data : "-");
}

START_TEST(watch_gets_committed_events_as_they_were_stored)
{
	struct store_change wrong = { STORE_GOAL, NULL, "G", "{}" };
	struct store_event events[] = {
		{ .type = "a",
		    .key = "k",
		    .data = "{ \"password\" : \""
			    "hunter-two"
			    "\" }" },
		{ .type = "b", .key = "k" },
		{ .type = "c" },
	};
	cleanup_buf struct buf seen = BUF_INIT;
	struct store_watch *watch;
	struct store_world world;

	begin(&world);
	watch = store_watch_new(world.store, on_event, &seen);
	store_world_commit(&world, &wrong, 1, events, 3);
	store_world_commit(&world, NULL, 0, events, 3);
	ck_assert_str_eq(seen.data, "1 a {\"password\":\"[masked]\"}\n2 c -\n");
	store_watch_free(watch);
	store_world_commit(&world, NULL, 0, events + 2, 1);
	ck_assert_ptr_null(strstr(seen.data, "3 c"));
	store_world_close(&world);
}
END_TEST

/* --- the thread --------------------------------------------------------- */

#define MANY 3000

START_TEST(commits_of_a_pass_share_a_transaction)
{
	struct store_event event = { .type = "a" };
	struct store_world world;
	int64_t began = clock_mono_ms();

	begin(&world);
	for (int i = 0; i < MANY; i++)
		store_commit(
		    world.store, NULL, 0, &event, 1, store_world_done, &world);
	store_world_wait(&world, MANY + 1);
	/* One fsync each would take this long on no disk but a fake one. */
	ck_assert_int_lt(clock_mono_ms() - began, 20000);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, MANY);
	ck_assert_uint_gt(world.parts, 10);
	store_world_close(&world);
}
END_TEST

START_TEST(freed_store_has_written_everything_that_was_asked_for)
{
	struct store_event event = { .type = "a" };
	struct store_world world;

	begin(&world);
	for (int i = 0; i < 100; i++)
		store_commit(world.store, NULL, 0, &event, 1, NULL, NULL);
	store_world_close(&world);
	ck_assert(!file_exists(unit_path("store.db-wal")));
	begin(&world);
	store_world_events(&world, (struct store_filter){ 0 });
	ck_assert_uint_eq(world.events, 100);
	store_world_close(&world);
}
END_TEST

START_TEST(closed_store_refuses_requests)
{
	struct store_world world;

	begin(&world);
	store_close(world.store, store_world_done, &world);
	store_world_wait(&world, 2);
	ck_assert_int_eq(world.err.code, 0);
	ck_assert(!file_exists(unit_path("store.db-wal")));
	ck_assert_int_eq(
	    store_world_event(&world, (struct store_event){ .type = "a" }),
	    -ESHUTDOWN);
	ck_assert_int_eq(store_world_load(&world), -ESHUTDOWN);
	store_world_close(&world);
}
END_TEST

static void
free_store(const struct err *err, void *arg)
{
	struct store_world *world = arg;

	(void)err;
	store_free(world->store);
	world->store = NULL;
	world->answers++;
	loop_stop(world->loop, 0);
}

START_TEST(store_can_be_freed_from_its_own_callback)
{
	struct store_event event = { .type = "a" };
	struct store_world world;

	begin(&world);
	store_commit(world.store, NULL, 0, &event, 1, free_store, &world);
	store_commit(world.store, NULL, 0, &event, 1, free_store, &world);
	store_world_wait(&world, 2);
	ck_assert_ptr_null(world.store);
	store_world_close(&world);
}
END_TEST

START_TEST(long_answer_comes_in_small_parts)
{
	cleanup_free char *body =
	    body_with("{\"status\":\"todo\",\"name\":\"", 20000, "\"}");
	struct store_world world;
	char id[16];

	begin(&world);
	store_world_put(
	    &world, STORE_GOAL, NULL, "G", "{\"status\":\"active\"}");
	for (int i = 0; i < 400; i++) {
		struct store_change change = { STORE_NODE, "G", id, body };

		snprintf(id, sizeof id, "T%d", i);
		store_commit(
		    world.store, &change, 1, NULL, 0, store_world_done, &world);
	}
	store_world_wait(&world, 402);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_uint_eq(world.records, 401);
	ck_assert_uint_gt(world.parts, 90);
	store_world_close(&world);
}
END_TEST

START_TEST(loop_waits_for_the_thread_in_virtual_time)
{
	struct store_world world;

	clock_virtual_begin(1000, 2000);
	begin(&world);
	store_world_fill(&world);
	ck_assert_int_eq(store_world_load(&world), 0);
	ck_assert_int_eq(clock_mono_ms(), 1000);
	store_world_close(&world);
	clock_virtual_end();
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		what_was_committed_is_loaded_again_in_its_order,
		only_open_goals_are_loaded_and_others_can_be_read,
		record_is_replaced_and_deleted,
		failed_commit_of_one_record_leaves_the_others_of_its_pass,
		failed_commit_changes_nothing_and_the_others_of_its_pass_stand,
		node_never_has_two_live_assignments,
		event_with_a_known_key_is_not_added_again,
		events_are_found_by_every_filter,
		watch_gets_committed_events_as_they_were_stored,
		commits_of_a_pass_share_a_transaction,
		freed_store_has_written_everything_that_was_asked_for,
		closed_store_refuses_requests,
		store_can_be_freed_from_its_own_callback,
		long_answer_comes_in_small_parts,
		loop_waits_for_the_thread_in_virtual_time,
		NULL,
	};
	Suite *suite = suite_create("store");

	unit_case(suite, "store", tests);
	return suite;
}
