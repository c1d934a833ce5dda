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
	auto_set("daemon.patrol_interval", "100ms");
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

/* --- agents ------------------------------------------------------ */

/* Commits once, then exits in the middle of its turn. */
#define CRASH_ONCE                                                      \
	"fake: commit work.txt x\n"                                     \
	"fake: run [ -e \"$FLEET/once\" ] || { touch \"$FLEET/once\"; " \
	"kill -KILL $CLAUDE_PID; }"

TEST(an_agent_that_crashes_once_goes_on)
{
	auto_task("a.md", "Crash\n" CRASH_ONCE);
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("work.txt: x", NULL);
	ck_assert_int_eq(auto_logged("autod.log", "exited on its own"), 1);
	ck_assert_int_eq(fleet_prompts("has been resumed"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit work.txt"), 1);
}

TEST(an_agent_that_keeps_crashing_stops_the_run)
{
	auto_ails("fake: crash");
	auto_task("a.md", "Crash\nfake: commit work.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("worker_error", "auto-1", "t1", "", "exited 3 times");
	ck_assert_str_eq(fleet_status("auto-1"), "error");
	ck_assert_int_eq(auto_landed(), 0);
	e2e_has(
	    e2e_git(fleet_worktree("auto-1"), "log", "-1", "--format=%s", NULL),
	    "work.txt: x");
	ck_assert_str_eq(auto_folder("doing"), "a.md\n");
	/* The next run assumes that it was fixed, and tries the task again. */
	auto_ails("");
	run_to_the_end();
	auto_salvaged("auto-1", "work.txt");
	/* It is the work of this task, although another attempt has begun. */
	e2e_has(
	    fleet_do("task", "show", "t1", NULL)->out, "salvaged  auto-1/2");
	auto_history("work.txt: x", NULL);
	ck_assert_int_eq(auto_events("task_assigned", "\"attempt\":\"2\""), 1);
	ck_assert_str_eq(auto_folder("done"), "a.md\n");
}

static void
kill_session(const char *worker)
{
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("tmux -L \"$(\"$LLMC\" config get "
				"tmux.socket)\" kill-session -t '=llmc-%s'",
			   worker)),
	    0, NULL);
}

TEST(a_tmux_session_killed_once_is_made_again)
{
	int agent;

	auto_task(
	    "a.md", "A\nfake: commit work.txt x\nfake: run %s", auto_gate("a"));
	auto_up(NULL);
	auto_wait_gate("a");
	agent = fleet_agent_pid("auto-1");
	kill_session("auto-1");
	auto_wait_finished("landed", 1);
	ck_assert_int_ne(fleet_agent_pid("auto-1"), agent);
	auto_drain();
	auto_no_complaints();
	auto_history("work.txt: x", NULL);
}

TEST(a_tmux_session_killed_again_and_again_stops_the_run)
{
	int agent = 0;

	/* The patrol counts no crash if it misses a session twice while its
	 * process still ends. */
	auto_set("daemon.patrol_interval", "5s");
	auto_ails("fake: sleep 60000");
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_up(NULL);
	auto_wait_event("task_assigned", NULL);
	for (int i = 0; i < 3; i++) {
		agent = fleet_next_agent_pid("auto-1", agent);
		fleet_wait("auto-1", "working");
		kill_session("auto-1");
	}
	ck_assert_int_eq(auto_wait_exit(), 1);
	check_failure("worker_error", "auto-1", "t1", "", "3 times in a row");
	auto_ails("");
	run_to_the_end();
	auto_history("work.txt: x", NULL);
}

/* Three sessions, a little later each time; the last screen is kept. */
TEST(a_prompt_that_no_session_accepts_stops_the_run)
{
	e2e_hurry(5);
	e2e_env("FAKE_CLAUDE_IGNORE_ENTER=1000000");
	auto_task("a.md", "A\nfake: commit work.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("worker_error", "auto-1", "t1", "",
	    "3 sessions in a row did not accept its prompt");
	ck_assert_int_eq(
	    auto_logged("autod.log", "does not accept its prompt"), 3);
	e2e_expect(
	    e2e_sh(fleet_root(), "ls .llmc/logs/screens/auto-1-*"), 0, NULL);
	e2e_env("FAKE_CLAUDE_IGNORE_ENTER=0");
	run_to_the_end();
	auto_history("work.txt: x", NULL);
	ck_assert_int_eq(auto_events("task_assigned", "\"attempt\":\"2\""), 1);
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

TEST(silence_that_nothing_helps_against_fails_the_attempt)
{
	auto_set("auto.worker_stall_timeout", "700ms");
	auto_set("auto.max_attempts", "2");
	auto_ails("fake: sleep 60000");
	auto_task("a.md", "A\nfake: commit work.txt x");
	auto_up(NULL);
	auto_wait_event("stall", "\"action\":\"redirect\"");
	auto_wait_event("stall", "\"action\":\"restart\"");
	auto_wait_event("stall", "\"action\":\"retry\"");
	auto_ails("");
	auto_wait_finished("landed", 1);
	auto_drain();
	ck_assert_int_eq(auto_events("task_retry", "no sign of life"), 1);
	ck_assert_int_eq(auto_logged("autod.log", "\"level\":\"WARN\""), 1);
	auto_salvaged("auto-1", "work.txt");
	auto_history("work.txt: x", NULL);
	/* The next attempt is told what was tried before. */
	ck_assert_int_eq(fleet_prompts("fake: commit work.txt"), 2);
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

static const char *const corruptions[] = { "echo nonsense >.git",
	"rm \"$(git rev-parse --git-dir)/HEAD\"" };

/* One task's file stops neither the others nor the daemon. */
TEST(a_file_that_git_cannot_convert_stops_nobody)
{
	auto_set("auto.concurrency", "1");
	auto_set("auto.max_attempts", "1");
	auto_task("1",
	    "fake: run echo '*.u working-tree-encoding=UTF-16' "
	    ">.gitattributes; printf abc >x.u");
	auto_task("2", "fake: commit fine.txt 1");
	auto_launch("--until-empty", NULL);
	auto_wait_exit();
	ck_assert_ptr_null(auto_failure());
	e2e_has(e2e_git(fleet_root(), "ls-tree", "--name-only", "main", NULL),
	    "fine.txt");
}

TEST_ROWS(a_corrupt_worktree_stops_the_run, nitems(corruptions))
{
	e2e_skip_sandboxed("a worker in a box cannot replace .git, and its "
			   "branch follows at the end of a turn");
	auto_task("a.md",
	    "A\nfake: commit work.txt x\nfake: run [ -e \"$FLEET/once\" ] || { "
	    "touch \"$FLEET/once\"; echo dirt >dirt.txt; %s; }",
	    corruptions[_i]);
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("worker_error", "auto-1", "t1", "", "git");
	/* The branch has the work whatever happened to the worktree. */
	e2e_has(e2e_git(fleet_root(), "log", "-1", "--format=%s", "llmc/auto-1",
		    NULL),
	    "work.txt: x");
	/* The next run creates another one, and deletes nothing. */
	run_to_the_end();
	auto_salvaged("auto-1", "work.txt");
	auto_history("work.txt: x", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "grep -q dirt .worktrees/auto-1.broken-*/dirt.txt"),
	    0, NULL);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "status", "--porcelain", NULL), "");
}

