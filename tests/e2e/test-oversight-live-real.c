/* SPDX-License-Identifier: ISC */

/* Ten of the histories, with the real Claude Code on a stub of its API. */
#include "autorun.h"
#include "livework.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("defaults.model", "claude-opus-5-5");
	livework_begin();
	auto_set("auto.concurrency", "3");
}

START_TEST(healthy_work_is_left_alone_and_sick_work_is_met)
{
	livework_story(6, 5, 5);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("oversight-live-real");
	scenarios_add_test(
	    s, begin, healthy_work_is_left_alone_and_sick_work_is_met);
	return s;
}
