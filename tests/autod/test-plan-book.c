/* SPDX-License-Identifier: ISC */

/* The plans in memory are those of the book. What it cannot take now is written
 * later, and what it refuses is undone. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "buf.h"
#include "emit.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "plan-book.h"
#include "plan-floor.h"
#include "plan-world.h"
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
count_call(void *arg)
{
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
		book_add_event(world->world.core->book,
		    &(struct book_event){ .type = "test",
			.goal_id = "goal_a",
			.data = data.data },
		    NULL);
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

static bool
are_three(void *arg)
{
	return times_told(arg, " unwritten;") >= 3;
}

void
unit_begin(void)
{
	unit_hurry(TIMES);
}

TEST(what_the_disk_does_not_take_is_written_later)
{
	struct plan_world world;
	int calls = 0;

	begin(&world);
	fill_disk(&world);
	persist_then(world.world.core, &calls, count_call, &calls);
	/* Tried again, and told once. */
	floor_world_wait(&world.world.floor, are_three, &world);
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

TEST(events_that_cannot_be_kept_are_counted_and_changes_are_kept)
{
	struct ending ending = { 0 };
	struct plan_world world;
	struct plan_node *node;

	begin(&world);
	emit_subscribe(world.world.core, on_event, &ending);
	fill_disk(&world);
	for (int i = 0; i < 10500; i++)
		emit(world.world.core,
		    &(struct event){ .kind = EVENT_TICK, .reason = "test" });
	emit(world.world.core,
	    &(struct event){ .kind = EVENT_STALLED, .goal = "goal_a" });
	node = plan_world_node(&world, "goal_a", "T1.1");
	xstrset(&node->objective, "kept");
	plan_book_record(world.floor, BOOK_NODE, "goal_a", "T1.1");
	limit_files(RLIM_INFINITY);
	floor_world_wait(&world.world.floor, is_written, &world);
	plan_world_settle(&world);
	ck_assert_int_eq(ending.count, 1);
	ck_assert_int_ge(ending.lost, 500);
	ck_assert_int_lt(ending.lost, 600);
	ck_assert_int_eq(plan_world_events(&world, "overseer.stalled"), 1);
	emit_unsubscribe(world.world.core, on_event, &ending);
	plan_world_reopen(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "kept");
	plan_world_end(&world);
}

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

TEST(while_the_store_cannot_be_written_no_plan_is_changed)
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

TEST(who_finds_out_that_it_cannot_be_written_is_told_at_once)
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
	ck_assert_int_eq(plan_world_plan(&world, "goal_a")->goal->status,
	    refused ? GOAL_ACTIVE : GOAL_PAUSED);
	plan_world_end(&world);
}

/* --- what the store refuses -------------------------------------------- */

/* Over the bound of a record. */
static void
spoil(struct plan_world *world, const char *goal, const char *id)
{
	struct plan_node *node = plan_world_node(world, goal, id);

	free(node->objective);
	node->objective = xcalloc(1, BOOK_BODY_MAX + 1);
	memset(node->objective, 'x', BOOK_BODY_MAX);
	plan_book_record(world->floor, BOOK_NODE, goal, id);
}

TEST(what_the_book_refuses_is_undone_and_the_rest_is_kept)
{
	cleanup_free char *before = NULL, *after = NULL;
	struct plan_world world;
	struct plan_node *node;
	int calls = 0;

	begin(&world);
	plan_world_goal(&world, "goal_b", 1);
	before = plan_text(&world);
	/* Nothing of this goal is kept. */
	node = plan_world_node(&world, "goal_a", "T1.1");
	xstrset(&node->objective, "lost");
	plan_book_record(world.floor, BOOK_NODE, "goal_a", "T1.1");
	spoil(&world, "goal_a", "T1.2");
	node = plan_world_node(&world, "goal_b", "T1.1");
	xstrset(&node->objective, "good");
	plan_book_record(world.floor, BOOK_NODE, "goal_b", "T1.1");
	persist_then(world.world.core, &world, count_call, &calls);
	floor_world_wait(&world.world.floor, was_called, &calls);
	plan_world_settle(&world);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(times_told(&world, "store.refused;"), 1);
	/* As before, but paused; and so it is in the book. */
	ck_assert_int_eq(
	    plan_world_plan(&world, "goal_a")->goal->status, GOAL_PAUSED);
	plan_world_plan(&world, "goal_a")->goal->status = GOAL_ACTIVE;
	after = plan_text(&world);
	ck_assert_uint_eq(strlen(before), strlen(after));
	plan_world_reopen(&world);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	ck_assert_int_eq(
	    plan_world_plan(&world, "goal_a")->goal->status, GOAL_PAUSED);
	ck_assert_ptr_null(
	    plan_world_node(&world, "goal_a", "T1.1")->objective);
	ck_assert_ptr_null(
	    plan_world_node(&world, "goal_a", "T1.2")->objective);
	ck_assert_str_eq(
	    plan_world_node(&world, "goal_b", "T1.1")->objective, "good");
	plan_world_end(&world);
}

