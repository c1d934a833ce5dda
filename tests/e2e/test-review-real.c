/* SPDX-License-Identifier: ISC */

/* auto.review by the real Claude Code, on a stub of its API: it has only tools
 * that read, and answers with a tool of llmc; in a sandbox and without. */
#include "autorun.h"
#include "filed.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	auto_set("defaults.model", "claude-opus-5-5");
	auto_set("auto.review", "claude");
	fleet_answer("Review the work of another agent",
	    "fake: tool report_completion {\"summary\":\"It is good.\","
	    "\"verdict\":\"approve\"}");
}

static void
begin_boxed(void)
{
	begin();
	e2e_need_boxes("");
	auto_set("defaults.sandbox", "worktree");
}

START_TEST(the_real_program_reviews)
{
	struct json_object *record;

	auto_task("a.md", "fake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("review", "\"result\":\"approved\""), 1);
	ck_assert_int_eq(auto_events("review", "it changed files"), 0);
	record = filed_last(fleet_root());
	ck_assert_str_eq(auto_member(record, "run.review"), "approved");
	json_object_put(record);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("review-real");
	scenarios_add_test(s, begin, the_real_program_reviews);
	scenarios_add_test(s, begin_boxed, the_real_program_reviews);
	return s;
}
