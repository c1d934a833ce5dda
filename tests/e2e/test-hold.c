/* SPDX-License-Identifier: ISC */

/* Workers that a person pauses, stops and resumes. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
	fleet_up();
}

static bool
on_hold(const char *worker)
{
	return json_bool_or(fleet_worker(worker), "on_hold", false);
}

/* --- by hand ---------------------------------------------------------- */

const int unit_timeout = 120; /* seconds, each */

TEST(an_idle_worker_that_is_paused_gets_no_task)
{
	struct e2e_run *run;

	fleet_add("adam");
	run = fleet_do("pause", "adam", NULL);
	e2e_has(run->out, "adam is paused.\nContinue with: llmc resume adam\n");
	ck_assert_str_eq(fleet_status("adam"), "paused");
	fleet_fails("llmc resume adam", "start", "--prompt", "x", NULL);
	fleet_fails("llmc resume adam", "start", "--worker", "adam", "--prompt",
	    "x", NULL);
	e2e_has(fleet_do("status", NULL)->out, "paused by a person");
	e2e_has(e2e_llmc(fleet_root(), NULL)->out, "\nNext: llmc resume\n");
	/* Not even by another daemon. */
	fleet_kill(fleet_daemon_pid());
	fleet_up();
	ck_assert_str_eq(fleet_status("adam"), "paused");
	e2e_has(fleet_do("resume", "adam", NULL)->out, "Continuing.");
	fleet_wait("adam", "idle");
	ck_assert(!on_hold("adam"));
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
}

TEST(a_turn_is_finished_before_the_pause)
{
	fleet_add("adam");
	fleet_start("adam",
	    e2e_path("fake: run %s\nfake: commit a.txt x", auto_gate("turn")));
	auto_wait_gate("turn");
	e2e_has(fleet_do("pause", NULL)->out,
	    "adam pauses at the end of its turn.");
	ck_assert_str_eq(fleet_status("adam"), "working");
	e2e_has(fleet_do("status", NULL)->out,
	    "adam: pauses at the end of its turn; continue with: llmc resume "
	    "adam\n");
	auto_open_gate("turn");
	fleet_wait("adam", "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "paused");
	ck_assert_int_eq(fleet_commits(), 2);
	e2e_has(fleet_do("resume", NULL)->out, "Continuing.");
	fleet_wait("adam", "idle");
	e2e_has(fleet_do("resume", NULL)->out, "Nothing is paused.");
}

TEST(a_worker_that_was_stopped_keeps_its_work)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam",
	    e2e_path("fake: write a.txt half\nfake: run %s\nfake: commit a.txt "
		     "whole",
		auto_gate("turn")));
	auto_wait_gate("turn");
	agent = fleet_agent_pid("adam");
	e2e_has(fleet_do("stop", "adam", NULL)->out,
	    "The session of adam has ended; its work is kept.\n"
	    "Continue with: llmc resume adam; to start over, type before "
	    "that: llmc reset adam\n");
	auto_wait_shell(e2e_path("! kill -0 %d 2>/dev/null", agent));
	ck_assert_str_eq(fleet_status("adam"), "paused");
	e2e_has(e2e_read(e2e_path("%s/a.txt", fleet_worktree("adam"))), "half");
	/* The next daemon does not start its session either. */
	fleet_do("down", NULL);
	fleet_up();
	ck_assert_str_eq(fleet_status("adam"), "paused");
	fleet_do("resume", "adam", NULL);
	fleet_wait_prompt("has been resumed");
	fleet_wait("adam", "needs_review");
}

TEST(work_that_waits_for_a_decision_is_decided_while_stopped)
{
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt x");
	fleet_wait("adam", "needs_review");
	e2e_has(fleet_do("stop", "adam", NULL)->out, "(needs_review)");
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "paused");
	ck_assert_int_eq(fleet_commits(), 2);
	fleet_do("resume", "adam", NULL);
	fleet_wait("adam", "idle");
}

