/* SPDX-License-Identifier: ISC */

/* The real Claude Code reads in the middle of a turn what oversight has to say:
 * with the result of its next tool, and then by an interruption; and its task
 * again when its conversation was compacted. */
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
	/* The first prompt went on up to there, with one warning before. */
	ck_assert_int_eq(
	    fleet_prompts("hook additional context: OVERSIGHT WARNING"), 1);
	ck_assert_int_eq(fleet_prompts("hook additional context"), 2);
	ck_assert_int_eq(fleet_prompts("You were interrupted"), 1);
	fleet_do("abort", "auto-1", "--reason", "seen", NULL);
	auto_wait_finished("aborted", 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* The first answer claims to have filled the context, so that the program
 * compacts it by itself before it asks again. */
START_TEST(a_compacted_conversation_gets_its_task_again)
{
	auto_set("auto.check_command", "test -e README.md");
	e2e_write(fleet_usage_file(), "990000 10 0 0 0\n");
	auto_task("a.md",
	    "Keep the goal in mind.\n"
	    "fake: run rm -f '%s'; echo x >left.txt\n"
	    "fake: run true\n",
	    fleet_usage_file());
	auto_up(NULL);
	fleet_wait_prompt("hook additional context: This conversation was "
			  "compacted. This is your task again");
	/* All of it is in the next request. */
	ck_assert_int_ge(fleet_prompts("Keep the goal in mind."), 1);
	fleet_wait_prompt("checked with this command: test -e README.md");
	fleet_wait_prompt("1 file changed since the work began, 1 not "
			  "committed.\n  left.txt");
	auto_wait_logged("autod.log", "conversation was compacted");
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
	scenarios_add_test(
	    s, begin, a_compacted_conversation_gets_its_task_again);
	return s;
}