/* The pass in which a person pauses it. */
static void
on_paused(const struct event *event, void *arg)
{
	struct plan_world *world = arg;

	if (event->kind == EVENT_GOAL_PAUSED &&
	    strcmp(event->goal, "goal_a") == 0 &&
	    strcmp(event->actor, "person") == 0)
		spoil(world, "goal_a", "T1.2");
}

TEST(a_refused_change_is_the_error_of_its_caller)
{
	struct floor_call *call;
	struct plan_world world;
	const char *error;

	begin_live(&world);
	plan_world_goal(&world, "goal_b", 1);
	emit_subscribe(world.world.core, on_paused, &world);
	call =
	    floor_world_ask(&world.world.floor, "overseer.goal.pause", PAUSE);
	ck_assert_ptr_null(
	    ask(&world, "overseer.goal.pause", "{\"goal\":\"goal_b\"}"));
	error = floor_world_answer(&world.world.floor, call);
	emit_unsubscribe(world.world.core, on_paused, &world);
	ck_assert_msg(error != NULL &&
		strstr(error, "nothing was changed") != NULL &&
		strstr(error, "node T1.2") != NULL,
	    "%s", error);
	plan_world_settle(&world);
	ck_assert_ptr_null(ask(&world, "overseer.goal.resume", PAUSE));
	plan_world_end(&world);
}

TEST(a_goal_that_was_never_stored_is_gone)
{
	struct plan_world world;
	struct plan *plan;

	begin(&world);
	plan = plan_new(plan_goal_new("goal_new", "New", 1));
	ck_assert_int_eq(
	    plan_set_add(plan_floor_set(world.floor), plan, NULL), 0);
	free(plan->goal->problem_statement);
	plan->goal->problem_statement = xcalloc(1, BOOK_GOAL_MAX + 1);
	memset(plan->goal->problem_statement, 'x', BOOK_GOAL_MAX);
	plan_book_record(world.floor, BOOK_GOAL, "goal_new", "goal_new");
	plan_world_settle(&world);
	ck_assert_ptr_null(plan_world_plan(&world, "goal_new"));
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	plan_world_end(&world);
}

/* --- reading ------------------------------------------------------------ */

TEST(what_was_stored_is_read_again)
{
	cleanup_free char *before = NULL, *after = NULL;
	struct plan_world world;

	begin(&world);
	before = plan_text(&world);
	plan_world_reopen(&world);
	after = plan_text(&world);
	ck_assert_str_eq(before, after);
	plan_world_end(&world);
}

/* The book checks what it needs itself; a parent that is missing is found when
 * the plan is built. */
TEST(a_record_that_fits_no_plan_turns_goals_off)
{
	struct plan_world world;

	begin(&world);
	ck_assert_int_eq(
	    book_put_body(world.world.core->book, BOOK_NODE, "goal_a", "T9.9",
		"{\"id\":\"T9.9\",\"goalId\":\"goal_a\","
		"\"kind\":\"task\",\"parentId\":\"P9\","
		"\"order\":1,\"name\":\"Lost\","
		"\"status\":\"todo\",\"createdAt\":1,"
		"\"updatedAt\":1}",
		NULL),
	    0);
	plan_world_settle(&world);
	plan_world_reopen(&world);
	ck_assert_int_eq(world.floor->state, PLAN_SAFE);
	ck_assert_msg(strstr(world.floor->why, "T9.9") != NULL &&
		strstr(world.floor->why, "sqlite3 .llmc/llmc.db") != NULL,
	    "%s", world.floor->why);
	plan_world_end(&world);
}

/* A record that changes twice is stored as it is in the end. */
TEST(the_last_state_of_a_record_is_stored)
{
	struct plan_world world;
	struct plan_node *node;

	begin(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	for (int i = 0; i < 2; i++) {
		xstrset(&node->objective, i == 0 ? "first" : "last");
		plan_book_record(world.floor, BOOK_NODE, "goal_a", "T1.1");
	}
	plan_world_settle(&world);
	plan_world_reopen(&world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(node->objective, "last");
	plan_world_end(&world);
}

/* Earlier versions kept one for each task of a pool. */
TEST(a_goal_of_a_pool_task_is_left_alone)
{
	struct plan_world world;
	struct json_object *list;

	begin(&world);
	plan_world_plan(&world, "goal_a")->goal->implicit = true;
	plan_book_record(world.floor, BOOK_GOAL, "goal_a", "goal_a");
	plan_world_settle(&world);
	plan_world_reopen(&world);
	plan_world_live(&world);
	ck_assert_int_eq(world.floor->state, PLAN_OPEN);
	ck_assert_ptr_null(plan_world_plan(&world, "goal_a"));
	list = json_object_object_get(
	    plan_world_must(&world, "overseer.goal.list", "{}"), "goals");
	ck_assert_uint_eq(json_object_array_length(list), 0);
	plan_world_end(&world);
}
