/* SPDX-License-Identifier: ISC */

/* The failure table, rows 5 to 8: agents that crash, hang or cannot start. */
#include "overrun.h"

#define TASK "A\nfake: commit work.txt x"

START_TEST(an_agent_that_is_killed_once_goes_on)
{
	int daemon, agent;

	auto_task("a.md", TASK "\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	agent = fleet_agent_pid("auto-1");
	fleet_kill(agent);
	auto_wait_finished("landed", 1);
	ck_assert_int_ne(fleet_agent_pid("auto-1"), agent);
	over_undisturbed(daemon);
	over_finish();
}
END_TEST

START_TEST(an_agent_that_keeps_crashing_is_repaired)
{
	over_culprit("kill -KILL $CLAUDE_PID");
	auto_task("a.md", TASK);
	over_remedy(_i, "%s", over_remove_culprit());
	over_start();
	if (over_recovers(_i, "3 times in a row", 0))
		over_finish();
	else
		ck_assert_int_eq(auto_landed(), 0);
}
END_TEST

/* The default times, 180 times shorter: with a tool open, a worker is silent
 * for longer than half of stall_timeout at each of three stages. */
static void
short_stalls(void)
{
	over_hurry(5);
	auto_set("auto.worker_stall_timeout", "10s");
	auto_set("overseer.stall_timeout", "20s");
}

START_TEST(an_agent_that_nothing_wakes_is_repaired)
{
	short_stalls();
	over_culprit("tail --pid=$CLAUDE_PID -f /dev/null");
	auto_task("a.md", TASK);
	over_remedy(_i, "%s", over_remove_culprit());
	over_start();
	if (over_recovers(_i, "no sign of life", 0)) {
		ck_assert_int_ge(
		    auto_events("stall", "\"action\":\"redirect\""), 1);
		ck_assert_int_ge(
		    auto_events("stall", "\"action\":\"restart\""), 1);
		over_remembers("stall", NULL, 0);
		over_finish();
	} else {
		ck_assert_int_eq(auto_landed(), 0);
	}
}
END_TEST

/* It takes twice stall_timeout, with hooks all the time. */
START_TEST(a_long_turn_with_signs_of_life_is_no_stall)
{
	int daemon;

	short_stalls();
	auto_task("a.md",
	    TASK "\nfake: run sleep 2\nfake: run sleep 2\n"
		 "fake: run sleep 2\nfake: run sleep 2");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	ck_assert_int_eq(auto_events("stall", NULL), 0);
	over_finish();
}
END_TEST

START_TEST(a_worker_in_error_is_repaired)
{
	const char *tool = e2e_path("%s/tool", unit_scratch());

	auto_set("repo.setup_command",
	    e2e_path("test -e '%s' || { echo no tool >&2; exit 9; }", tool));
	auto_task("a.md", TASK);
	over_remedy(_i, "fake: run touch '%s'", tool);
	over_start();
	if (over_recovers(_i, "no tool", 0)) {
		over_finish();
	} else {
		ck_assert_int_eq(auto_landed(), 0);
		ck_assert_str_eq(fleet_status("auto-1"), "error");
	}
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "5", an_agent_that_is_killed_once_goes_on },
		{ "6", an_agent_that_keeps_crashing_is_repaired },
		{ "7", an_agent_that_nothing_wakes_is_repaired },
		{ "+8", a_long_turn_with_signs_of_life_is_no_stall },
		{ "8", a_worker_in_error_is_repaired },
	};

	return over_suite("failure-table-agents", tests, nitems(tests));
}
