/* SPDX-License-Identifier: ISC */

/* Hooks that found nobody home: taken from the spool, and removed only when
 * what they changed is written. */
#include <check.h>
#include <stdlib.h>

#include "agent.h"
#include "fleet-world.h"
#include "fleet.h"
#include "hooks.h"
#include "unit.h"

static const char typed_text[] = "{\"prompt\":\"typed by hand\"}";

/* How many events lie in the spool. */
static int
spooled(struct fleet_world *world)
{
	const char *count = floor_world_sh(
	    &world->floor, "ls .llmc/run/adam/spool | grep -c json || true");

	return (int)strtol(count, NULL, 10);
}

static bool
is_empty(void *arg)
{
	return spooled(arg) == 0;
}

static bool
store_waits(void *arg)
{
	return floor_world_store_waits(arg);
}

/* Somebody typed a prompt into the session of adam, who is idle; the daemon has
 * heard of it, but not that it is written. */
static void
type_unwritten(struct fleet_world *world, bool written)
{
	fleet_world_begin_idle(world, NULL);
	floor_world_settle(&world->floor);
	world->floor.store_held = !written;
	world->floor.store_untold = written;
	fleet_world_spool(world, world->adam, "UserPromptSubmit", typed_text);
	floor_world_wait(&world->floor, store_waits, &world->floor);
	fleet_world_moved(world, "adam:working ");
	ck_assert_int_eq(spooled(world), 1);
}

TEST(removed_after_the_write)
{
	struct fleet_world world;

	type_unwritten(&world, false);
	/* It is not taken again, however often somebody looks. */
	for (int i = 0; i < 3; i++)
		hooks_drain(world.floor.fleet->hooks);
	ck_assert_int_eq(spooled(&world), 1);
	fleet_world_moved(&world, "");
	floor_world_store_answer(&world.floor);
	floor_world_wait(&world.floor, is_empty, &world);
	ck_assert_str_eq(world.adam->worker->prompt, "typed by hand");
	fleet_world_end(&world);
}

#define MANY 140

static bool
many_are_open(void *arg)
{
	return ((const struct fleet_world *)arg)
		   ->adam->worker->session.open_tools >= MANY;
}

/* Also of more events than a session remembers the ids of. */
TEST(many_that_wait_for_the_write)
{
	struct fleet_world world;
	const int many = MANY;

	type_unwritten(&world, false);
	for (int i = 0; i < many; i++)
		fleet_world_spool(&world, world.adam, "PreToolUse", "{}");
	floor_world_wait(&world.floor, many_are_open, &world);
	for (int i = 0; i < 2; i++) {
		hooks_drain(world.floor.fleet->hooks);
		ck_assert_int_eq(world.adam->worker->session.open_tools, many);
	}
	ck_assert_int_eq(spooled(&world), 1 + many);
	floor_world_store_answer(&world.floor);
	floor_world_wait(&world.floor, is_empty, &world);
	ck_assert_int_eq(world.adam->worker->session.open_tools, many);
	fleet_world_end(&world);
}

/* The daemon dies before the write, or between the write and the removal: the
 * next one finds the event, and it counts once. */
TEST_ROWS(a_daemon_that_dies_in_between, 2)
{
	bool written = _i == 1;
	struct fleet_world world;

	type_unwritten(&world, written);
	world.floor.store_held = world.floor.store_untold = false;
	fleet_world_reopen(&world);
	ck_assert_int_eq(world.told[EVENT_ADOPTED], 1);
	floor_world_wait(&world.floor, is_empty, &world);
	fleet_world_moved(&world, written ? "" : "adam:working ");
	ck_assert_int_eq(world.adam->worker->status, WORKER_WORKING);
	ck_assert_str_eq(world.adam->worker->prompt, "typed by hand");
	ck_assert(world.adam->worker->session.busy);
	fleet_world_end(&world);
}

/* A Stop that nobody heard ends the turn once, whoever dies over it. */
TEST_ROWS(a_stop_that_comes_again, 2)
{
	struct fleet_world world;

	fleet_world_begin_working(&world, NULL);
	floor_world_wt(&world.floor, "adam",
	    "echo two >b.txt; git add b.txt; git commit -qm 'by adam'");
	floor_world_settle(&world.floor);
	world.floor.store_held = _i == 0;
	world.floor.store_untold = _i == 1;
	fleet_world_spool(&world, world.adam, "Stop", "{}");
	floor_world_wait(&world.floor, store_waits, &world.floor);
	buf_clear(&world.moves);
	world.floor.store_held = world.floor.store_untold = false;
	fleet_world_reopen(&world);
	floor_world_wait_status(&world.floor, world.adam, WORKER_NEEDS_REVIEW);
	floor_world_wait(&world.floor, is_empty, &world);
	floor_world_settle(&world.floor);
	fleet_world_moved(&world, "adam:needs_review ");
	fleet_world_end(&world);
}

static void
stop_early(struct fleet_world *world)
{
	fleet_world_spool(
	    world, fleet_find(world->floor.fleet, "adam"), "Stop", "{}");
	fleet_world_run(world, 50); /* whoever watches it looks */
	ck_assert_int_eq(spooled(world), 1);
}

/* The next daemon is there, and has not found the session yet. */
TEST(a_stop_before_the_session_is_adopted)
{
	struct fleet_world world;

	fleet_world_begin_working(&world, NULL);
	floor_world_wt(&world.floor, "adam",
	    "echo two >b.txt; git add b.txt; git commit -qm 'by adam'");
	floor_world_settle(&world.floor);
	world.unbegun = stop_early;
	fleet_world_reopen(&world);
	floor_world_wait_status(&world.floor, world.adam, WORKER_NEEDS_REVIEW);
	floor_world_wait(&world.floor, is_empty, &world);
	fleet_world_end(&world);
}

