/* SPDX-License-Identifier: ISC */

/* Landing without a person: post_accept_command, and a checkout or a history
 * that someone else changes. */
#include "autorun.h"

void
unit_before(void)
{
	fleet_begin();
}

static const char *
in_main(const char *file)
{
	return e2e_path("%s/%s", fleet_root(), file);
}

static const char *
head(const char *dir)
{
	return e2e_git(dir, "rev-parse", "HEAD", NULL);
}

/* Set a script as post_accept_command. */
static void
set_post(const char *script)
{
	const char *file = unit_path("post.sh");

	e2e_script(file, e2e_path("#!/bin/sh\n%s\n", script));
	auto_set("auto.post_accept_command", e2e_path("'%s'", file));
}

const int unit_timeout = 120; /* seconds, each */

/* --- post_accept_command ---------------------------------------------- */

TEST(it_runs_after_every_landing_and_is_told_of_what)
{
	const char *ran = unit_path("ran");

	set_post(e2e_path(
	    "[ \"$(git rev-parse main)\" = \"$LLMC_COMMIT\" ] || exit 9\n"
	    "echo \"$LLMC_TASK $LLMC_WORKER $PWD\" >>'%s'\n"
	    "echo said-$LLMC_TASK; echo complained-$LLMC_TASK >&2",
	    ran));
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_task("c.md", "C, nothing to do\nfake: say It is fine as it is.");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_str_eq(e2e_read(ran),
	    e2e_path(
		"t1 auto-1 %s\nt2 auto-1 %s\n", fleet_root(), fleet_root()));
	ck_assert_int_eq(auto_logged("post_accept.log", "said-t"), 2);
	ck_assert_int_eq(auto_logged("post_accept.log", "complained-t"), 2);
	ck_assert_int_eq(auto_events("post_accept", "\"exit_code\":\"0\""), 2);
	auto_no_complaints();
}

TEST(its_failure_stops_everything_and_what_landed_stays)
{
	struct json_object *failure;

	set_post("echo so far so good; echo the build is broken >&2; exit 7");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("post_accept", "the build is broken");
	failure = auto_failure();
	ck_assert_str_eq(auto_member(failure, "worker"), "auto-1");
	ck_assert_str_eq(auto_member(failure, "task"), "t1");
	ck_assert_int_eq(json_int_or(failure, "exit_status", 0), 7);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_str_eq(auto_folder("done"), "a.md\n");
	ck_assert_int_eq(
	    auto_logged("post_accept.log", "the build is broken"), 1);
	ck_assert_int_eq(auto_events("failure", "post_accept"), 1);
	auto_no_sessions();
	/* Fixed, and the rest is done; nothing lands twice. */
	set_post("true");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_ptr_null(auto_failure());
	auto_history("a.txt: x", "b.txt: x", NULL);
}

TEST(one_that_takes_too_long_has_failed)
{
	set_post("echo hanging >&2; exec sleep 60");
	auto_set("auto.check_timeout", "1s");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_failed("post_accept", "took too long");
	ck_assert_int_eq(auto_finished("landed"), 1);
}

/* --- a checkout that is in the way ------------------------------------ */

static long
dirt(const char *field)
{
	struct json_object *state = auto_state();
	long value =
	    strtol(auto_member(state, e2e_path("source_repo_dirty_%s", field)),
		NULL, 10);

	json_object_put(state);
	return value;
}

/* While no daemon runs: pretend that the wait is over. */
static void
let_time_pass(void)
{
	e2e_edit_state(fleet_root(),
	    "s/\\(\"source_repo_dirty_retry_after_unix\": *\\)"
	    "[0-9]*/\\11000000000/");
	ck_assert_int_eq(dirt("retry_after_unix"), 1000000000);
}

