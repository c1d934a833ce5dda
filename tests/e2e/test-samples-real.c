/* SPDX-License-Identifier: ISC */

/* A sample project with the real Claude Code, on a stub of its API. */
#include "fleet.h"
#include "samples.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
}

START_TEST(a_clone_works_with_what_init_proposes)
{
	sample_story(SAMPLE_NODE, begin);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;
	TCase *tc;

	scenarios_real();
	s = suite_create("samples-real");
	tc = tcase_create("samples");
	unit_set_timeout(tc, 300);
	tcase_add_test(tc, a_clone_works_with_what_init_proposes);
	suite_add_tcase(s, tc);
	return s;
}
