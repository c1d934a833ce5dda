/* SPDX-License-Identifier: ISC */

/* The layers together, with the stand-in agent. */
#include "autorun.h"
#include "scenarios.h"
#include "together.h"

static void
begin(void)
{
	fleet_begin();
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
	Suite *s = suite_create("together");

	scenarios_add_test(
	    s, begin, a_goal_from_a_title_is_reached_and_told_of_truly);
	return s;
}
