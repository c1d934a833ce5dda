/* SPDX-License-Identifier: ISC */

/* Scenarios of single workers: tasks, decisions, failures. What must work with
 * any agent is in scenarios.c. */
#include "fleet.h"
#include "scenarios.h"

void
unit_before(void)
{
	fleet_begin();
	fleet_up();
}

const int unit_timeout = 120; /* seconds, each */

TEST(nothing_done_is_no_changes)
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

/* It would look as if it worked on them. */
TEST(a_plain_daemon_does_not_show_auto_mode)
{
	fleet_do("down", NULL);
	fleet_do("up", "--auto", "--until-empty", NULL);
	e2e_has(fleet_do("status", NULL)->out, "AUTO MODE");
	fleet_up();
	e2e_lacks(fleet_do("status", NULL)->out, "AUTO MODE");
}

TEST(an_agent_killed_over_a_conflict_comes_back)
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

static const char *
arguments(const char *worker)
{
	return e2e_sh(NULL,
	    e2e_path("tr '\\0' ' ' </proc/%d/cmdline", fleet_agent_pid(worker)))
	    ->out;
}

/* The next task has a session with the new settings; a running one stays. */
TEST(settings_of_a_worker_count_from_its_next_task)
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
		     "cd '%s'; until '%s' | grep -q "
		     "'\"ready\": *true'; do :; done\n"
		     "esac\n",
		getenv("PATH"), fleet_root(), getenv("STATE")));
	e2e_env(e2e_path("PATH=%s:%s", dir, getenv("PATH")));
	fleet_up();
}

TEST_IN(begin_with_slow_tmux, a_session_that_reports_before_tmux_is_watched)
{
	int agent;

	fleet_add("adam");
	agent = fleet_agent_pid("adam");
	fleet_kill(agent);
	fleet_next_agent_pid("adam", agent);
}

/* The daemon may still be launching its session, which takes longer in a box.
 */
static void
accept_soon(const char *worker)
{
	struct e2e_run *run = e2e_llmc(fleet_root(), "accept", worker, NULL);

	while (
	    strstr(run->err, "another operation") != NULL && !unit_is_late()) {
		poll(NULL, 0, 50); /* another program */
		run = e2e_llmc(fleet_root(), "accept", worker, NULL);
	}
	e2e_expect(run, 0, NULL);
}

TEST(down_and_up_go_on)
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

TEST(agents_cannot_take_the_fleet_down)
{
	e2e_env("LLMC_AGENT=1");
	fleet_fails("agents may not run", "down", NULL);
	fleet_fails("agents may not run", "nuke", "--all", "--yes", NULL);
	e2e_env("LLMC_AGENT");
}

/* What other programs run too. */
void
unit_more(Suite *suite)
{
	scenarios_add(suite, unit_before);
}
