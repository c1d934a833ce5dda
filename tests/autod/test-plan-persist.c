/* SPDX-License-Identifier: ISC */

/* What the store cannot take now is written later, and what it refuses is
 * undone. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "buf.h"
#include "clock.h"
#include "emit.h"
#include "json.h"
#include "mem.h"
#include "plan-floor.h"
#include "plan-persist.h"
#include "plan-world.h"
#include "planbook.h"
#include "store.h"
#include "unit.h"

#define SMALL_FILE ((rlim_t)16 * 1024)
#define TIMES      20 /* as fast as the machine's clock */

static char *
plan_text(struct plan_world *world)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *json =
	    plan_to_json(plan_world_plan(world, "goal_a"));

	json_print(json, true, &text);
	json_object_put(json);
	return xstrdup(text.data);
}

static void
begin(struct plan_world *world)
{
	plan_world_begin(world, NULL, NULL);
	plan_world_goal(world, "goal_a", 3);
}

static void
count_call(const struct err *err, void *arg)
{
	ck_assert_ptr_null(err);
	++*(int *)arg;
}

static bool
was_called(void *arg)
{
	return *(int *)arg > 0;
}

static void
limit_files(rlim_t size)
{
	const struct rlimit limit = { size, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* More than the limit, so that the log of the database cannot grow to it. */
static void
tell_much(struct plan_world *world)
{
	cleanup_buf struct buf data = BUF_INIT;

	buf_adds(&data, "{\"text\":\"");
	for (int i = 0; i < 1500; i++)
		buf_addc(&data, 'x');
	buf_adds(&data, "\"}");
	for (int i = 0; i < 40; i++)
		plan_persist_event(plan_floor_persist(world->floor),
		    &(struct store_event){ .type = "test",
			.goal_id = "goal_a",
			.data = data.data });
}

static int
times_told(const struct plan_world *world, const char *event)
{
	const char *at = world->world.told.data;
	int count = 0;

	for (; (at = strstr(at, event)) != NULL; at += strlen(event))
		count++;
	return count;
}

static bool
is_unwritten(void *arg)
{
	return times_told(arg, "store.unwritten;") > 0;
}

static bool
is_written(void *arg)
{
	return times_told(arg, "store.written;") > 0;
}

/* A disk without space, and something that has to be stored. */
static void
fill_disk(struct plan_world *world)
{
	signal(SIGXFSZ, SIG_IGN);
	limit_files(SMALL_FILE);
	tell_much(world);
	floor_world_wait(&world->world.floor, is_unwritten, world);
}

struct tries {
	const struct plan_world *world;
	int64_t began_ms;
};

static bool
are_five(void *arg)
{
	const struct tries *tries = arg;

	return plan_persist_tries(plan_floor_persist(tries->world->floor)) >= 5;
}

START_TEST(what_the_disk_does_not_take_is_written_later)
{
	struct plan_world world;
	struct tries tries = { .world = &world };
	int calls = 0;

	begin(&world);
	fill_disk(&world);
	plan_persist_then(
	    plan_floor_persist(world.floor), &calls, NULL, count_call, &calls);
	/* Each after a longer wait, and told once. */
	tries.began_ms = clock_mono_ms();
	floor_world_wait(&world.world.floor, are_five, &tries);
	ck_assert_int_ge(clock_mono_ms() - tries.began_ms, 2000 + 4000 + 8000);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(times_told(&world, "store.unwritten;"), 1);
	limit_files(RLIM_INFINITY);
	floor_world_wait(&world.world.floor, was_called, &calls);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(plan_world_events(&world, "test"), 40);
	ck_assert_int_eq(plan_world_events(&world, "store.written"), 1);
	ck_assert_int_eq(times_told(&world, "store.unwritten;"), 1);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	plan_world_end(&world);
}
END_TEST

struct ending {
	int count;
	int64_t lost;
};

static void
on_event(const struct event *event, void *arg)
{
	struct ending *ending = arg;

	if (event->kind != EVENT_STORE_WRITTEN)
		return;
	ending->count++;
	ending->lost += event->count;
}

START_TEST(events_that_cannot_be_kept_are_counted_and_changes_are_kept)
{
	const struct store_event loose = { .type = "loose" };
	const struct store_event bound = { .type = "bound",
		.goal_id = "goal_a" };
	struct ending ending = { 0 };
	struct plan_persist *persist;
	struct plan_world world;
	struct plan_node *node;

	begin(&world);
	emit_subscribe(world.world.core, on_event, &ending);
	persist = plan_floor_persist(world.floor);
	fill_disk(&world);
	for (int i = 0; i < PLAN_PERSIST_EVENTS_MAX + 500; i++)
		plan_persist_event(persist, &loose);
	plan_persist_event(persist, &bound);
	node = plan_world_node(&world, "goal_a", "T1.1");
	xstrset(&node->objective, "kept");
	plan_persist_record(persist, STORE_NODE, "goal_a", "T1.1");
	limit_files(RLIM_INFINITY);
	floor_world_wait(&world.world.floor, is_written, &world);
	plan_world_settle(&world);
	ck_assert_int_eq(ending.count, 1);
	ck_assert_int_gt(ending.lost, 500);
	ck_assert_int_lt(ending.lost, 600);
	ck_assert_int_eq(plan_world_events(&world, "bound"), 1);
	emit_unsubscribe(world.world.core, on_event, &ending);
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "kept");
	plan_world_end(&world);
}
END_TEST

START_TEST(events_that_are_large_are_counted_sooner)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct ending ending = { 0 };
	struct plan_world world;
	int made = (int)(2 * PLAN_PERSIST_BYTES_MAX / 10000);

	buf_adds(&data, "{\"text\":\"");
	for (int i = 0; i < 10000; i++)
		buf_addc(&data, 'x');
	buf_adds(&data, "\"}");
	begin(&world);
	emit_subscribe(world.world.core, on_event, &ending);
	fill_disk(&world);
	for (int i = 0; i < made; i++)
		plan_persist_event(plan_floor_persist(world.floor),
		    &(struct store_event){
			.type = "large", .data = data.data });
	limit_files(RLIM_INFINITY);
	floor_world_wait(&world.world.floor, is_written, &world);
	ck_assert_int_gt(ending.lost, made / 3);
	emit_unsubscribe(world.world.core, on_event, &ending);
	plan_world_end(&world);
}
END_TEST

