/* SPDX-License-Identifier: ISC */

/* post_accept_command: once for each landing, interrupted at each of its steps,
 * and what happens when it fails. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "landing.h"
#include "mem.h"
#include "unit.h"

/* Reports that it began, waits for permission, reports that it ended, and exits
 * with a status that the test chooses. */
#define COMMAND                                                             \
	"post_accept_command = \"cd .llmc; echo $LLMC_TASK >>began; until " \
	"test -e go; do sleep 0.05; done; echo $LLMC_TASK >>ended; echo "   \
	"words >&2; exit $(cat status)\"\n"

static void
say(struct auto_world *world, const char *status)
{
	cleanup_free char *text =
	    xasprintf("echo %s >.llmc/status; touch .llmc/go", status);

	floor_world_sh(&world->floor, text);
}

/* A task whose work is being landed. */
static void
begin_landing(struct auto_world *world, const char *settings)
{
	cleanup_free char *text = xasprintf("%s%s", COMMAND, settings);
	struct agent *agent;

	auto_world_begin(world, text);
	auto_world_task(world, "a.md", "Do it\n");
	auto_world_live(world);
	agent = auto_world_turn(world, 1);
	auto_world_work(world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
}

static void
assert_filed(struct auto_world *world, const char *want)
{
	auto_world_wait_done(world);
	auto_world_filed(world, want);
}

static void
assert_ran(struct auto_world *world, const char *began, const char *ended)
{
	ck_assert_str_eq(
	    floor_world_sh(&world->floor, "cat .llmc/began 2>/dev/null || :"),
	    began);
	ck_assert_str_eq(
	    floor_world_sh(&world->floor, "cat .llmc/ended 2>/dev/null || :"),
	    ended);
}

static void
assert_tidy(struct auto_world *world)
{
	ck_assert_str_eq(
	    floor_world_sh(&world->floor, "ls .llmc/post 2>/dev/null || :"),
	    "");
}

TEST(the_next_landing_waits)
{
	struct auto_world world;
	struct agent *agent;

	begin_landing(&world, "");
	auto_world_wait_post(&world, "run");
	auto_world_task(&world, "b.md", "Do more\n");
	agent = auto_world_turn(&world, 2);
	auto_world_work(&world, "c.txt");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(&world.floor, agent, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	ck_assert(landings_busy(world.landings));
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "git log --format=%s main"),
	    "add b.txt\nfirst");
	say(&world, "0");
	assert_filed(&world, "t1 landed; t2 landed; ");
	assert_ran(&world, "t1\nt2", "t1\nt2");
	assert_tidy(&world);
	auto_world_end(&world);
}

/* --- interrupted ----------------------------------------------------- */

static const struct row {
	const char *step;
	const char *policy, *status; /* on_post_accept_failure */
	const char *began_stopped; /* runs after a daemon that stops */
	const char *began_dead; /* runs after a daemon that dies */
	const char *filed;
} rows[] = {
	{ "write", "shutdown", "0", "t1", "t1", "t1 landed; " },
	/* A cancelled command runs again; one that survived does not. */
	{ "run", "shutdown", "0", "t1\nt1", "t1", "t1 landed; " },
	{ "revert", "revert", "1", "t1", "t1", "t1 failed; " },
	{ "tidy", "shutdown", "0", "t1", "t1", "t1 landed; " },
};

static void
begin_until(struct auto_world *world, const struct row *row)
{
	cleanup_free char *settings = xasprintf(
	    "max_attempts = 1\non_post_accept_failure = \"%s\"\n", row->policy);

	begin_landing(world, settings);
	if (strcmp(row->step, "run") == 0)
		floor_world_sh(&world->floor, "echo 0 >.llmc/status");
	else
		say(world, row->status);
	auto_world_wait_post(world, row->step);
	if (strcmp(row->step, "run") == 0)
		floor_world_sh(&world->floor,
		    "until test -e .llmc/began; do sleep 0.05; done");
}

