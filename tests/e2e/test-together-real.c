/* SPDX-License-Identifier: ISC */

/* The layers together, with the real Claude Code on a stub of its API. */
#include "autorun.h"
#include "scenarios.h"
#include "together.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("defaults.model", "claude-opus-5-5");
	together_begin();
}

START_TEST(a_goal_from_a_title_is_reached_and_told_of_truly)
{
	together_story();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("together-real");
	scenarios_add_test(
	    s, begin, a_goal_from_a_title_is_reached_and_told_of_truly);
	return s;
}
