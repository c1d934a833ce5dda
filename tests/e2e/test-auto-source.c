/* SPDX-License-Identifier: ISC */

/* Where tasks come from while auto mode runs, and what people do with them. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
}

/* Tasks for a pool: one per call, then the last command. */
#define ONE_THEN(last)                               \
	"echo called >>\"$POOL/calls\"\n"            \
	"if mkdir \"$POOL/one\" 2>/dev/null; then\n" \
	"	echo 'fake: commit one.txt x'; exit\n"     \
	"fi\n" last

const int unit_timeout = 120; /* seconds, each */

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

TEST(a_command_that_fails_at_once_stops_everything)
{
	auto_pool("echo the pool is on fire >&2; exit 1");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_failed", "the pool is on fire");
	ck_assert_int_eq(json_int_or(auto_failure(), "exit_status", 0), 1);
	ck_assert_int_ge(
	    auto_logged("task_pool.log", "the pool is on fire"), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 0);
	ck_assert_int_eq(auto_events("failure", "task_pool_failed"), 1);
	auto_no_sessions();
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

TEST(a_command_with_nothing_to_say_is_asked_again)
{
	auto_pool(
	    "echo called >>\"$POOL/calls\"\n"
	    "[ -e \"$POOL/open\" ] || { echo; exit; }\n" ONE_THEN("exit 0"));
	auto_up(NULL);
	auto_wait_shell(e2e_path(
	    "[ $(grep -c called '%s') -ge 4 ]", unit_path("pool/calls")));
	ck_assert(!auto_has_ended());
	ck_assert_ptr_null(auto_failure());
	ck_assert_int_eq(auto_events("task_assigned", NULL), 0);
	/* Reported once, however often it was asked. */
	ck_assert_int_eq(auto_logged("autod.log", "no task is left"), 1);
	e2e_write(unit_path("pool/open"), "");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
}

TEST(half_a_task_is_none)
{
	auto_pool("echo 'fake: commit half.txt x'; exit 1");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_failed", NULL);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 0);
	ck_assert_int_eq(auto_landed(), 0);
}

TEST(a_command_that_is_not_there_is_told_so)
{
	auto_set("auto.task_pool_command", "/no/such/command --next");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_failed", "not found");
	ck_assert_int_eq(json_int_or(auto_failure(), "exit_status", 0), 127);
}

TEST(a_command_that_hangs_is_ended)
{
	auto_set("auto.task_pool_timeout", "1s");
	auto_pool("echo waiting for godot >&2; exec sleep 60");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_timeout", NULL);
}

TEST(claims_that_stay_are_told_apart)
{
	auto_pool("echo everything is claimed >&2; exit 3");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("task_pool_claims", NULL);
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

/* --- people and the folder -------------------------------------------- */

TEST(a_task_is_added_while_it_runs)
{
	struct json_object *list, *shown;

	auto_up(NULL);
	auto_wait_logged("autod.log", "no task is left");
	fleet_do("task", "add", "Say hello\n\nfake: commit hello.txt hi", NULL);
	auto_wait_finished("landed", 1);
	list =
	    e2e_json(e2e_llmc(fleet_root(), "task", "list", "--json", NULL), 0);
	e2e_has(json_object_get_string(list), "Say hello");
	e2e_has(json_object_get_string(list), "landed");
	shown = e2e_json(
	    e2e_llmc(fleet_root(), "task", "show", "t1", "--json", NULL), 0);
	e2e_has(json_object_get_string(shown), "fake: commit hello.txt hi");
	e2e_has(fleet_do("task", "show", "t1", NULL)->out, "auto-1");
	auto_drain();
	auto_no_complaints();
}

/* Its check passes only when it may. */
static const char reluctant[] =
    "Reluctant\n"
    "fake: run echo x >>r.txt; git add r.txt; git commit -q -m Reluctantly";

TEST(a_failed_task_is_tried_again_when_asked_to)
{
	auto_set("auto.check_command",
	    e2e_path("test ! -e r.txt -o -e '%s'", unit_path("may")));
	auto_set("auto.max_turns", "1");
	auto_set("auto.max_attempts", "2");
	auto_task("r.md", "%s", reluctant);
	auto_up(NULL);
	auto_wait_finished("dead-letter", 1);
	e2e_has(auto_folder("failed"), "r.md");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	ck_assert_int_eq(auto_events("task_retry", NULL), 1);
	ck_assert_int_eq(fleet_prompts("The check of your work failed"), 1);
	e2e_has(fleet_do("task", "show", "t1", NULL)->out, "check");
	e2e_write(unit_path("may"), "");
	fleet_do("task", "retry", "t1", NULL);
	auto_wait_finished("landed", 1);
	auto_history("Reluctantly", NULL);
	ck_assert_str_eq(auto_folder("done"), "r.md\n");
	ck_assert_str_eq(auto_folder("failed"), "");
	/* What has landed is done again too, and the worker knows the
	 * commit. */
	fleet_do("task", "retry", "t2", NULL);
	auto_wait_finished("landed", 2);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_int_eq(fleet_prompts("was done before, as commit "), 1);
	fleet_fails("there is no task t9", "task", "retry", "t9", NULL);
	auto_drain();
	auto_no_complaints();
}

TEST(a_dropped_task_frees_its_worker)
{
	auto_task("1.md", "One\nfake: write half.txt x\nfake: run %s",
	    auto_gate("g"));
	auto_task("2.md", "Two\nfake: commit 2.txt x");
	auto_task("3.md", "Three\nfake: commit 3.txt x");
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	fleet_do("task", "drop", "3.md", NULL); /* still in the folder */
	fleet_do("task", "drop", "t1", NULL);
	auto_open_gate("g");
	ck_assert_int_eq(auto_wait_exit(), 1);
	auto_history("2.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_finished("aborted"), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	/* Its work is salvaged. */
	e2e_has(fleet_do("salvage", "list", NULL)->out, "auto-1");
	auto_no_complaints();
}

TEST(a_worker_that_is_reset_gives_its_task_back)
{
	auto_task("1.md",
	    "One\nfake: run [ -e \"$FLEET/seen\" ] || { touch \"$FLEET/seen\"; %s; }"
	    "\nfake: commit 1.txt x",
	    auto_gate("g"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	fleet_do("reset", "auto-1", "--yes", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("1.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	ck_assert_int_eq(auto_finished("landed"), 1);
}