/* A person commits something to the default branch that conflicts with the
 * worker, this many times. */
static const char *
rival(int times)
{
	const char *file = e2e_path("%s/rival.sh", unit_scratch());

	e2e_script(file,
	    e2e_path("#!/bin/sh\nexec >/dev/null 2>&1\n"
		     "n=$(cat '%s.n' || echo 0)\n[ $n -lt %d ] || exit 0\n"
		     "echo $((n + 1)) >'%s.n'\ncd '%s'\n"
		     "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n"
		     "echo rival $n >same.txt\ngit add same.txt\n"
		     "git commit -q -m \"Rival $n\"\n",
		file, times, file, fleet_root()));
	return file;
}

TEST(a_conflict_is_the_workers_to_resolve)
{
	e2e_skip_sandboxed("a worker in a box cannot commit to main");
	auto_task("a.md",
	    "fake: commit same.txt mine\nfake: resolve\nfake: run '%s'",
	    rival(1));
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	ck_assert_int_eq(auto_events("accept_failure", "conflict"), 1);
	ck_assert_int_eq(fleet_prompts("Your task was"), 1);
	auto_history("Rival 0", "same.txt: mine", NULL);
	e2e_has(e2e_read(e2e_path("%s/same.txt", fleet_root())), "mine");
}

TEST(conflicts_without_end_stop_the_run)
{
	e2e_skip_sandboxed("a worker in a box cannot commit to main");
	auto_set("repo.max_conflicts", "1");
	auto_task("a.md",
	    "fake: commit same.txt mine\nfake: resolve\nfake: run '%s'",
	    rival(2));
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("conflicts", "auto-1", "t1", "", "could not resolve");
	ck_assert_str_eq(fleet_status("auto-1"), "needs_review");
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/same.txt", fleet_worktree("auto-1"))),
	    "mine\n");
	/* The default branch does not move any more. */
	run_to_the_end();
	auto_history("Rival 0", "Rival 1", "same.txt: mine", NULL);
}