/* A state that cannot be written keeps them, too. */
TEST(the_state_cannot_be_written)
{
	struct fleet_world world;

	fleet_world_begin_idle(&world, NULL);
	floor_world_settle(&world.floor);
	world.floor.store_fails = true;
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	floor_world_wait_status(&world.floor, world.adam, WORKER_WORKING);
	fleet_world_run(&world, 50);
	ck_assert_int_ge(world.told[EVENT_STATE_UNWRITTEN], 1);
	ck_assert_int_eq(spooled(&world), 1);
	world.floor.store_fails = false;
	floor_world_wait(&world.floor, is_empty, &world);
	fleet_world_moved(&world, "adam:working ");
	fleet_world_end(&world);
}

/* What was said first is heard first, also when the next hook finds us. */
TEST(the_spool_comes_first)
{
	struct fleet_world world;
	struct floor_call *call;

	fleet_world_begin_idle(&world, NULL);
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	call = fleet_world_hook(&world, world.adam, "Stop", "{}");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	fleet_world_moved(&world, "adam:working adam:no_changes ");
	floor_world_wait(&world.floor, is_empty, &world);
	fleet_world_end(&world);
}

/* More than are taken at once, and what is of no use to anybody. */
TEST(a_full_spool)
{
	struct fleet_world world;

	fleet_world_begin_idle(&world, NULL);
	floor_world_sh(&world.floor,
	    "mkdir -p .llmc/run/adam/spool; "
	    "echo nonsense >.llmc/run/adam/spool/01HF7YAT00TESTTESTTESTTEST.json");
	for (int i = 0; i < 40; i++)
		fleet_world_spool(&world, world.adam, "PreToolUse", "{}");
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	floor_world_wait(&world.floor, is_empty, &world);
	ck_assert_int_eq(world.adam->worker->session.open_tools, 40);
	fleet_world_moved(&world, "adam:working ");
	fleet_world_end(&world);
}

static void
on_drained(void *arg)
{
	*(bool *)arg = true;
}

/* A flood is taken in portions: others are served meanwhile, a hook that comes
 * later has its turn after it, and nothing counts twice. */
TEST(a_flood)
{
	struct fleet_world world;
	struct floor_call *call;
	struct agent *adam;
	const int many = 700;
	bool drained = false;

	fleet_world_begin_idle(&world, NULL);
	adam = world.adam;
	for (int i = 0; i < many; i++)
		fleet_world_spool(&world, adam, "PreToolUse", "{}");
	hooks_drain_then(world.floor.fleet->hooks, on_drained, &drained);
	ck_assert_int_gt(adam->worker->session.open_tools, 0);
	ck_assert_int_lt(adam->worker->session.open_tools, many / 2);
	ck_assert(!drained);
	call = fleet_world_hook(&world, adam, "PostToolUse", "{}");
	ck_assert(!drained);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert(drained);
	ck_assert_int_eq(adam->worker->session.open_tools, many - 1);
	floor_world_wait(&world.floor, is_empty, &world);
	ck_assert_int_eq(adam->worker->session.open_tools, many - 1);
	fleet_world_end(&world);
}

/* Of a session before this one, of a worker that there is not. */
TEST(what_is_not_for_us_is_removed)
{
	struct fleet_world world;

	fleet_world_begin_idle(&world, NULL);
	world.adam->worker->session.generation--;
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	world.adam->worker->session.generation++;
	floor_world_sh(&world.floor,
	    "sed s/adam/eve/ .llmc/run/adam/spool/*.json "
	    ">.llmc/run/adam/spool/01HF7YAT00TESTTESTTESTTEST.json");
	floor_world_wait(&world.floor, is_empty, &world);
	fleet_world_moved(&world, "");
	fleet_world_end(&world);
}

static bool
common_is_empty(void *arg)
{
	struct fleet_world *world = arg;
	const char *count = floor_world_sh(
	    &world->floor, "ls .llmc/spool | grep -c json || true");

	return strtol(count, NULL, 10) == 0;
}

/* Everybody can write there: it counts for a session of an older version
 * only. */
TEST_ROWS(the_common_spool_is_for_older_sessions, 2)
{
	bool older = _i == 1;
	struct fleet_world world;

	fleet_world_begin_idle(&world, NULL);
	ck_assert(world.adam->worker->session.own_spool);
	world.adam->worker->session.own_spool = !older;
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	floor_world_sh(&world.floor,
	    "mkdir -p .llmc/spool; mv .llmc/run/adam/spool/*.json .llmc/spool");
	hooks_drain(world.floor.fleet->hooks);
	floor_world_wait(&world.floor, common_is_empty, &world);
	fleet_world_moved(&world, older ? "adam:working " : "");
	fleet_world_end(&world);
}

/* A worker that writes into another's spool reports nothing. */
TEST(a_spool_counts_for_its_own_worker)
{
	struct fleet_world world;
	struct floor_call *call;

	fleet_world_begin_idle(&world, NULL);
	call = floor_world_call(&world.floor, "worker.add", "eve", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	fleet_world_spool(&world, world.adam, "UserPromptSubmit", typed_text);
	floor_world_sh(
	    &world.floor, "mv .llmc/run/adam/spool/*.json .llmc/run/eve/spool");
	hooks_drain(world.floor.fleet->hooks);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(world.adam->worker->status, WORKER_IDLE);
	fleet_world_end(&world);
}
