/* SPDX-License-Identifier: ISC */

/* The failure table, rows 9 to 12: sessions, worktrees, and bad work. */
#include "overrun.h"

static const char *
tmux_kill(void)
{
	return e2e_path("tmux -L '%.*s' kill-session -t =llmc-auto-1",
	    (int)strcspn(
		fleet_do("config", "get", "tmux.socket", NULL)->out, "\n"),
	    fleet_do("config", "get", "tmux.socket", NULL)->out);
}

START_TEST(a_session_that_is_killed_once_is_made_again)
{
	int daemon, agent;

	auto_task(
	    "a.md", "A\nfake: commit work.txt x\nfake: run %s", auto_gate("a"));
	over_start();
	daemon = over_daemon(0);
	auto_wait_gate("a");
	agent = fleet_agent_pid("auto-1");
	e2e_expect(e2e_sh(fleet_root(), tmux_kill()), 0, NULL);
	auto_wait_finished("landed", 1);
	ck_assert_int_ne(fleet_agent_pid("auto-1"), agent);
	over_undisturbed(daemon);
	over_finish();
}
END_TEST

/* An agent that does not crash, and does not end with its session. */
static void
outlive_sessions(const char *killer)
{
	const char *agent =
	    fleet_do("config", "get", "defaults.agent_command", NULL)->out;
	const char *wrapper = e2e_path("%s/agent", unit_scratch());

	e2e_script(wrapper,
	    e2e_path("#!/bin/sh\ntrap '' HUP\n'%.*s' \"$@\"\n"
		     "[ ! -e '%s' ] || { sleep 60 & wait; }\n",
		(int)strcspn(agent, "\n"), agent, killer));
	auto_set("defaults.agent_command", wrapper);
}

/* Something on the machine kills the session in every turn. */
START_TEST(a_session_that_keeps_being_killed_is_repaired)
{
	const char *killer = e2e_path("%s/killer", unit_scratch());

	e2e_write(killer, "");
	outlive_sessions(killer);
	over_leave_behind(e2e_path("exec >'%s.killed' 2>&1 </dev/null\n"
				   "while [ -e '%s' ]; do [ ! -e '%s.now' ] || "
				   "{ rm '%s.now'; %s && echo killed; }; "
				   "sleep 0.1; done",
	    killer, killer, killer, killer, tmux_kill()));
	over_culprit(e2e_path(
	    "[ ! -e '%s' ] || { touch '%s.now'; sleep 20; }", killer, killer));
	auto_task("a.md", "A\nfake: commit work.txt x");
	over_remedy(_i, "fake: run rm '%s'", killer);
	over_start();
	if (over_recovers(_i, "3 times in a row", 0))
		over_finish();
	else
		ck_assert_int_eq(auto_landed(), 0);
	/* It was that, three times or more for each failure, and nothing
	 * else. */
	ck_assert_str_eq(
	    e2e_sh(fleet_root(), e2e_path("sort -u '%s.killed'", killer))->out,
	    "killed\n");
	ck_assert_int_ge(
	    strtol(e2e_sh(fleet_root(), e2e_path("wc -l <'%s.killed'", killer))
		       ->out,
		NULL, 10),
	    _i ? 6 : 3);
}
END_TEST

START_TEST(a_corrupt_worktree_is_made_anew)
{
	int daemon;

	e2e_skip_sandboxed("a worker in a box cannot replace .git");
	auto_task("a.md",
	    "A\nfake: commit work.txt x\nfake: run [ -e \"$FLEET/once\" ] || "
	    "{ touch \"$FLEET/once\"; echo nonsense >.git; }");
	over_start();
	daemon = over_daemon(0);
	auto_wait_finished("landed", 1);
	over_undisturbed(daemon);
	over_finish();
	auto_salvaged("auto-1", "work.txt");
	e2e_expect(e2e_sh(fleet_root(),
		       "grep nonsense .worktrees/auto-1.broken-*/.git"),
	    0, NULL);
}
END_TEST

/* The commit is on the default branch; the session repairs what it broke. */
START_TEST(work_that_fails_the_tests_is_repaired)
{
	auto_set("auto.post_accept_command",
	    "[ ! -e bad.txt ] || { echo it does not build >&2; exit 5; }");
	auto_task("a.md", "A\nfake: commit bad.txt x");
	auto_task("b.md", "B\nfake: commit good.txt x");
	over_remedy(
	    _i, "fake: run git rm -q bad.txt && git commit -q -m 'Mend it'");
	over_start();
	if (!over_recovers(_i, "\"post_accept\"", 0)) {
		e2e_has(over_output(), "it does not build");
		ck_assert_int_eq(auto_landed(), 2);
		return;
	}
	auto_wait_finished("landed", 2);
	over_stop();
	auto_history(
	    "bad.txt: x", "Repair by the overseer", "good.txt: x", NULL);
	ck_assert_int_eq(auto_events("post_accept", "\"exit_code\":\"0\""), 1);
}
END_TEST

Suite *
unit_suite(void)
{
	const struct over_test tests[] = {
		{ "9", a_session_that_is_killed_once_is_made_again },
		{ "10", a_session_that_keeps_being_killed_is_repaired },
		{ "11", a_corrupt_worktree_is_made_anew },
		{ "12", work_that_fails_the_tests_is_repaired },
	};

	return over_suite("failure-table-workers", tests, nitems(tests));
}