static const char *
ask(struct plan_world *world, const char *method, const char *params)
{
	return floor_world_answer(&world->world.floor,
	    floor_world_ask(&world->world.floor, method, params));
}

/* For calls; and nobody takes the nodes. */
static void
begin_live(struct plan_world *world)
{
	plan_world_begin(world, "allow_agents = [\"eve\"]\n", NULL);
	plan_world_goal(world, "goal_a", 3);
	plan_world_live(world);
}

#define PAUSE "{\"goal\":\"goal_a\"}"

START_TEST(while_the_store_cannot_be_written_no_plan_is_changed)
{
	struct plan_world world;
	const char *error;

	begin_live(&world);
	fill_disk(&world);
	error = ask(&world, "overseer.goal.pause", PAUSE);
	ck_assert_msg(error != NULL && strstr(error, "cannot be written") &&
		strstr(error, "space"),
	    "%s", error);
	error = ask(&world, "overseer.work.update",
	    "{\"goal\":\"goal_a\",\"node\":\"T1.1\",\"priority\":\"high\"}");
	ck_assert_msg(
	    error != NULL && strstr(error, "cannot be written"), "%s", error);
	ck_assert_ptr_nonnull(ask(&world, "overseer.tick", "{}"));
	ck_assert_ptr_null(ask(&world, "overseer.goal.show", PAUSE));
	ck_assert_int_eq(
	    plan_world_plan(&world, "goal_a")->goal->status, GOAL_ACTIVE);
	limit_files(RLIM_INFINITY);
	/* A person who tries it need not wait for the next time. */
	ck_assert_ptr_nonnull(ask(&world, "overseer.goal.pause", PAUSE));
	floor_world_wait(&world.world.floor, is_written, &world);
	ck_assert_ptr_null(ask(&world, "overseer.goal.pause", PAUSE));
	plan_world_end(&world);
}
END_TEST