TEST(a_dirty_checkout_is_waited_for_longer_and_longer)
{
	long now = (long)(clock_wall_ms() / 1000);

	auto_set("repo.dirty_checkout", "wait");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("g"));
	auto_up(NULL);
	auto_wait_gate("g");
	e2e_write(in_main("README"), "my own edit\n");
	auto_open_gate("g");
	auto_wait_event("waiting",
	    "Source repository has uncommitted changes. Will retry in 60 "
	    "seconds (attempt 1/10)");
	auto_wait_state("source_repo_dirty_retry_count", "1");
	ck_assert_int_eq(dirt("backoff_secs"), 60);
	ck_assert(dirt("retry_after_unix") >= now + 60 &&
	    dirt("retry_after_unix") <= now + 120);
	ck_assert_str_eq(fleet_status("auto-1"), "accepting");
	ck_assert_str_eq(e2e_read(in_main("README")), "my own edit\n");
	ck_assert(!auto_has_ended());
	auto_drain();
	/* The next run keeps waiting, ... */
	now = dirt("retry_after_unix");
	auto_up(NULL);
	fleet_add("adam");
	ck_assert_int_eq(dirt("retry_after_unix"), now);
	ck_assert_int_eq(auto_events("waiting", NULL), 1);
	auto_drain();
	/* ... tells of it again when the wait is over, ... */
	let_time_pass();
	auto_up(NULL);
	auto_wait_event("waiting", "Will retry in 120 seconds (attempt 2/10)");
	auto_wait_state("source_repo_dirty_backoff_secs", "120");
	auto_drain();
	/* ... and lands when nothing is in the way any more. */
	e2e_git(fleet_root(), "checkout", "-q", "README", NULL);
	let_time_pass();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(dirt("retry_count"), 0);
	ck_assert_int_eq(dirt("backoff_secs"), 0);
	ck_assert_int_eq(dirt("retry_after_unix"), 0);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	auto_no_complaints();
}

/* --- a history that someone else changes ------------------------------- */

TEST(an_amended_base_moves_the_idle)
{
	auto_up(NULL);
	auto_wait_state("workers.auto-1.status", "idle");
	e2e_write(in_main("README"), "amended\n");
	e2e_git(fleet_root(), "commit", "-qa", "--amend", "-m", "Again", NULL);
	auto_wait_shell("[ \"$(git -C .worktrees/auto-1 rev-parse HEAD)\" = "
			"\"$(git rev-parse main)\" ]");
	auto_wait_state("workers.auto-1.status", "idle");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_wait_finished("landed", 1);
	ck_assert_str_eq(fleet_log(), "a.txt: x\nAgain\n");
	auto_drain();
	auto_no_complaints();
}

TEST(an_early_commit_is_not_landed_before_its_turn_ends)
{
	auto_task("a.md",
	    "A\nfake: commit a.txt early\nfake: run %s\nfake: commit b.txt x",
	    auto_gate("g"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	/* Enough time for one or two patrols. */
	fleet_add("adam");
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert_str_eq(fleet_status("auto-1"), "working");
	auto_open_gate("g");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert(e2e_exists(in_main("a.txt")) && e2e_exists(in_main("b.txt")));
}

/* Of a worker in a sandbox, git lets the user check out the branch. */
TEST(a_user_on_the_branch_of_a_worker_ends_nothing)
{
	const char *at;

	e2e_need_boxes("");
	fleet_box("worktree");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("g"));
	auto_task("b.md", "B\nfake: commit b.txt x");
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	at = head(fleet_root());
	e2e_git(fleet_root(), "switch", "-q", "llmc/auto-1", NULL);
	auto_open_gate("g");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_finished("landed"), 2);
	ck_assert_int_eq(
	    auto_events("branch_taken", "\"branch\":\"llmc/auto-1\""), 1);
	/* It was not moved under the user. */
	ck_assert_str_eq(head(fleet_root()), at);
	ck_assert_str_eq(e2e_git(fleet_root(), "status", "-s", NULL), "");
	auto_no_complaints();
}
