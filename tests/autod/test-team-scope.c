/* SPDX-License-Identifier: ISC */

/* Finished work that changes files outside the scope of its task goes back. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "mem.h"
#include "state.h"
#include "strv.h"
#include "task-run.h"
#include "task.h"
#include "team-world.h"
#include "unit.h"

static struct task *
task(struct team_world *w)
{
	return state_task(&w->world.core->state, "t1");
}

/* A turn on a task that may change src alone. */
static struct agent *
begin(struct team_world *w, const char *settings, const char *head)
{
	struct agent *agent;
	cleanup_free char *text = xasprintf("%sDo it\n", head);

	team_world_begin(w, settings);
	auto_world_task(&w->world, "a.md", text);
	auto_world_live(&w->world);
	agent = auto_world_turn(&w->world, 1);
	strv_add(&task_run_of(task(w))->scope_paths, "src");
	return agent;
}

static void
sh(struct team_world *w, const char *command)
{
	floor_world_wt(&w->world.floor, "auto-1", command);
}

static void
work(struct team_world *w, const char *file)
{
	cleanup_free char *command = xasprintf(
	    "mkdir -p src docs && echo 1 >%s && git add . && git commit -qm %s",
	    file, file);

	sh(w, command);
}

static void
end_turn(struct agent *agent)
{
	fake_session_turn_ends(agent->session, "Done.");
}

static void
ends(struct team_world *w, const char *want)
{
	auto_world_wait_done(&w->world);
	auto_world_filed(&w->world, want);
}

static void
has(const char *text, const char *words)
{
	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
}

static int
times(const struct team_world *w, const char *words)
{
	int count = 0;

	for (const char *s = w->world.told.data; (s = strstr(s, words)) != NULL;
	     s++)
		count++;
	return count;
}

TEST(work_outside_of_its_scope_goes_back_until_it_is_within)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL, "");

	work(&w, "src/in");
	work(&w, "docs/out");
	work(&w, "top");
	end_turn(agent);
	auto_world_turn(&w.world, 2);
	has(fake_session_prompt(agent->session),
	    "Your commits change 2 files outside the scope of your task: "
	    "docs/out, top. You may change: src. ");
	ck_assert_int_eq(task(&w)->run->violations, 1);
	ck_assert_ptr_null(task(&w)->run->scope_checked);
	/* Removed by another commit: the history does not matter. */
	sh(&w, "git rm -q docs/out top && git commit -qm less");
	end_turn(agent);
	ends(&w, "t1 landed; ");
	ck_assert_str_eq(
	    floor_world_sh(&w.world.floor, "git ls-files"), "a.txt\nsrc/in");
	team_world_end(&w);
}

TEST(a_task_without_a_scope_is_not_asked_about)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL, "");

	strv_clear(&task(&w)->run->scope_paths);
	work(&w, "top");
	end_turn(agent);
	ends(&w, "t1 landed; ");
	team_world_end(&w);
}

TEST(turns_run_out_on_work_outside_of_its_scope)
{
	struct team_world w;
	struct agent *agent =
	    begin(&w, "max_turns = 2\nmax_attempts = 1\n", "");

	work(&w, "top");
	end_turn(agent);
	auto_world_turn(&w.world, 2);
	end_turn(agent);
	ends(&w, "t1 failed; ");
	ck_assert_str_eq(floor_world_sh(&w.world.floor, "ls"), "a.txt");
	has(auto_world_record(&w.world, "t1"),
	    "outside the scope of your task: top");
	team_world_end(&w);
}

/* Something commits while the work is checked: that is not what lands. */
TEST(another_head_is_looked_at_before_it_lands)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL, "");

	work(&w, "src/in");
	end_turn(agent);
	floor_world_wait_step(&w.world.floor, agent, "files");
	work(&w, "late");
	auto_world_turn(&w.world, 2);
	has(fake_session_prompt(agent->session), "1 file outside the scope");
	has(fake_session_prompt(agent->session), ": late. ");
	ck_assert_str_eq(floor_world_sh(&w.world.floor, "ls"), "a.txt");
	sh(&w, "git reset -q --hard HEAD~1");
	end_turn(agent);
	ends(&w, "t1 landed; ");
	ck_assert_str_eq(
	    floor_world_sh(&w.world.floor, "git ls-files"), "a.txt\nsrc/in");
	team_world_end(&w);
}

TEST(the_contract_comes_after_the_scope)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL,
	    "Verification: {\"artifacts\": [{\"path\": \"src/in\"}]}\n\n");

	work(&w, "top");
	end_turn(agent);
	auto_world_turn(&w.world, 2);
	ck_assert_int_eq(times(&w, "verification"), 0);
	sh(&w, "git reset -q --hard HEAD~1");
	work(&w, "src/in");
	end_turn(agent);
	ends(&w, "t1 landed; ");
	ck_assert_int_eq(times(&w, "verification t1 passed"), 1);
	team_world_end(&w);
}

TEST(a_daemon_that_dies_has_it_looked_at_again)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL, "");

	work(&w, "top");
	end_turn(agent);
	floor_world_wait_step(&w.world.floor, agent, "files");
	floor_world_settle(&w.world.floor);
	team_world_die(&w);
	agent = auto_world_turn(&w.world, 1);
	end_turn(agent);
	auto_world_turn(&w.world, 2);
	has(fake_session_prompt(agent->session), ": top. ");
	team_world_end(&w);
}

TEST(what_the_branch_has_got_meanwhile_is_not_its_own)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL, "");

	work(&w, "src/in");
	floor_world_sh(&w.world.floor,
	    "echo 1 >other && git add other && git commit -qm other");
	sh(&w, "git rebase -q main");
	end_turn(agent);
	ends(&w, "t1 landed; ");
	ck_assert_int_eq(times(&w, "sent_back"), 0);
	team_world_end(&w);
}
