/* SPDX-License-Identifier: ISC */

/* A smaller night with the real Claude Code, on a stub of its API. */
#include "nightrun.h"
#include "overrun.h"
#include "scenarios.h"

#define TIMEOUT_S 380

static void
begin(void)
{
	over_begin_real();
	auto_set("defaults.model", "claude-opus-5-5");
	auto_set("planner.model", "claude-opus-5-5");
	night_begin();
}

START_TEST(healthy_work_lands_and_the_rest_is_in_one_list)
{
	/* The one whose process is killed goes on with what it was doing. */
	fleet_answer("has been resumed", "fake: commit lines.txt x\n");
	night_story(&(struct night){ .small = 2,
	    .calls = 20,
	    .children = 2,
	    .kills_agent = true,
	    .plans = true });
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;
	TCase *tc;

	scenarios_real();
	s = suite_create("night-real");
	tc = tcase_create("night");
	unit_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, begin, over_end);
	tcase_add_test(tc, healthy_work_lands_and_the_rest_is_in_one_list);
	suite_add_tcase(s, tc);
	return s;
}
