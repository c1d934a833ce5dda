/* SPDX-License-Identifier: ISC */

/* Scenarios of single workers: tasks, decisions, failures. What must work with
 * any agent is in scenarios.c. */
#include "fleet.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin();
	fleet_up();
}

START_TEST(nothing_done_is_no_changes)
{
	fleet_add("adam");
	fleet_start("adam", "fake: say there was nothing to do");
	fleet_wait("adam", "no_changes");
	/* Everybody who asks is told what to type. */
	e2e_has(fleet_do("status", NULL)->out, "free it with: llmc reset adam");
	fleet_fails("llmc message adam TEXT, or free it with: llmc reset adam",
	    "start", "--prompt", "x", NULL);
	fleet_fails("llmc message adam TEXT, or free it with: llmc reset adam",
	    "start", "--worker", "adam", "--prompt", "x", NULL);
	fleet_fails("llmc reset adam", "accept", "adam", NULL);
	fleet_fails("llmc reset adam", "review", "adam", NULL);
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_start("adam", "fake: commit a.txt a");
	fleet_wait("adam", "needs_review");
}
END_TEST

/* It would look as if it worked on them. */
START_TEST(a_plain_daemon_does_not_show_auto_mode)
{
	fleet_do("down", NULL);
	fleet_do("up", "--auto", "--until-empty", NULL);
	e2e_has(fleet_do("status", NULL)->out, "AUTO MODE");
	fleet_up();
	e2e_lacks(fleet_do("status", NULL)->out, "AUTO MODE");
}
END_TEST

START_TEST(a_rejection_is_worked_on)
{
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt first");
	fleet_wait("adam", "needs_review");
	fleet_do(
	    "reject", "--worker", "adam", "fake: commit b.txt second", NULL);
	fleet_wait("adam", "needs_review");
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/b.txt", fleet_root())), "second");
}
END_TEST

START_TEST(a_dirty_checkout_makes_the_landing_wait)
{
	fleet_add("adam");
	fleet_start("adam", "fake: commit a.txt new");
	fleet_wait("adam", "needs_review");
	e2e_write(e2e_path("%s/README", fleet_root()), "my own edit\n");
	e2e_git(fleet_root(), "add", "README", NULL);
	fleet_fails("checkout", "accept", "adam", NULL);
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
	e2e_has(e2e_read(e2e_path("%s/README", fleet_root())), "my own edit");
	e2e_git(fleet_root(), "commit", "-q", "-m", "mine", NULL);
	fleet_do("accept", "adam", NULL);
	e2e_has(fleet_log(), "mine");
}
END_TEST

START_TEST(a_conflict_is_resolved_by_the_worker)
{
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: commit same.txt from-adam");
	fleet_start("eve", "fake: commit same.txt from-eve\nfake: resolve");
	fleet_wait("adam", "needs_review");
	fleet_wait("eve", "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_do("accept", "eve", NULL);
	/* It continues by itself when the conflict is resolved. */
	fleet_wait("eve", "idle");
	ck_assert_int_eq(fleet_commits(), 3);
}
END_TEST

START_TEST(an_agent_killed_over_a_conflict_comes_back)
{
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: commit same.txt from-adam");
	fleet_start("eve",
	    "fake: commit same.txt from-eve\nfake: sleep 1000\nfake: resolve");
	fleet_wait("adam", "needs_review");
	fleet_wait("eve", "needs_review");
	fleet_do("accept", "adam", NULL);
	fleet_do("accept", "eve", NULL);
	fleet_wait_prompt("Your task was");
	fleet_kill(fleet_agent_pid("eve"));
	fleet_wait_prompt("has been resumed");
	/* The fake agent only says "done": it was sent back, then given up. */
	fleet_wait("eve", "paused,idle");
	ck_assert_int_ge(fleet_commits(), 2);
}
END_TEST

START_TEST(a_lost_tmux_server_is_made_again)
{
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" kill-server");
	fleet_next_agent_pid("adam", agent);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit x.txt y");
	fleet_wait("adam", "needs_review");
}
END_TEST

START_TEST(a_limit_holds_the_idle_too)
{
	fleet_add("adam");
	fleet_add("eve");
	fleet_start("adam", "fake: limit You've hit your limit");
	fleet_wait("adam", "limited");
	fleet_wait("eve", "limited");
	fleet_fails("eve is limited", "start", "--worker", "eve", "--prompt",
	    "anything", NULL);
}
END_TEST

START_TEST(an_idle_agent_that_dies_comes_back)
{
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	fleet_kill(agent);
	fleet_next_agent_pid("adam", agent);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit x.txt y");
	fleet_wait("adam", "needs_review");
}
END_TEST

static const char *
arguments(const char *worker)
{
	return e2e_sh(NULL,
	    e2e_path("tr '\\0' ' ' </proc/%d/cmdline", fleet_agent_pid(worker)))
	    ->out;
}

