/* SPDX-License-Identifier: ISC */

/* A run of auto mode: how it starts, continues after failures, and ends. */
#include "auto-scenarios.h"
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
}

const int unit_timeout = 120; /* seconds, each */

TEST(the_heart_beats)
{
	struct json_object *heart;

	auto_set("overseer.heartbeat_timeout", "7s"); /* a beat takes a third of
						       * it */
	auto_up(NULL);
	do {
		poll(NULL, 0, 20); /* a file of the daemon */
		heart = auto_heartbeat();
		ck_assert_msg(!unit_is_late(), "no second beat");
	} while (json_int_or(heart, "sequence", 0) < 2);
	ck_assert_str_eq(auto_member(heart, "phase"), "idle");
	ck_assert_int_gt(json_int_or(heart, "rss_kb", 0), 0);
	ck_assert(json_int_or(heart, "lag_ms", -1) >= 0);
	auto_drain();
	ck_assert_ptr_null(auto_heartbeat());
}

TEST(options_go_over_settings)
{
	struct json_object *state;

	auto_set("auto.concurrency", "1");
	auto_set("auto.post_accept_command", "false");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_up("--concurrency", "2", "--post-accept-command", "true", NULL);
	auto_wait_finished("landed", 1);
	auto_wait_state("workers.auto-2.status", "idle");
	state = auto_state();
	ck_assert_str_eq(auto_member(state, "auto_workers.1"), "auto-2");
	ck_assert_str_eq(auto_member(state, "auto_mode"), "true");
	auto_drain();
	/* Without options the settings apply. */
	auto_task("b.md", "B\nfake: commit b.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("post_accept", NULL);
	state = auto_state();
	ck_assert_str_eq(auto_member(state, "auto_workers.1"), "");
}

TEST(a_second_daemon_is_told_who_runs)
{
	struct e2e_run *second;

	auto_up(NULL);
	second = e2e_llmc(fleet_root(), "up", "--auto", NULL);
	e2e_expect(second, 1, e2e_path("pid %d", fleet_daemon_pid()));
	ck_assert(!auto_has_ended());
	auto_drain();
}

/* From "Five minutes" to auto mode: one command, and who works goes on. */
TEST(auto_mode_takes_over_from_a_plain_daemon)
{
	int daemon, agent;
	struct e2e_run *run;

	fleet_up();
	fleet_add("adam");
	fleet_start("adam", e2e_path("fake: run %s", auto_gate("busy")));
	auto_wait_gate("busy");
	daemon = fleet_daemon_pid();
	agent = fleet_agent_pid("adam");
	auto_task("a.md", "A\nfake: commit a.txt x");
	e2e_expect(e2e_llmc(fleet_root(), "up", "--detach", NULL), 1,
	    e2e_path("pid %d", daemon));
	run = e2e_llmc(fleet_root(), "up", "--auto", "--detach", NULL);
	e2e_expect(run, 0,
	    e2e_path(
		"the daemon without auto mode (pid %d) has made room", daemon));
	auto_wait_finished("landed", 1);
	ck_assert_int_ne(fleet_daemon_pid(), daemon);
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	ck_assert_str_eq(fleet_status("adam"), "working");
	auto_open_gate("busy");
	fleet_wait("adam", "no_changes");
	auto_no_complaints();
	fleet_do("down", NULL);
	/* And it is proposed again, for all workers. */
	e2e_has(e2e_llmc(fleet_root(), NULL)->out,
	    "\nNext: llmc up --auto --detach\n");
}

TEST(a_limit_makes_nobody_work_who_has_no_task)
{
	auto_set("auto.concurrency", "2");
	auto_task("a.md", "A\nfake: limit You have hit your session limit");
	auto_up(NULL);
	auto_wait_state("workers.auto-1.status", "limited");
	auto_wait_state("workers.auto-2.status", "limited");
	e2e_has(e2e_llmc(fleet_root(), NULL)->out, "2 workers (1 at work)");
	auto_drain();
}

TEST(until_empty_ends_with_what_came_of_it)
{
	const char *said;

	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_set("auto.max_attempts", "1");
	auto_task("good.md", "Good\nfake: commit good.txt x");
	auto_task("none.md", "Nothing to do\nfake: say It is done already.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_int_eq(auto_finished("no_changes"), 1);
	auto_set("auto.require_commit", "true");
	auto_set("auto.max_turns", "2");
	auto_task("bad.md", "Bad\nfake: say I leave it at that.");
	auto_task("fine.md", "Fine\nfake: commit fine.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_int_eq(auto_finished("landed"), 2);
	/* What was not done waits for a person. */
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_ptr_null(auto_failure());
	e2e_has(fleet_do("asks", NULL)->out, "commit");
	e2e_has(fleet_do("asks", NULL)->out, "llmc answer a");
	/* How it went can be told afterwards, without a daemon too. */
	said = fleet_do("replay", "t1", NULL)->out;
	e2e_has(said, "t1: Good\n");
	e2e_has(said, "  asked   ");
	e2e_has(said, "fake: commit good.txt x");
	e2e_has(said, "landed");
	auto_no_complaints();
	auto_no_sessions();
}

TEST(the_first_signal_drains_and_the_next_run_goes_on)
{
	auto_task("long.md", "Long\nfake: commit half.txt x\nfake: run %s\n",
	    auto_gate("g"));
	auto_up(NULL);
	auto_wait_gate("g");
	auto_drain();
	auto_no_sessions();
	ck_assert(
	    e2e_exists(e2e_path("%s/half.txt", fleet_worktree("auto-1"))));
	ck_assert_str_eq(auto_member(auto_state(), "tasks.0.worker"), "auto-1");
	ck_assert_int_eq(auto_landed(), 0);
	/* The conversation is resumed; the fake agent thinks that it is
	 * done. */
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_prompts("has been resumed"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit half.txt"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	auto_history("half.txt: x", NULL);
	auto_no_complaints();
}

TEST(the_second_signal_waits_for_nobody)
{
	int64_t began;

	auto_task("deaf.md", "Deaf\nfake: hang hard");
	auto_up(NULL);
	auto_wait_state("workers.auto-1.status", "working");
	fleet_wait_prompt("fake: hang hard");
	auto_signal(SIGINT);
	auto_wait_logged("autod.log", "stopping");
	began = clock_mono_ms();
	auto_signal(SIGINT);
	auto_wait_exit();
	ck_assert_int_lt(clock_mono_ms() - began, 3000);
	ck_assert(e2e_exists(fleet_worktree("auto-1")));
}

TEST(a_killed_daemon_goes_on_with_what_runs)
{
	int one, two;

	auto_task("1.md", "One\nfake: run %s\nfake: commit 1.txt x",
	    auto_gate("one"));
	auto_task("2.md", "Two\nfake: run %s\nfake: commit 2.txt x",
	    auto_gate("two"));
	auto_up("--concurrency", "2", NULL);
	auto_wait_gate("one");
	auto_wait_gate("two");
	one = fleet_agent_pid("auto-1");
	two = fleet_agent_pid("auto-2");
	auto_kill9_daemon();
	auto_open_gate("one"); /* its Stop finds no daemon */
	fleet_wait_spooled();
	auto_up("--concurrency", "2", "--until-empty", NULL);
	ck_assert_int_eq(fleet_agent_pid("auto-1"), one);
	ck_assert_int_eq(fleet_agent_pid("auto-2"), two);
	auto_wait_landed(1);
	auto_open_gate("two");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("1.txt: x", "2.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_int_eq(fleet_prompts("fake: commit 1.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit 2.txt"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	ck_assert_int_eq(auto_logged("autod.log", "session adopted"), 2);
	auto_no_complaints();
	auto_no_sessions();
}

TEST(workers_of_people_and_of_auto_mode_live_side_by_side)
{
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("g"));
	auto_up(NULL);
	auto_wait_gate("g");
	fleet_add("adam");
	fleet_start("adam", "fake: commit adam.txt x");
	fleet_wait("adam", "needs_review");
	/* People cannot use a free auto worker, much less a busy one. */
	fleet_fails("auto-1", "start", "--worker", "auto-1", "--prompt",
	    "fake: commit no.txt x", NULL);
	auto_open_gate("g");
	auto_wait_finished("landed", 1);
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
	fleet_fails("auto-1", "start", "--worker", "auto-1", "--prompt",
	    "fake: commit no.txt x", NULL);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	auto_history("a.txt: x", "adam.txt: x", NULL);
	/* And it gets no task from the source. */
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_task("c.md", "C\nfake: commit c.txt x");
	auto_wait_finished("landed", 3);
	ck_assert_int_eq(auto_events("task_assigned", "auto-1"), 3);
	auto_drain();
	auto_no_complaints();
}

/* --- lost hooks ------------------------------------------------------- */

/* An agent whose first hook of this event gets lost. */
static void
lose_first(const char *event)
{
	const char *agent =
	    fleet_do("config", "get", "defaults.agent_command", NULL)->out;
	const char *hook = unit_path("lossy-hook");
	const char *wrapper = unit_path("lossy-agent");

	e2e_skip_sandboxed("a worker cannot change its settings.json in a box");
	e2e_script(hook,
	    e2e_path("#!/bin/sh\n"
		     "[ \"$2\" = %s ] && mkdir '%s' 2>/dev/null && exit\n"
		     "exec '%s' \"$@\"\n",
		event, unit_path("lost"), e2e_llmc_path()));
	e2e_script(wrapper,
	    e2e_path("#!/bin/sh\n"
		     "for word; do\n"
		     "	case $word in */settings.json) file=$word ;; esac\n"
		     "done\n"
		     "sed -i 's,\"command\": *\"[^\"]*llmc\",\"command\": "
		     "\"%s\",' \"$file\"\n"
		     "exec '%.*s' \"$@\"\n",
		hook, (int)strcspn(agent, "\n"), agent));
	auto_set("defaults.agent_command", wrapper);
}

TEST(a_lost_session_start_costs_only_time)
{
	lose_first("SessionStart");
	auto_set("defaults.start_timeout", "1s");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert(e2e_exists(unit_path("lost")));
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 1);
	auto_no_complaints();
}

TEST(a_lost_submission_is_found_in_the_transcript)
{
	lose_first("UserPromptSubmit");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert(e2e_exists(unit_path("lost")));
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 1);
	auto_no_complaints();
}

TEST(a_lost_stop_is_found_out_by_the_silence)
{
	lose_first("Stop");
	auto_set("auto.worker_stall_timeout", "1s");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert(e2e_exists(unit_path("lost")));
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("stall", "redirect"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 1);
	auto_no_complaints();
}

TEST(a_lost_stop_is_told_by_the_agent_that_waits)
{
	lose_first("Stop");
	setenv("FAKE_CLAUDE_IDLE_MS", "300", 1);
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert(e2e_exists(unit_path("lost")));
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("stall", NULL), 0);
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 1);
	auto_no_complaints();
}

/* Its hooks are written again for every session. */
TEST(a_deleted_hook_file_comes_back)
{
	const char *file =
	    e2e_path("%s/.llmc/sessions/auto-1/settings.json", fleet_root());

	auto_up(NULL);
	auto_wait_state("workers.auto-1.status", "idle");
	auto_drain();
	e2e_sh(fleet_root(), "rm -r .llmc/sessions");
	ck_assert(!e2e_exists(file));
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert(e2e_exists(file));
	ck_assert_int_eq(auto_landed(), 1);
}

/* What other programs run too. */
void
unit_more(Suite *suite)
{
	auto_scenarios_add(suite, unit_before);
}
