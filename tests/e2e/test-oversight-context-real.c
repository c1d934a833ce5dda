/* SPDX-License-Identifier: ISC */

/* The real Claude Code reads in the middle of a turn what oversight has to say:
 * with the result of its next tool, and then by an interruption. */
#include "autorun.h"
#include "scenarios.h"

#define FAIL   "fake: run ls ./missing.c\n"
#define FAIL8  FAIL FAIL FAIL FAIL FAIL FAIL FAIL FAIL
#define FAIL64 FAIL8 FAIL8 FAIL8 FAIL8 FAIL8 FAIL8 FAIL8 FAIL8

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("daemon.patrol_interval", "100ms");
	auto_tune("slice_tools=4");
}

START_TEST(a_turn_reads_what_oversight_says_and_is_interrupted_if_in_vain)
{
	auto_task("a.md", "fake: write left.txt x\n%s", FAIL64 FAIL64);
	auto_up(NULL);
	/* Its next request to the API has it; no prompt was needed. */
	fleet_wait_prompt("hook additional context: OVERSIGHT: CHANGE THE "
			  "APPROACH");
	auto_wait_event("oversight", "redirect");
	fleet_wait_prompt("You were interrupted because of how the work went");
	/* The first prompt went on up to there. */
	ck_assert_int_eq(fleet_prompts("hook additional context"), 1);
	ck_assert_int_eq(fleet_prompts("You were interrupted"), 1);
	fleet_do("abort", "auto-1", "--reason", "seen", NULL);
	auto_wait_finished("aborted", 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("oversight-context-real");
	scenarios_add_test(s, begin,
	    a_turn_reads_what_oversight_says_and_is_interrupted_if_in_vain);
	return s;
}
