/* SPDX-License-Identifier: ISC */

/* What llmc relies on when it lets a hook of the real Claude Code decide which
 * tools may be used: a stub of the API answers. */
#include "fleet.h"
#include "scenarios.h"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	fleet_up();
}

/* From now on a script is the agent: it changes the settings of the session by
 * a script of sed, and becomes Claude Code. */
static void
change_settings(const char *worker, const char *sed)
{
	const char *agent = e2e_path("%s/%s.sh", unit_scratch(), worker);

	e2e_script(agent,
	    e2e_path("#!/bin/sh\n"
		     "sed -i '%s' '%s/.llmc/sessions/%s/settings.json' &&\n"
		     "exec '%s' \"$@\"\n",
		sed, fleet_root(), worker, fleet_real_agent()));
	fleet_do("config", "set", "defaults.agent_command", agent, NULL);
}

/* In the hook of PreToolUse only. */
static const char *
guard_runs(const char *program)
{
	return e2e_path("/\"PreToolUse\": *\\[/,/\"timeout\"/{"
			"s|\"command\": *\"[^\"]*\"|\"command\": \"%s\"|;"
			"s|\"timeout\": *[0-9]*|\"timeout\": 2|}",
	    program);
}

START_TEST(no_tool_is_used_whose_guard_does_not_answer)
{
	const char *fails = e2e_path("%s/fails", unit_scratch());
	const char *hangs = e2e_path("%s/hangs", unit_scratch());
	const char *passes = e2e_path("%s/passes", unit_scratch());
	const struct {
		const char *worker, *guard, *status;
	} cases[] = {
		{ "passes", passes, "needs_review" },
		{ "absent", "/nonexistent/llmc", "no_changes" },
		{ "fails", fails, "no_changes" },
		{ "hangs", hangs, "no_changes" },
	};

	e2e_script(fails, "#!/bin/sh\nexit 1\n");
	e2e_script(hangs, "#!/bin/sh\nexec tail -f /dev/null\n");
	e2e_script(passes, "#!/bin/sh\nexit 0\n");
	for (size_t i = 0; i < nitems(cases); i++) {
		const char *name = cases[i].worker;

		change_settings(name, guard_runs(cases[i].guard));
		fleet_add(name);
		fleet_start(name, "fake: commit a.txt x");
		fleet_wait(name, "needs_review,no_changes");
		ck_assert_str_eq(fleet_status(name), cases[i].status);
	}
}
END_TEST

START_TEST(no_file_in_the_worktree_turns_the_guard_off)
{
	static const char *const files[] = { ".claude/settings.json",
		".claude/settings.local.json" };

	for (size_t i = 0; i < nitems(files); i++) {
		const char *name = e2e_path("w%zu", i);
		const char *tree = fleet_worktree(name);

		change_settings(name, guard_runs("/nonexistent/llmc"));
		fleet_add(name);
		e2e_expect(
		    e2e_sh(tree,
			e2e_path("mkdir -p .claude && echo '{\"disableAllHooks"
				 "\":true}' >%s && echo .claude >>\"$(git "
				 "rev-parse --git-path info/exclude)\"",
			    files[i])),
		    0, NULL);
		fleet_start(name, "fake: commit a.txt x");
		fleet_wait(name, "needs_review,no_changes");
		ck_assert_str_eq(fleet_status(name), "no_changes");
	}
}
END_TEST

/* By rules of Claude Code, but for the last one, which is the hook's. Each
 * would leave a file if any of it ran. */
START_TEST(commands_that_a_worker_does_not_run_leave_nothing)
{
	static const char *const commands[] = { "git push origin main",
		"env X=1 git push", "git -C . push", "git -c a.b=c push",
		"sh -c 'git push'", "bash -lc 'cd . && git push'",
		"eval git push", "a=push; git $a", "sudo true",
		"/usr/bin/sudo true", "su -c true", "pkill -f nobody-has-this",
		"git config --global a.b c", "echo x >golden/a",
		"rm -rf /nonexistent/llmc" };
	const char *scratch = e2e_dir("ran");
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < nitems(commands); i++)
		buf_addf(&text, "fake: run %s; touch '%s/%zu'\n", commands[i],
		    scratch, i);
	buf_addf(&text, "fake: run git stash push; touch '%s/ok'\n", scratch);
	buf_adds(&text, "fake: commit a.txt x");
	fleet_do("config", "set", "repo.protected_paths", "[\"golden\"]", NULL);
	fleet_add("adam");
	fleet_start("adam", text.data);
	buf_release(&text);
	fleet_wait("adam", "needs_review,no_changes");
	ck_assert_str_eq(e2e_sh(scratch, "echo $(ls)")->out, "ok\n");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s;

	scenarios_real();
	s = suite_create("guard-real");
	scenarios_add_test(
	    s, begin, no_tool_is_used_whose_guard_does_not_answer);
	scenarios_add_test(
	    s, begin, no_file_in_the_worktree_turns_the_guard_off);
	scenarios_add_test(
	    s, begin, commands_that_a_worker_does_not_run_leave_nothing);
	return s;
}
