/* SPDX-License-Identifier: ISC */

/* A night with default settings and everything on, with the stand-in agent. */
#include "nightrun.h"
#include "overrun.h"

#define TIMES     4
#define TIMEOUT_S 380

static void
begin(void)
{
	over_begin();
	e2e_hurry(TIMES);
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	night_begin();
}

START_TEST(healthy_work_lands_and_the_rest_is_in_one_list)
{
	night_story(&(struct night){
	    .small = 6, .calls = 150, .children = 4, .kills_agent = true });
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("night");
	TCase *tc = tcase_create("night");

	tcase_set_timeout(tc, TIMEOUT_S);
	tcase_add_checked_fixture(tc, begin, over_end);
	tcase_add_test(tc, healthy_work_lands_and_the_rest_is_in_one_list);
	suite_add_tcase(s, tc);
	return s;
}
