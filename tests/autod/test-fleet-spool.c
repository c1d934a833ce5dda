/* SPDX-License-Identifier: ISC */

/* Hooks that found nobody home: taken from the spool, and removed only when
 * what they changed is written. */
#include "fleet-world.h"
#include "fleet-private.h"
#include "fleet.h"

static const char typed_text[] = "{\"prompt\":\"typed by hand\"}";

/* Somebody typed a prompt into the session of adam, who is idle; the daemon has
 * heard of it, but not that it is written. */
static void
type_unwritten(bool written)
{
	fleet_world_begin_idle(NULL);
	floor_world_settle();
	floor_world.store_held = !written;
	floor_world.store_untold = written;
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	floor_world_until(floor_world_store_waits());
	fleet_world_moved("adam:working ");
	ck_assert_int_eq(fleet_world_spooled(), 1);
}

TEST(removed_after_the_write)
{
	type_unwritten(false);
	/* It is not taken again, however often somebody looks. */
	for (int i = 0; i < 3; i++)
		hooks_drain(floor_world.fleet->hooks);
	ck_assert_int_eq(fleet_world_spooled(), 1);
	fleet_world_moved("");
	floor_world_store_answer();
	floor_world_until(fleet_world_spooled() == 0);
	ck_assert_str_eq(fleet_world.adam->worker->prompt, "typed by hand");
}

#define MANY 140

/* Also of more events than a session remembers the ids of. */
TEST(many_that_wait_for_the_write)
{
	const int many = MANY;

	type_unwritten(false);
	for (int i = 0; i < many; i++)
		fleet_world_spool(fleet_world.adam, "PreToolUse", "{}");
	floor_world_until(fleet_world.adam->worker->session.open_tools >= MANY);
	for (int i = 0; i < 2; i++) {
		hooks_drain(floor_world.fleet->hooks);
		ck_assert_int_eq(
		    fleet_world.adam->worker->session.open_tools, many);
	}
	ck_assert_int_eq(fleet_world_spooled(), 1 + many);
	floor_world_store_answer();
	floor_world_until(fleet_world_spooled() == 0);
	ck_assert_int_eq(fleet_world.adam->worker->session.open_tools, many);
}

/* The daemon dies before the write, or between the write and the removal: the
 * next one finds the event, and it counts once. */
TEST_ROWS(a_daemon_that_dies_in_between, 2)
{
	bool written = _i == 1;

	type_unwritten(written);
	floor_world.store_held = floor_world.store_untold = false;
	fleet_world_reopen();
	ck_assert_int_eq(fleet_world.told[EVENT_ADOPTED], 1);
	floor_world_until(fleet_world_spooled() == 0);
	fleet_world_moved(written ? "" : "adam:working ");
	ck_assert_int_eq(fleet_world.adam->worker->status, WORKER_WORKING);
	ck_assert_str_eq(fleet_world.adam->worker->prompt, "typed by hand");
	ck_assert(fleet_world.adam->worker->session.busy);
}

/* A Stop that nobody heard ends the turn once, whoever dies over it. */
TEST_ROWS(a_stop_that_comes_again, 2)
{
	fleet_world_begin_working(NULL);
	floor_world_wt(
	    "adam", "echo two >b.txt; git add b.txt; git commit -qm 'by adam'");
	floor_world_settle();
	floor_world.store_held = _i == 0;
	floor_world.store_untold = _i == 1;
	fleet_world_spool(fleet_world.adam, "Stop", "{}");
	floor_world_until(floor_world_store_waits());
	buf_clear(&fleet_world.moves);
	floor_world.store_held = floor_world.store_untold = false;
	fleet_world_reopen();
	floor_world_wait_status(fleet_world.adam, WORKER_NEEDS_REVIEW);
	floor_world_until(fleet_world_spooled() == 0);
	floor_world_settle();
	fleet_world_moved("adam:needs_review ");
}

static void
stop_early(void)
{
	fleet_world_spool(fleet_find(floor_world.fleet, "adam"), "Stop", "{}");
	fleet_world_run(50); /* whoever watches it looks */
	ck_assert_int_eq(fleet_world_spooled(), 1);
}

