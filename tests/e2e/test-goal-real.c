/* SPDX-License-Identifier: ISC */

/* A goal from a file to landed commits without a hand on it: the real Claude
 * Code in a home that it never saw, on a stub of its API. */
#include "goalrun.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("trust", "--onboarding", NULL);
	goal_enable();
	auto_set("auto.concurrency", "2");
}

START_TEST(a_goal_is_reached_across_a_death_of_the_daemon)
{
	static const char *const tasks[] = { "T1.1", "T1.2", "T2.1", NULL };
	const char *goal = goal_create(
	    e2e_path("# Make tea\n"
		     "## Water\n"
		     "### Kettle\nfake: run %s\nfake: commit kettle.txt x\n\n"
		     "Acceptance: it is hot\n\n"
		     "### Cups\nfake: commit cups.txt x\n\n"
		     "Acceptance: two of them\n\n"
		     "## Tea\n"
		     "### Leaves\nfake: commit leaves.txt x\n\n"
		     "Acceptance: it is tea\n\nDepends: Water\n",
		auto_gate("kettle")));

	auto_up("--until-empty", NULL);
	auto_wait_gate("kettle");
	auto_wait_landed(1);
	auto_kill9_daemon();
	auto_open_gate("kettle");
	fleet_wait_spooled();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	goal_is_reached(goal, tasks);
	auto_history("kettle.txt: x", "cups.txt: x", "leaves.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 3);
	ck_assert_int_eq(auto_finished("landed"), 3);
	ck_assert_int_eq(fleet_prompts("fake: commit kettle.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit leaves.txt"), 1);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	if (fleet_real_agent() == NULL || !e2e_exists(fleet_real_agent()))
		unit_skip_all("the real Claude Code is not here: "
			      "LLMC_REAL_CLAUDE=$(tests/tools/real-claude.sh "
			      "FOLDER) has it");
	s = suite_create("goal-real");
	scenarios_add_test(
	    s, begin, a_goal_is_reached_across_a_death_of_the_daemon);
	return s;
}
