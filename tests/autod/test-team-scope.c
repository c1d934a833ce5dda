/* SPDX-License-Identifier: ISC */

/* Finished work that changes files outside the scope of its task goes back. */
#include "team-world.h"
#include "state.h"

static struct task *
task(void)
{
	return state_task(&auto_world.core->state, "t1");
}

/* A turn on a task that may change src alone. */
static struct agent *
begin(const char *settings, const char *head)
{
	struct agent *agent;
	cleanup_free char *text = xasprintf("%sDo it\n", head);

	team_world_begin(settings);
	auto_world_task("a.md", text);
	auto_world_live();
	agent = auto_world_turn(1);
	strv_add(&task()->launch.scope_paths, "src");
	return agent;
}

static void
sh(const char *command)
{
	floor_world_wt("auto-1", command);
}

static void
work(const char *file)
{
	cleanup_free char *command = xasprintf(
	    "mkdir -p src docs && echo 1 >%s && git add . && git commit -qm %s",
	    file, file);

	sh(command);
}

static void
end_turn(struct agent *agent)
{
	fake_session_turn_ends(agent->session, "Done.");
}

static void
ends(const char *want)
{
	auto_world_wait_done();
	auto_world_filed(want);
}

static int
times(const char *words)
{
	int count = 0;

	for (const char *s = auto_world.told.data;
	     (s = strstr(s, words)) != NULL; s++)
		count++;
	return count;
}

TEST(work_outside_of_its_scope_goes_back_until_it_is_within)
{
	struct agent *agent = begin(NULL, "");

	work("src/in");
	work("docs/out");
	work("top");
	end_turn(agent);
	auto_world_turn(2);
	floor_has(fake_session_prompt(agent->session),
	    "Your commits change 2 files outside the scope of your task: "
	    "docs/out, top. You may change: src. ");
	ck_assert_int_eq(task()->attempt.violations, 1);
	ck_assert_ptr_null(task()->attempt.scope_checked);
	/* Removed by another commit: the history does not matter. */
	sh("git rm -q docs/out top && git commit -qm less");
	end_turn(agent);
	ends("t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git ls-files"), "a.txt\nsrc/in");
}

TEST(a_task_without_a_scope_is_not_asked_about)
{
	struct agent *agent = begin(NULL, "");

	strv_clear(&task()->launch.scope_paths);
	work("top");
	end_turn(agent);
	ends("t1 landed; ");
}

TEST(turns_run_out_on_work_outside_of_its_scope)
{
	struct agent *agent = begin("max_turns = 2\nmax_attempts = 1\n", "");

	work("top");
	end_turn(agent);
	auto_world_turn(2);
	end_turn(agent);
	ends("t1 failed; ");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt");
	floor_has(
	    auto_world_record("t1"), "outside the scope of your task: top");
}

/* Something commits while the work is checked: that is not what lands. */
TEST(another_head_is_looked_at_before_it_lands)
{
	struct agent *agent = begin(NULL, "");

	work("src/in");
	end_turn(agent);
	floor_world_wait_step(agent, "files");
	work("late");
	auto_world_turn(2);
	floor_has(
	    fake_session_prompt(agent->session), "1 file outside the scope");
	floor_has(fake_session_prompt(agent->session), ": late. ");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt");
	sh("git reset -q --hard HEAD~1");
	end_turn(agent);
	ends("t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git ls-files"), "a.txt\nsrc/in");
}

TEST(the_contract_comes_after_the_scope)
{
	struct agent *agent = begin(NULL,
	    "Verification: {\"artifacts\": [{\"path\": \"src/in\"}]}\n\n");

	work("top");
	end_turn(agent);
	auto_world_turn(2);
	ck_assert_int_eq(times("verification"), 0);
	sh("git reset -q --hard HEAD~1");
	work("src/in");
	end_turn(agent);
	ends("t1 landed; ");
	ck_assert_int_eq(times("verification t1 passed"), 1);
}

TEST(a_daemon_that_dies_has_it_looked_at_again)
{
	struct agent *agent = begin(NULL, "");

	work("top");
	end_turn(agent);
	floor_world_wait_step(agent, "files");
	floor_world_settle();
	team_world_die();
	agent = auto_world_turn(1);
	end_turn(agent);
	auto_world_turn(2);
	floor_has(fake_session_prompt(agent->session), ": top. ");
}

TEST(what_the_branch_has_got_meanwhile_is_not_its_own)
{
	struct agent *agent = begin(NULL, "");

	work("src/in");
	floor_world_sh(
	    "echo 1 >other && git add other && git commit -qm other");
	sh("git rebase -q main");
	end_turn(agent);
	ends("t1 landed; ");
	ck_assert_int_eq(times("sent_back"), 0);
}