/* The next task has a session with the new settings; a running one stays. */
START_TEST(settings_of_a_worker_count_from_its_next_task)
{
	int agent;

	fleet_add("adam");
	fleet_start("adam", "fake: commit x.txt y");
	fleet_wait("adam", "needs_review");
	agent = fleet_agent_pid("adam");
	e2e_lacks(arguments("adam"), "haiku");
	fleet_do("config", "set", "workers.adam.model", "haiku", NULL);
	fleet_do("message", "adam", "fake: commit x.txt z", NULL);
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit x.txt 2");
	fleet_wait("adam", "needs_review");
	e2e_has(arguments("adam"), "--model haiku");
	ck_assert_int_eq(fleet_prompts("fake: commit x.txt 2"), 1);
	agent = fleet_agent_pid("adam");
	fleet_do("accept", "adam", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit x.txt 3");
	fleet_wait("adam", "needs_review");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
}
END_TEST

/* A tmux that answers slowly. */
static void
begin_with_slow_tmux(void)
{
	const char *dir;

	fleet_begin();
	dir = e2e_dir("bin");
	e2e_script(e2e_path("%s/tmux", dir),
	    e2e_path("#!/bin/sh\nPATH='%s'\ntmux \"$@\" || exit\n"
		     "case \" $* \" in *' new-session '*)\n"
		     "cd '%s'; until \"$STATE\" | grep -q "
		     "'\"ready\": *true'; do :; done\n"
		     "esac\n",
		getenv("PATH"), fleet_root()));
	e2e_env(e2e_path("PATH=%s:%s", dir, getenv("PATH")));
	fleet_up();
}

START_TEST(a_session_that_reports_before_tmux_is_watched)
{
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	fleet_kill(agent);
	fleet_next_agent_pid("adam", agent);
}
END_TEST

START_TEST(events_wait_for_a_daemon)
{
	fleet_add("adam");
	fleet_start("adam", "fake: sleep 300\nfake: commit s.txt x");
	fleet_wait("adam", "working");
	fleet_kill(fleet_daemon_pid());
	/* The turn ends while no daemon is running. */
	fleet_wait_spooled();
	fleet_up();
	fleet_wait("adam", "needs_review");
}
END_TEST

START_TEST(reset_and_nuke_salvage)
{
	fleet_add("adam");
	fleet_start("adam", "fake: commit precious.txt gold");
	fleet_wait("adam", "needs_review");
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	e2e_has(e2e_git(fleet_root(), "for-each-ref", "--format=%(refname)",
		    "refs/llmc/salvage/adam", NULL),
	    "refs/llmc/salvage/adam/");
	fleet_start("adam", "fake: write dirt.txt silver");
	fleet_wait("adam", "needs_review");
	fleet_do("nuke", "adam", "--yes", NULL);
	ck_assert(!e2e_exists(fleet_worktree("adam")));
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "branch", "--list", "llmc/*", NULL), "");
}
END_TEST

/* The daemon may still be launching its session, which takes longer in a box.
 */
static void
accept_soon(const char *worker)
{
	int64_t end = clock_mono_ms() + 20000;
	struct e2e_run *run = e2e_llmc(fleet_root(), "accept", worker, NULL);

	while (strstr(run->err, "another operation") != NULL &&
	    clock_mono_ms() < end) {
		poll(NULL, 0, 50); /* another program */
		run = e2e_llmc(fleet_root(), "accept", worker, NULL);
	}
	e2e_expect(run, 0, NULL);
}

START_TEST(down_and_up_go_on)
{
	fleet_add("adam");
	fleet_start("adam", "fake: commit k.txt kept");
	fleet_wait("adam", "needs_review");
	fleet_do("down", NULL);
	fleet_up();
	ck_assert_str_eq(fleet_status("adam"), "needs_review");
	accept_soon("adam");
	e2e_has(e2e_read(e2e_path("%s/k.txt", fleet_root())), "kept");
}
END_TEST

START_TEST(agents_cannot_take_the_fleet_down)
{
	e2e_env("LLMC_AGENT=1");
	fleet_fails("agents may not run", "down", NULL);
	fleet_fails("agents may not run", "nuke", "--all", "--yes", NULL);
	e2e_env("LLMC_AGENT");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("workers");
	const TTest *const all[] = { nothing_done_is_no_changes,
		a_plain_daemon_does_not_show_auto_mode,
		a_rejection_is_worked_on,
		a_dirty_checkout_makes_the_landing_wait,
		a_conflict_is_resolved_by_the_worker,
		an_agent_killed_over_a_conflict_comes_back,
		a_lost_tmux_server_is_made_again, a_limit_holds_the_idle_too,
		settings_of_a_worker_count_from_its_next_task,
		an_idle_agent_that_dies_comes_back, events_wait_for_a_daemon,
		reset_and_nuke_salvage, down_and_up_go_on,
		agents_cannot_take_the_fleet_down };

	scenarios_add(s, begin);
	scenarios_add_test(s, begin_with_slow_tmux,
	    a_session_that_reports_before_tmux_is_watched);
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
