/* SPDX-License-Identifier: ISC */

/* Delegation from a goal to landed commits with nobody at the keyboard, with
 * the stand-in agent. */
#include "scenarios.h"
#include "teamrun.h"

static void
begin(void)
{
	fleet_begin();
}

START_TEST(a_parent_and_its_children_reach_a_goal)
{
	team_story();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("team-run");

	scenarios_add_test(s, begin, a_parent_and_its_children_reach_a_goal);
	return s;
}