TEST(workers_are_paused_and_stopped_without_a_daemon)
{
	fleet_add("adam");
	fleet_add("eve");
	fleet_do("down", NULL);
	fleet_do("pause", "adam", NULL);
	fleet_do("stop", "eve", NULL);
	fleet_fails("no daemon is running", "resume", NULL);
	fleet_up();
	ck_assert_str_eq(fleet_status("adam"), "paused");
	ck_assert_str_eq(fleet_status("eve"), "paused");
	fleet_do("resume", NULL);
	fleet_wait("adam", "idle");
	fleet_wait("eve", "idle");
}

TEST(who_does_not_exist_cannot_be_paused)
{
	struct e2e_run *run = fleet_do("pause", NULL);

	e2e_has(run->out, "There are no workers.");
	fleet_add("adam");
	fleet_fails("there is no worker eve; the workers are: adam", "pause",
	    "eve", NULL);
	fleet_fails("there is no worker eve", "stop", "eve", NULL);
	fleet_fails("there is no worker eve", "resume", "eve", NULL);
	e2e_expect(e2e_llmc(fleet_root(), "stop", NULL), 2, "WORKER");
}

TEST(an_agent_cannot_pause_the_fleet)
{
	fleet_add("adam");
	e2e_env("LLMC_AGENT=1");
	fleet_fails("agents may not run", "pause", NULL);
	fleet_fails("agents may not run", "stop", "adam", NULL);
	e2e_env("LLMC_AGENT");
}

/* --- in auto mode ----------------------------------------------------- */

TEST_IN(fleet_begin, an_auto_worker_on_hold_takes_no_new_task)
{
	auto_task("1.md", "One\nfake: run %s\nfake: commit 1.txt x",
	    auto_gate("turn"));
	auto_task("2.md", "Two\nfake: commit 2.txt x");
	auto_up("--until-empty", NULL);
	auto_wait_gate("turn");
	fleet_do("pause", "auto-1", NULL);
	auto_open_gate("turn");
	auto_wait_landed(1);
	auto_wait_state("workers.auto-1.status", "paused");
	/* Nor from the next daemon. */
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	fleet_do("wait", "auto-1", "--until", "paused", NULL);
	ck_assert_str_eq(fleet_status("auto-1"), "paused");
	ck_assert_int_eq(auto_landed(), 1);
	fleet_do("resume", "auto-1", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_landed(), 2);
}

TEST_IN(fleet_begin, what_it_would_be_told_waits_for_the_resume)
{
	/* It leaves its work uncommitted, and would be told to commit it. */
	auto_task("1.md", "One\nfake: run %s\nfake: write 1.txt x",
	    auto_gate("turn"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("turn");
	fleet_do("pause", "auto-1", NULL);
	auto_open_gate("turn");
	auto_wait_state("workers.auto-1.status", "paused");
	ck_assert_int_eq(fleet_prompts("changed or untracked"), 0);
	/* The task stays with it, whoever is the daemon. */
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	ck_assert_str_eq(auto_member(auto_state(), "tasks.0.step"), "assigned");
	ck_assert_str_eq(
	    auto_member(auto_state(), "workers.auto-1.task"), "t1");
	fleet_do("resume", NULL);
	fleet_wait_prompt("changed or untracked");
	auto_drain();
}

TEST_IN(fleet_begin, a_task_that_was_stopped_is_continued)
{
	auto_task("1.md", "One\nfake: commit 1.txt x\nfake: run %s",
	    auto_gate("turn"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("turn");
	fleet_do("stop", "auto-1", NULL);
	ck_assert_str_eq(fleet_status("auto-1"), "paused");
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	ck_assert_str_eq(
	    auto_member(auto_state(), "workers.auto-1.task"), "t1");
	auto_open_gate("turn");
	fleet_do("resume", "auto-1", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_landed(), 1);
}
