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

/* The reviewer of llmc.conf(5): it has no tool to make a commit with, so none
 * is asked for. */
START_TEST(a_reviewer_without_editing_tools_ends_with_its_words)
{
	struct json_object *stats;
	const char *goal;

	goal_enable();
	auto_set("agents.reviewer.tools", "[\"Read\", \"Grep\", \"Glob\"]");
	goal = goal_of_one_task(
	    team_spawn(team_child("Make a.\nfake: commit a.txt x\n", "{}"),
		team_child(
		    "Look at it.\nfake: say I read a.txt and found a leak in "
		    "line 3.\n",
		    "{\"role\":\"reviewer\"}"),
		NULL));
	auto_up("--until-empty", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("no_changes"), 2);
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_str_eq(goal_status(goal), "completed");
	ck_assert_int_ge(fleet_prompts("Your work is a report"), 1);
	stats = e2e_json(fleet_do("--json", "stats", NULL), 0);
	e2e_has(json_object_to_json_string(stats), "\"agent\": \"reviewer\"");
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("team-delegate");

	scenarios_add_test(s, begin,
	    a_parent_that_only_delegates_and_a_child_that_only_reports);
	scenarios_add_test(
	    s, begin, a_reviewer_without_editing_tools_ends_with_its_words);
	return s;
}