static const char *
branch_lock(void)
{
	return e2e_path("%s/.git/refs/heads/main.lock", fleet_root());
}

TEST(a_git_lock_is_waited_for)
{
	e2e_hurry(5);
	auto_task("a.md", "A\nfake: commit work.txt x");
	e2e_write(branch_lock(), "");
	auto_up(NULL);
	auto_wait_logged("autod.log", "wait: another git");
	ck_assert_int_eq(auto_landed(), 0);
	remove(branch_lock());
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("work.txt: x", NULL);
}

/* A git that was killed with its agent: nothing else releases its locks. */
TEST(locks_in_the_worktree_of_a_dead_agent_are_removed)
{
	e2e_hurry(5);
	auto_ails("fake: fail 400 too odd");
	auto_task("a.md",
	    "A\nfake: commit work.txt x\nfake: run [ -e \"$FLEET/once\" ] || { "
	    "touch \"$FLEET/once\"; cd \"$(git rev-parse --git-dir)\"; "
	    "touch index.lock HEAD.lock; }");
	auto_up(NULL);
	auto_wait_event("task_retry", "too odd");
	auto_ails("");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_salvaged("auto-1", "work.txt");
	auto_history("work.txt: x", NULL);
}

/* --- a checkout that is in the way ------------------------------- */

static void
set_dirt(int tries)
{
	struct json_object *state = auto_state();

	json_set_int(state, "source_repo_dirty_retry_count", tries);
	json_set_int(state, "source_repo_dirty_retry_after_unix",
	    clock_wall_ms() / 1000 - 1);
	auto_put_state(state);
}

TEST(a_dirty_checkout_is_waited_for_then_stops_the_run)
{
	struct json_object *state;

	auto_task("a.md", "A\nfake: commit work.txt x");
	e2e_write(e2e_path("%s/README", fleet_root()), "my own edit\n");
	auto_up(NULL);
	auto_wait_event("waiting", "Will retry in 60 seconds (attempt 1/10)");
	auto_wait_state("source_repo_dirty_retry_count", "1");
	state = auto_state();
	ck_assert_str_eq(
	    auto_member(state, "source_repo_dirty_backoff_secs"), "60");
	auto_drain();
	auto_no_complaints();
	/* The wait survives the daemon. */
	auto_up(NULL);
	fleet_wait("auto-1", "accepting");
	ck_assert_int_eq(auto_events("waiting", "attempt"), 1);
	auto_drain();
	set_dirt(9);
	auto_up(NULL);
	auto_wait_event(
	    "waiting", "Will retry in 3600 seconds (attempt 10/10)");
	auto_drain();
	set_dirt(10);
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("dirty_checkout", "auto-1", "t1", "", "README");
	e2e_has(e2e_read(e2e_path("%s/README", fleet_root())), "my own edit");
	/* Fixed: the next run lands it and resets the tries. */
	e2e_git(fleet_root(), "commit", "-q", "-a", "-m", "Mine", NULL);
	set_dirt(10);
	run_to_the_end();
	auto_history("Mine", "work.txt: x", NULL);
	state = auto_state();
	ck_assert_str_eq(
	    auto_member(state, "source_repo_dirty_retry_count"), "");
}

/* --- post_accept_command ----------------------------------------- */

TEST(a_failing_post_accept_command_stops_the_run)
{
	auto_set("auto.post_accept_command",
	    "git log -1 --format=%s >>\"$FLEET/posts\"; [ $LLMC_TASK != t1 ] || { "
	    "echo it does not build >&2; exit 5; }");
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_task("b.md", "B\nfake: commit b.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	check_failure("post_accept", "auto-1", "t1", "5", "it does not build");
	ck_assert_int_eq(auto_logged("post_accept.log", "does not build"), 1);
	/* It has landed and is not done again; the other task is next. */
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("landed"), 1);
	run_to_the_end();
	auto_history("a.txt: x", "b.txt: x", NULL);
	ck_assert_int_eq(auto_finished("landed"), 2);
	ck_assert_str_eq(e2e_read(e2e_path("%s/posts", unit_scratch())),
	    "a.txt: x\nb.txt: x\n");
}

TEST(a_post_accept_command_that_takes_too_long_stops_the_run)
{
	auto_set("auto.post_accept_command", "exec tail -f /dev/null");
	auto_set("auto.post_accept_timeout", "300ms");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run(NULL), 1);
	auto_failed("post_accept", "took too long");
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("landed"), 1);
}

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