/* The next daemon is there, and has not found the session yet. */
TEST(a_stop_before_the_session_is_adopted)
{
	fleet_world_begin_working(NULL);
	floor_world_wt(
	    "adam", "echo two >b.txt; git add b.txt; git commit -qm 'by adam'");
	floor_world_settle();
	fleet_world.unbegun = stop_early;
	fleet_world_reopen();
	floor_world_wait_status(fleet_world.adam, WORKER_NEEDS_REVIEW);
	floor_world_until(fleet_world_spooled() == 0);
}

/* A state that cannot be written keeps them, too. */
TEST(the_state_cannot_be_written)
{
	fleet_world_begin_idle(NULL);
	floor_world_settle();
	floor_world.store_fails = true;
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	floor_world_wait_status(fleet_world.adam, WORKER_WORKING);
	fleet_world_run(50);
	ck_assert_int_ge(fleet_world.told[EVENT_STATE_UNWRITTEN], 1);
	ck_assert_int_eq(fleet_world_spooled(), 1);
	floor_world.store_fails = false;
	floor_world_until(fleet_world_spooled() == 0);
	fleet_world_moved("adam:working ");
}

/* What was said first is heard first, also when the next hook finds us. */
TEST(the_spool_comes_first)
{
	fleet_world_begin_idle(NULL);
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	floor_world_done(fleet_world_hook(fleet_world.adam, "Stop", "{}"));
	fleet_world_moved("adam:working adam:no_changes ");
	floor_world_until(fleet_world_spooled() == 0);
}

/* More than are taken at once, and what is of no use to anybody. */
TEST(a_full_spool)
{
	fleet_world_begin_idle(NULL);
	floor_world_sh(
	    "mkdir -p .llmc/run/adam/spool; "
	    "echo nonsense >.llmc/run/adam/spool/01HF7YAT00TESTTESTTESTTEST.json");
	for (int i = 0; i < 40; i++)
		fleet_world_spool(fleet_world.adam, "PreToolUse", "{}");
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	floor_world_until(fleet_world_spooled() == 0);
	ck_assert_int_eq(fleet_world.adam->worker->session.open_tools, 40);
	fleet_world_moved("adam:working ");
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
	struct floor_call *call;
	struct agent *adam;
	const int many = 700;
	bool drained = false;

	fleet_world_begin_idle(NULL);
	adam = fleet_world.adam;
	for (int i = 0; i < many; i++)
		fleet_world_spool(adam, "PreToolUse", "{}");
	hooks_drain_then(floor_world.fleet->hooks, on_drained, &drained);
	ck_assert_int_gt(adam->worker->session.open_tools, 0);
	ck_assert_int_lt(adam->worker->session.open_tools, many / 2);
	ck_assert(!drained);
	call = fleet_world_hook(adam, "PostToolUse", "{}");
	ck_assert(!drained);
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert(drained);
	ck_assert_int_eq(adam->worker->session.open_tools, many - 1);
	floor_world_until(fleet_world_spooled() == 0);
	ck_assert_int_eq(adam->worker->session.open_tools, many - 1);
}

/* Of a session before this one, of a worker that there is not. */
TEST(what_is_not_for_us_is_removed)
{
	fleet_world_begin_idle(NULL);
	fleet_world.adam->worker->session.generation--;
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	fleet_world.adam->worker->session.generation++;
	floor_world_sh("sed s/adam/eve/ .llmc/run/adam/spool/*.json "
		       ">.llmc/run/adam/spool/01HF7YAT00TESTTESTTESTTEST.json");
	floor_world_until(fleet_world_spooled() == 0);
	fleet_world_moved("");
}

/* A worker that writes into another's spool reports nothing. */
TEST(a_spool_counts_for_its_own_worker)
{
	fleet_world_begin_idle(NULL);
	floor_world_done(floor_world_call("worker.add", "eve", ""));
	fleet_world_spool(fleet_world.adam, "UserPromptSubmit", typed_text);
	floor_world_sh("mv .llmc/run/adam/spool/*.json .llmc/run/eve/spool");
	hooks_drain(floor_world.fleet->hooks);
	floor_world_settle();
	ck_assert_int_eq(fleet_world.adam->worker->status, WORKER_IDLE);
}
