/* SPDX-License-Identifier: ISC */

/* With goals, a task of the folder is told of by llmc why across a death of the
 * daemon, and is no goal. */
#include "goalrun.h"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
}

static void
has_not(const char *text, const char *words)
{
	ck_assert_msg(strstr(text, words) == NULL, "%s is in: %s", words, text);
}

/* Nothing of it is in the plans. */
static void
is_no_goal(void)
{
	const char *text = fleet_do("doctor", "store", "export", NULL)->out;
	struct json_object *export = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), SIZE_MAX / 2, &export, NULL), 0);
	ck_assert_int_eq(
	    json_object_object_length(json_object_object_get(export, "goals")),
	    0);
	ck_assert_int_eq(json_object_object_length(
			     json_object_object_get(export, "assignments")),
	    0);
	json_object_put(export);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_task_of_the_folder_is_told_of_across_a_death_of_the_daemon)
{
	goal_set_notices();
	auto_task("wall.md",
	    "Build a wall\nfake: run %s\nfake: commit "
	    "wall.txt x\n",
	    auto_gate("wall"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("wall");
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	e2e_has(fleet_do("why", "t1", NULL)->out, "auto-1");
	has_not(fleet_do("goal", "list", NULL)->out, "Build a wall");
	has_not(fleet_do("goal", "node", "list", NULL)->out, "Build a wall");
	has_not(fleet_do("status", NULL)->out, "goal_");
	has_not(fleet_do("goal", "list", "--all", NULL)->out, "Build a wall");
	auto_open_gate("wall");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("wall.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_str_eq(auto_folder("done"), "wall.md\n");
	ck_assert_int_eq(fleet_prompts("fake: commit wall.txt"), 1);
	ck_assert_int_eq(auto_logged("auto.log", "goal.completed"), 0);
	ck_assert_int_eq(goal_notices(), 0);
	is_no_goal();
	e2e_has(fleet_do("why", "t1", NULL)->out, "t1: done: landed as ");
	has_not(fleet_do("goal", "list", NULL)->out, "Build a wall");
	has_not(fleet_do("goal", "list", "--all", NULL)->out, "Build a wall");
	e2e_expect(
	    e2e_llmc(fleet_root(), "doctor", "store", "check", NULL), 0, NULL);
	auto_no_complaints();
	auto_no_sessions();
}
