/* SPDX-License-Identifier: ISC */

/* Before the first task, check_command has to pass on the branch as it is. */
#include "auto-world.h"

#include "ask.h"
#include "emit.h"
#include "landing.h"
#include "settings.h"
#include "state.h"
#include "settings-table.h"

#define PASSES "check_command = \"true\"\n"
#define FAILS  "check_command = \"echo words; test -e pass\"\n"

static void
begin(const char *settings)
{
	auto_world_begin(settings);
	tuning.trial = 1;
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
}

static void
begin_red(void)
{
	const struct ask *ask;

	begin(FAILS);
	auto_world_wait("intake_stopped; ");
	floor_world_settle();
	/* Not by one failure: it may be a flake. */
	auto_world_told("check_begins; check failed; check_begins; "
			"check failed; intake_stopped; ");
	ask = state_ask(&auto_world.core->state, ASKS_TRIAL);
	ck_assert_ptr_nonnull(ask);
	ck_assert(strstr(ask->words, "\nwords"));
	ck_assert_uint_eq(auto_world.core->state.ask_count, 1);
	/* A budget that is not reached does not end it. */
	auto_world_patrol();
	floor_world_settle();
	auto_world_told("");
	ck_assert_ptr_nonnull(auto_world.core->state.paused);
}

TEST(one_that_passes_is_tried_once)
{
	begin(PASSES);
	auto_world_turn(1);
	auto_world_told("check_begins; check passed; task_assigned t1; ");
	auto_world_restart();
	auto_world_live();
	floor_world_settle();
	ck_assert(!strstr(auto_world.told.data, "check_begins"));
}

TEST(none_is_tried_if_none_is_set)
{
	begin(NULL);
	auto_world_turn(1);
	auto_world_told("task_assigned t1; ");
}

TEST(another_branch_is_tried_again)
{
	begin_red();
	floor_world_sh("touch pass && git add pass && git commit -qm pass");
	auto_world_patrol();
	auto_world_turn(1);
	auto_world_told("fleet_resumed; check_begins; check passed; "
			"task_assigned t1; ");
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
}

/* A script that waits for the end of it gets one. */
TEST(a_run_until_the_end_of_the_tasks_ends)
{
	auto_world_begin(FAILS);
	tuning.trial = 1;
	auto_world_task("a.md", "Do it\n");
	auto_world.mode->until_empty = true;
	auto_world_live();
	floor_world_wait_stopped();
	ck_assert_int_eq(auto_world.core->exit_status, 1);
}

static void
change(const char *command)
{
	ck_assert_int_eq(settings_override(auto_world.core->settings,
			     "auto.check_command", command, NULL),
	    0);
	emit(auto_world.core, &(struct event){ .kind = EVENT_SETTINGS_READ });
}

/* While it is tried, and no longer. */
TEST(no_command_ends_the_trial_of_one)
{
	begin("check_command = \"sleep 60\"\n");
	auto_world_wait("check_begins; ");
	change("none");
	auto_world_turn(1);
	floor_world_settle();
	ck_assert(!landings_trying(auto_world.mode->landings));
}

TEST(another_command_is_tried_and_none_is_not)
{
	begin_red();
	/* The second time although it was judged before. */
	for (int i = 0; i < 2; i++) {
		change(i == 0 ? "false" : "echo words; test -e pass");
		auto_world_wait("intake_stopped; ");
		auto_world_told("fleet_resumed; check_begins; check failed; "
				"check_begins; check failed; intake_stopped; ");
	}
	change("none");
	auto_world_turn(1);
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
}

TEST(another_daemon_tries_again)
{
	begin_red();
	auto_world_restart();
	auto_world_live();
	auto_world_wait("intake_stopped; ");
}

/* Then auto.on_red decides, as for any branch that fails. */
TEST(a_person_can_go_on)
{
	begin_red();
	floor_world_done(floor_world_ask("auto.resume", "{}"));
	auto_world_turn(1);
	auto_world_told("task_assigned t1; ");
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
	ck_assert_ptr_null(auto_world.core->state.landings.red_told);
}