START_TEST(who_finds_out_that_it_cannot_be_written_is_told_at_once)
{
	struct plan_world world;
	const char *error;
	bool refused;

	begin_live(&world);
	signal(SIGXFSZ, SIG_IGN);
	limit_files(SMALL_FILE);
	tell_much(&world);
	error = ask(&world, "overseer.goal.pause", PAUSE);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, "space") != NULL, "%s", error);
	/* On a slow machine the store knows it before the change is made. */
	refused = strstr(error, "no plan is changed now") != NULL;
	ck_assert_msg(refused || strstr(error, "the change is kept") != NULL,
	    "%s", error);
	limit_files(RLIM_INFINITY);
	floor_world_wait(&world.world.floor, is_written, &world);
	plan_world_settle(&world);
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	ck_assert_int_eq(plan_world_plan(&world, "goal_a")->goal->status,
	    refused ? GOAL_ACTIVE : GOAL_PAUSED);
	plan_world_end(&world);
}
END_TEST

/* --- what the store refuses -------------------------------------------- */

struct answer {
	int calls;
	struct err err;
};

static void
on_answer(const struct err *err, void *arg)
{
	struct answer *answer = arg;

	answer->calls++;
	if (err != NULL)
		answer->err = *err;
}

static bool
is_answered(void *arg)
{
	return ((const struct answer *)arg)->calls > 0;
}

/* Over the bound of a record. */
static void
spoil(struct plan_world *world, const char *goal, const char *id)
{
	struct plan_node *node = plan_world_node(world, goal, id);

	free(node->objective);
	node->objective = xcalloc(1, STORE_BODY_MAX + 1);
	memset(node->objective, 'x', STORE_BODY_MAX);
	plan_persist_record(
	    plan_floor_persist(world->floor), STORE_NODE, goal, id);
}

START_TEST(what_the_store_refuses_is_undone_and_the_rest_is_stored)
{
	struct answer refused = { 0 }, stored = { 0 }, all = { 0 };
	cleanup_free char *before = NULL, *after = NULL;
	struct plan_persist *persist;
	struct plan_world world;
	struct plan_node *node;

	begin(&world);
	plan_world_goal(&world, "goal_b", 1);
	persist = plan_floor_persist(world.floor);
	before = plan_text(&world);
	spoil(&world, "goal_a", "T1.2");
	node = plan_world_node(&world, "goal_b", "T1.1");
	xstrset(&node->objective, "good");
	plan_persist_record(persist, STORE_NODE, "goal_b", "T1.1");
	plan_persist_event(persist, &(struct store_event){ .type = "loose" });
	plan_persist_then(persist, &world, "goal_a", on_answer, &refused);
	plan_persist_then(persist, &world, "goal_b", on_answer, &stored);
	plan_persist_then(persist, &world, NULL, on_answer, &all);
	floor_world_wait(&world.world.floor, is_answered, &all);
	plan_world_settle(&world);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(refused.calls, 1);
	ck_assert_int_eq(refused.err.code, -E2BIG);
	ck_assert_msg(
	    strstr(refused.err.msg, "T1.2") != NULL, "%s", refused.err.msg);
	ck_assert_int_eq(stored.calls, 1);
	ck_assert_int_eq(stored.err.code, 0);
	ck_assert_int_eq(all.err.code, 0);
	ck_assert_int_eq(times_told(&world, "store.refused;"), 1);
	ck_assert_int_eq(plan_world_events(&world, "loose"), 1);
	/* As before, but paused; and so it is in the store. */
	ck_assert_int_eq(
	    plan_world_plan(&world, "goal_a")->goal->status, GOAL_PAUSED);
	plan_world_plan(&world, "goal_a")->goal->status = GOAL_ACTIVE;
	after = plan_text(&world);
	ck_assert_uint_eq(strlen(before), strlen(after));
	plan_world_reopen(&world);
	plan_world_wait_open(&world);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(
	    plan_world_plan(&world, "goal_a")->goal->status, GOAL_PAUSED);
	ck_assert_ptr_null(
	    plan_world_node(&world, "goal_a", "T1.2")->objective);
	ck_assert_str_eq(
	    plan_world_node(&world, "goal_b", "T1.1")->objective, "good");
	plan_world_end(&world);
}
END_TEST

