/* SPDX-License-Identifier: ISC */

/*
 * Failures around auto mode, by injected faults: where it recovers, where it
 * stops with a record of the reason, and that the next run continues without
 * losing anything.
 */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

/* Check failure.json and the log of a run that has ended. */
static void
check_failure(const char *class, const char *worker, const char *task,
    const char *status, const char *words)
{
	struct json_object *failure = auto_failure();

	ck_assert_msg(
	    failure != NULL, "no failure.json: %s", e2e_shown(auto_output()));
	ck_assert_str_eq(auto_member(failure, "class"), class);
	ck_assert_str_eq(auto_member(failure, "worker"), worker);
	ck_assert_str_eq(auto_member(failure, "task"), task);
	ck_assert_str_eq(auto_member(failure, "exit_status"), status);
	e2e_has(auto_member(failure, "words"), words);
	ck_assert_int_ge(
	    auto_logged("autod.log", e2e_path("\"class\":\"%s\"", class)), 1);
	ck_assert_int_eq(auto_events("failure", class), 1);
	ck_assert(!e2e_exists(e2e_path("%s/.llmc/daemon.json", fleet_root())));
	auto_no_sessions();
	json_object_put(failure);
}

/* The reason for the stop is fixed: finish the rest. */
static void
run_to_the_end(void)
{
	struct json_object *failure;
	int status = auto_run("--until-empty", NULL);

	failure = auto_failure();
	ck_assert_msg(status == 0 && failure == NULL, "status %d: %s %s",
	    status, failure == NULL ? "" : auto_member(failure, "words"),
	    e2e_shown(auto_output()));
}

/* --- the task pool command --------------------------------------- */

static const struct {
	const char *script;
	const char *class, *status, *words;
} pools[] = {
	{ "echo no luck today >&2; exit 7", "task_pool_failed", "7",
	    "no luck today" },
	{ "exit 3", "task_pool_claims", "3", "claimed" },
	{ "/no/such/program", "task_pool_failed", "127", "not found" },
	{ "exec tail -f /dev/null", "task_pool_timeout", "", "longer than" },
	{ "printf 'a\\377b'", "task_pool_text", "0", "UTF-8" },
};

const int unit_timeout = 120; /* seconds, each */

TEST_ROWS(a_pool_command_that_fails_stops_the_run, nitems(pools))
{
	const char *class = pools[_i].class;
	struct json_object *failure;

	auto_pool(pools[_i].script);
	auto_set("auto.task_pool_timeout", "500ms");
	ck_assert_int_eq(auto_run(NULL), 1);
	failure = auto_failure();
	check_failure(class, "", "", auto_member(failure, "exit_status"),
	    pools[_i].words);
	if (pools[_i].status[0] != '\0')
		ck_assert_str_eq(
		    auto_member(failure, "exit_status"), pools[_i].status);
	ck_assert_int_eq(auto_logged("task_pool.log", "\"exit_code\""), 1);
	/* A person has fixed it. */
	e2e_script(e2e_path("%s/pool.sh", unit_scratch()),
	    "#!/bin/sh\n[ -e \"$0.once\" ] || { touch \"$0.once\"; echo "
	    "'fake: commit p.txt x'; }\n");
	run_to_the_end();
	auto_history("p.txt: x", NULL);
}

TEST(a_pool_command_with_nothing_to_give_is_asked_again)
{
	auto_pool("n=$(cat \"$POOL/n\" 2>/dev/null || echo 0)\n"
		  "echo $((n + 1)) >\"$POOL/n\"\n"
		  "case $n in 0) ;; 1) printf ' \\n\\n' ;; 2) exit 4 ;;\n"
		  "3) echo 'fake: commit late.txt x' ;; esac");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_wait_shell(
	    e2e_path("[ \"$(cat '%s/pool/n')\" -ge 7 ]", unit_scratch()));
	auto_drain();
	auto_no_complaints();
	auto_history("late.txt: x", NULL);
	/* Reported once before the task and once after it. */
	ck_assert_int_eq(auto_logged("autod.log", "no task is left"), 2);
}

/* --- silence ----------------------------------------------------- */

TEST(a_hung_tool_is_interrupted_and_the_agent_goes_on)
{
	auto_set("auto.worker_stall_timeout", "500ms");
	auto_task("a.md",
	    "A\nfake: commit work.txt x\nfake: run tail --pid=$CLAUDE_PID -f "
	    "/dev/null");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	ck_assert_int_eq(auto_events("stall", "\"action\":\"redirect\""), 1);
	ck_assert_int_eq(auto_events("stall", NULL), 1);
	ck_assert_int_eq(fleet_prompts("no sign of life"), 1);
	auto_history("work.txt: x", NULL);
}

/* A stopped session does not read keys, so it is started again. */
TEST(a_stopped_agent_is_started_again)
{
	auto_set("auto.worker_stall_timeout", "500ms");
	auto_task("a.md",
	    "A\nfake: commit work.txt x\nfake: run [ -e \"$FLEET/once\" ] || { "
	    "touch \"$FLEET/once\"; kill -STOP $CLAUDE_PID; }");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("work.txt: x", NULL);
}

/* --- git --------------------------------------------------------- */

/* --- post_accept_command ----------------------------------------- */

/* The user has renamed it; then the setting follows. */
TEST(a_landing_branch_that_is_renamed_stops_the_run_with_its_name)
{
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("g"));
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	e2e_git(fleet_root(), "branch", "-m", "main", "trunk", NULL);
	auto_open_gate("g");
	ck_assert_int_eq(auto_wait_exit(), 1);
	check_failure("landing_branch", "", "", "",
	    "there is no branch main any more; if it has another name now, "
	    "type: llmc config set repo.default_branch trunk");
	e2e_has(fleet_do("status", NULL)->out, "repo.default_branch trunk");
	auto_set("repo.default_branch", "trunk");
	run_to_the_end();
	ck_assert_int_eq(auto_finished("landed"), 2);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-list", "--count", "trunk", NULL), "3\n");
}
