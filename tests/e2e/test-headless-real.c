/* SPDX-License-Identifier: ISC */

/* Workers with the real Claude Code without a terminal. Nothing of it was
 * answered in its dialogs. */
#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

static void
begin_auto(void)
{
	fleet_begin_real();
	e2e_set(fleet_root(), "defaults.agent", "claude-headless");
	e2e_sh(unit_scratch(), "rm -f home/.claude.json");
}

static void
begin(void)
{
	begin_auto();
	fleet_up();
}

START_TEST(three_tasks_in_a_row_are_three_conversations)
{
	auto_task("a", "fake: commit a.txt x");
	auto_task("b", "fake: commit b.txt x");
	auto_task("c", "fake: commit c.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 4);
}
END_TEST

/* It says nothing of a prompt in its turn, and is not ended for that. */
START_TEST(a_message_waits_for_the_end_of_a_long_turn)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam", "fake: run sleep 20\nfake: commit a.txt x");
	fleet_wait("adam", "working");
	fleet_wait_prompt("fake: run sleep");
	agent = fleet_agent_pid("adam");
	fleet_do("message", "adam", "hello there", NULL);
	fleet_wait_prompt("hello there");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	ck_assert_int_eq(fleet_prompts("hello there"), 1);
}
END_TEST

START_TEST(a_sandbox_holds_it)
{
	fleet_box("worktree");
	fleet_up();
	fleet_add("adam");
	fleet_start(
	    "adam", "fake: run touch ../../escaped\nfake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	ck_assert(!e2e_exists(e2e_path("%s/escaped", fleet_root())));
	e2e_has(fleet_do("peek", "adam", NULL)->out, "* Bash");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("headless-real");
	scenarios_add_test(
	    s, begin_auto, three_tasks_in_a_row_are_three_conversations);
	scenarios_add_test(
	    s, begin, a_message_waits_for_the_end_of_a_long_turn);
	scenarios_add_test(s, begin_auto, a_sandbox_holds_it);
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	return s;
}
