/* SPDX-License-Identifier: ISC */

/* Workers and auto mode with the fake agent as Codex. */
#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

static void
begin_auto(void)
{
	fleet_begin();
	e2e_set(fleet_root(), "defaults.codex_command",
	    e2e_setting(fleet_root(), "defaults.agent_command"));
	e2e_set(fleet_root(), "defaults.agent", "codex");
}

static void
begin(void)
{
	begin_auto();
	fleet_up();
}

/* Each in a conversation of its own, by a worker of its kind. */
START_TEST(tasks_name_their_kinds)
{
	e2e_set(fleet_root(), "defaults.agent", "claude");
	fleet_up();
	fleet_fails("there is no agent smith", "task", "add", "--agent",
	    "smith", "fake: commit a.txt x", NULL);
	fleet_do(
	    "task", "add", "--agent", "codex", "fake: commit a.txt x", NULL);
	fleet_do("task", "add", "fake: commit b.txt x", NULL);
	fleet_do(
	    "task", "add", "--agent", "codex", "fake: commit c.txt x", NULL);
	fleet_do("down", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_commits(), 4);
	e2e_has(e2e_sh(unit_scratch(), "ls home/.codex/sessions/*/*/*")->out,
	    "rollout-");
	e2e_has(e2e_sh(unit_scratch(), "ls home/.claude/projects/*")->out,
	    ".jsonl");
}
END_TEST

START_TEST(the_kinds_are_listed)
{
	struct e2e_run *run = fleet_do("doctor", "--agents", NULL);

	e2e_has(run->out, "ok    claude");
	e2e_has(run->out, "ok    codex");
	e2e_has(run->out, "no permission_mode but bypassPermissions");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("codex");

	scenarios_add_test(s, begin_auto, tasks_name_their_kinds);
	scenarios_add_test(s, begin_auto, the_kinds_are_listed);
	scenarios_add(s, begin);
	auto_scenarios_add(s, begin_auto);
	return s;
}