/* The second call of the same pass fails with the first; later ones do not. */
START_TEST(a_refused_change_is_the_error_of_its_caller)
{
	struct floor_call *call;
	struct plan_world world;
	const char *error;

	begin_live(&world);
	plan_world_goal(&world, "goal_b", 1);
	spoil(&world, "goal_a", "T1.2");
	call =
	    floor_world_ask(&world.world.floor, "overseer.goal.pause", PAUSE);
	ck_assert_ptr_null(
	    ask(&world, "overseer.goal.pause", "{\"goal\":\"goal_b\"}"));
	error = floor_world_answer(&world.world.floor, call);
	ck_assert_msg(error != NULL &&
		strstr(error, "nothing was changed") != NULL &&
		strstr(error, "node T1.2") != NULL,
	    "%s", error);
	plan_world_settle(&world);
	ck_assert_ptr_null(ask(&world, "overseer.goal.resume", PAUSE));
	plan_world_end(&world);
}
END_TEST

/* What else changes while the goal is read again is built on what was refused,
 * and lost too. */
START_TEST(nothing_is_stored_about_a_goal_that_is_read_again)
{
	struct answer first = { 0 }, second = { 0 };
	struct plan_persist *persist;
	struct plan_world world;

	begin(&world);
	persist = plan_floor_persist(world.floor);
	spoil(&world, "goal_a", "T1.2");
	plan_persist_then(persist, &world, "goal_a", on_answer, &first);
	floor_world_wait_closely(&world.world.floor, is_answered, &first);
	xstrset(&plan_world_node(&world, "goal_a", "T1.1")->objective, "late");
	plan_persist_record(persist, STORE_NODE, "goal_a", "T1.1");
	plan_persist_then(persist, &world, "goal_a", on_answer, &second);
	floor_world_wait(&world.world.floor, is_answered, &second);
	ck_assert_int_eq(second.err.code, -E2BIG);
	plan_world_settle(&world);
	ck_assert_ptr_null(
	    plan_world_node(&world, "goal_a", "T1.1")->objective);
	plan_world_end(&world);
}
END_TEST

START_TEST(a_goal_that_was_never_stored_is_gone)
{
	struct plan_world world;
	struct plan *plan;

	begin(&world);
	plan = plan_new(plan_goal_new("goal_new", "New", 1));
	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(world.floor), plan, NULL), 0);
	free(plan->goal->problem_statement);
	plan->goal->problem_statement = xcalloc(1, STORE_GOAL_MAX + 1);
	memset(plan->goal->problem_statement, 'x', STORE_GOAL_MAX);
	plan_persist_record(plan_floor_persist(world.floor), STORE_GOAL,
	    "goal_new", "goal_new");
	plan_world_settle(&world);
	ck_assert_ptr_null(plan_world_plan(&world, "goal_new"));
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	plan_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("plan-persist");

	unit_hurry(TIMES);
	unit_case(suite, "the store",
	    (const TTest *const[]){
		what_the_disk_does_not_take_is_written_later,
		events_that_cannot_be_kept_are_counted_and_changes_are_kept,
		events_that_are_large_are_counted_sooner,
		while_the_store_cannot_be_written_no_plan_is_changed,
		who_finds_out_that_it_cannot_be_written_is_told_at_once,
		what_the_store_refuses_is_undone_and_the_rest_is_stored,
		a_refused_change_is_the_error_of_its_caller,
		nothing_is_stored_about_a_goal_that_is_read_again,
		a_goal_that_was_never_stored_is_gone, NULL });
	return suite;
}