static void
assert_ends(struct auto_world *world, const struct row *row, const char *began)
{
	say(world, row->status);
	auto_world_live(world);
	assert_filed(world, row->filed);
	assert_ran(world, began, "t1");
	assert_tidy(world);
	auto_world_end(world);
}

TEST_ROWS(the_daemon_stops, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct auto_world world;

	begin_until(&world, row);
	auto_world_stop(&world);
	ck_assert_ptr_null(world.mode->post);
	auto_world_reopen(&world);
	assert_ends(&world, row, row->began_stopped);
}

TEST_ROWS(the_daemon_dies, nitems(rows))
{
	const struct row *row = &rows[_i];
	struct auto_world world;

	begin_until(&world, row);
	auto_world_reopen(&world);
	assert_ends(&world, row, row->began_dead);
}

/* --- when it fails --------------------------------------------------- */

TEST(failure_shuts_down)
{
	struct auto_world world;

	begin_landing(&world, "");
	say(&world, "3");
	auto_world_fails(&world, "post_accept");
	ck_assert_int_eq(world.core->exit_status, 1);
	ck_assert_ptr_null(world.mode->post);
	auto_world_reopen(&world);
	auto_world_live(&world);
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 landed; ");
	assert_ran(&world, "t1", "t1");
	auto_world_end(&world);
}

TEST(failure_is_passed_over)
{
	struct auto_world world;

	begin_landing(&world, "on_post_accept_failure = \"continue\"\n");
	say(&world, "3");
	assert_filed(&world, "t1 landed; ");
	ck_assert_ptr_nonnull(
	    strstr(world.told.data, "post_accept t1; post_accept_failed; "));
	auto_world_end(&world);
}

TEST(failure_is_taken_back)
{
	struct auto_world world;
	const struct agent *agent;

	begin_landing(&world, "on_post_accept_failure = \"revert\"\n");
	say(&world, "3");
	agent = auto_world_turn(&world, 2); /* it is tried again */
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	ck_assert_ptr_null(world.core->state.tasks[0]->commit);
	ck_assert_str_eq(floor_world_sh(&world.floor, "ls"), "a.txt");
	auto_world_end(&world);
}

TEST(what_cannot_be_taken_back_is_a_failure)
{
	struct auto_world world;

	begin_landing(&world, "on_post_accept_failure = \"revert\"\n");
	auto_world_wait_post(&world, "run");
	floor_world_sh(&world.floor, "echo mine >>b.txt; git commit -qam mine");
	say(&world, "3");
	auto_world_fails(&world, "revert");
	auto_world_end(&world);
}

/* It waits for the user's checkout like other work. */
TEST(taking_back_waits_for_the_checkout)
{
	struct auto_world world;

	begin_landing(&world, "on_post_accept_failure = \"revert\"\n");
	auto_world_wait_post(&world, "run");
	floor_world_sh(&world.floor, "echo mine >>b.txt");
	say(&world, "3");
	auto_world_wait(&world, "waiting; ");
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "git log --format=%s main"),
	    "add b.txt\nfirst");
	floor_world_sh(&world.floor, "git checkout -q b.txt");
	auto_world_turn(&world, 2);
	ck_assert_str_eq(floor_world_sh(&world.floor, "ls"), "a.txt");
	auto_world_end(&world);
}

TEST(failure_is_fixed_by_a_task)
{
	struct auto_world world;
	struct agent *agent;

	begin_landing(
	    &world, "max_attempts = 1\non_post_accept_failure = \"fix\"\n");
	say(&world, "3");
	agent = auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t2");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	/* A fix of a fix exceeds the limit here. */
	auto_world_work(&world, "c.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_fails(&world, "post_accept");
	auto_world_end(&world);
}

TEST(a_command_that_cannot_be_started_is_a_failure)
{
	struct auto_world world;

	begin_landing(&world, "");
	floor_world_sh(&world.floor, "touch .llmc/post");
	auto_world_fails(&world, "post_accept");
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_LANDED);
	auto_world_end(&world);
}
