/* SPDX-License-Identifier: ISC */

/* Where tasks come from while auto mode runs, and what people do with them. */
#include "autorun.h"

/* Tasks for a pool: one per call, then the last command. */
#define ONE_THEN(last)                               \
	"echo called >>\"$POOL/calls\"\n"            \
	"if mkdir \"$POOL/one\" 2>/dev/null; then\n" \
	"	echo 'fake: commit one.txt x'; exit\n"     \
	"fi\n" last

/* --- a command -------------------------------------------------------- */

TEST(a_command_gives_tasks_until_it_says_nothing)
{
	auto_pool("echo looking >&2\n" ONE_THEN("exit 4"));
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("one.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_ge(auto_logged("task_pool.log", "looking"), 2);
	ck_assert_int_eq(auto_logged("task_pool.log", "commit one.txt"), 1);
	auto_no_complaints();
}

TEST(a_task_that_was_given_before_is_not_lost)
{
	/* The run may end in the middle of the agent's first turn. */
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	auto_pool(ONE_THEN("echo no more >&2; exit 1"));
	auto_set("auto.concurrency", "2");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_failed", "no more");
	/* In progress, or still waiting: the next run finishes it. */
	auto_pool(ONE_THEN("exit 4"));
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("one.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
}

/* The command prints a task only once, so its output must not get lost. */
TEST(a_command_outlives_a_killed_daemon)
{
	auto_pool(e2e_path("echo called >>\"$POOL/calls\"\n"
			   "mkdir \"$POOL/one\" 2>/dev/null || exit 4\n%s\n"
			   "echo 'fake: commit one.txt x'",
	    auto_gate("pool")));
	auto_up(NULL);
	auto_wait_gate("pool");
	auto_kill9_daemon();
	auto_open_gate("pool");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("one.txt: x", NULL);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_int_eq(auto_landed(), 1);
	auto_no_complaints();
}

TEST(a_command_of_the_options_goes_over_the_settings)
{
	auto_pool("exit 1");
	auto_task("a.md", "not asked for\nfake: commit no.txt x");
	ck_assert_int_eq(auto_run("--until-empty", "--task-pool-command",
			     "mkdir .llmc/once 2>/dev/null || exit 4; echo "
			     "'fake: commit option.txt x'",
			     NULL),
	    0);
	auto_history("option.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
}
