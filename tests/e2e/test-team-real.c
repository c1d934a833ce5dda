/* SPDX-License-Identifier: ISC */

/* The same as team-run by the real Claude Code, in a home that it never saw, on
 * a stub of its API; in a sandbox and without. */
#include "scenarios.h"
#include "teamrun.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("defaults.model", "claude-opus-5-5");
}

static void
begin_boxed(void)
{
	begin();
	e2e_need_boxes("");
	auto_set("defaults.sandbox", "worktree");
	auto_set("defaults.sandbox_write", e2e_path("[\"%s\"]", auto_gates()));
}

START_TEST(a_parent_and_its_children_reach_a_goal)
{
	team_story();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("team-real");
	scenarios_add_test(s, begin, a_parent_and_its_children_reach_a_goal);
	scenarios_add_test(
	    s, begin_boxed, a_parent_and_its_children_reach_a_goal);
	return s;
}
