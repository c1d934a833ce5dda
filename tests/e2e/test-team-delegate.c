/* SPDX-License-Identifier: ISC */

/* A goal is reached by agents of which some have no commit of their own. */
#include "scenarios.h"
#include "teamrun.h"

static void
begin(void)
{
	fleet_begin();
}

START_TEST(a_parent_that_only_delegates_and_a_child_that_only_reports)
{
	const char *goal;

	goal_enable();
	goal = goal_of_one_task(team_spawn(
	    team_child("Make a.\nfake: commit a.txt x\n", "{}"),
	    team_child("Review it.\nfake: tool report_completion "
		       "{\"summary\":\"no leak\",\"status\":\"complete\"}\n",
		"{\"role\":\"reviewer\"}"),
	    NULL));
	auto_up("--until-empty", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("no_changes"), 2);
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_str_eq(goal_status(goal), "completed");
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("team-delegate");

	scenarios_add_test(s, begin,
	    a_parent_that_only_delegates_and_a_child_that_only_reports);
	return s;
}
