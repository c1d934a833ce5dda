/* SPDX-License-Identifier: ISC */

/* A worker whose work would wait long in the landing queue does another task;
 * its work lands, or goes back to a worker, without it. */
#include "auto-world.h"
#include "landing-record.h"
#include "landing-private.h"
#include "worker-op.h"
#include "settings.h"

/* In the queue it waits for permission, as long as the test runs, and b.txt
 * fails without "pass". A worker's own check passes at once. */
#define CHECK                                                                  \
	"check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" && exit 0; until " \
	"test -e ../../go; do test -e ../../config.toml || exit; sleep 0.05; " \
	"done; test ! -e b.txt || test -e "                                    \
	"pass || { echo words; exit $(cat ../../status); }\"\n"

static struct landing_item *
item_of(const char *task)
{
	return landing_record_of_task(&auto_world.core->state.landings, task);
}

static bool
is_idle(const char *worker)
{
	const struct agent *agent = fleet_find(floor_world.fleet, worker);

	return agent != NULL && agent->worker->status == WORKER_IDLE;
}

/* A task is for another worker than the one that has failed at it, but does not
 * wait for one that is broken. */
TEST_ROWS(a_task_avoids_a_worker_if_there_is_another, 2)
{
	int64_t now = clock_wall_ms();
	struct task *t = task_new("t1", "folder", "a.md", "a", "Do a", now);

	auto_world_begin("concurrency = 2\n");
	auto_world_live();
	floor_world_until(is_idle("auto-1") && is_idle("auto-2"));
	if (_i == 1)
		fleet_find(floor_world.fleet, "auto-2")->worker->status =
		    WORKER_ERROR;
	task_take(t, now);
	xstrset(&t->avoid, "auto-1");
	auto_add_task(auto_world.mode, t);
	ck_assert_str_eq(auto_world_turn_on("t1")->worker->name,
	    _i == 0 ? "auto-2" : "auto-1");
}

/* It waits for the other worker, which is busy; this one gets another task. */
TEST(a_task_that_avoids_a_worker_keeps_no_other_from_it)
{
	int64_t now = clock_wall_ms();
	struct task *t = task_new("t7", "folder", "c.md", "c", "Do c", now);
	const char *busy;

	auto_world_begin("concurrency = 2\n");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	busy = auto_world_turn_on("t1")->worker->name;
	task_take(t, now);
	xstrset(&t->avoid, strcmp(busy, "auto-1") == 0 ? "auto-2" : "auto-1");
	auto_add_task(auto_world.mode, t);
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	ck_assert_str_ne(auto_world_turn_on("t2")->worker->name, busy);
	ck_assert_int_eq(t->step, TASK_WAITING);
}

/* The work of t1 is in the queue, and is being checked. */
static void
begin_queued(const char *settings)
{
	cleanup_free char *text = xasprintf(CHECK "%s", settings);
	struct agent *agent;

	auto_world_begin(text);
	floor_world_sh("echo 0 >.llmc/status");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_work("b.txt");
	floor_world_sh(
	    "echo m >m.txt; git add m.txt; git commit -qm meanwhile");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	floor_world_settle();
}

/* The check is known to take an hour. */
static void
expect_an_hour(void)
{
	struct check_book *book = &auto_world.core->state.landings.checks;
	char key[CHECK_KEY_SIZE];

	check_slot_key(auto_world.core, key);
	check_book_note(
	    book, "t", key, CHECK_PASSED, clock_wall_ms(), 3600000, 0);
	for (size_t i = 0; i < book->command_count; i++)
		book->commands[i].took_ms = 3600000;
}

/* Its worker is released, and does t2. */
static struct agent *
begin_released(const char *settings)
{
	struct agent *agent;

	begin_queued(settings);
	expect_an_hour();
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	agent = auto_world_turn_on("t2");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	ck_assert_ptr_null(item_of("t1")->worker);
	ck_assert_str_eq(floor_world_wt("auto-1",
			     "git log -1 --format=%s; git status --porcelain"),
	    "meanwhile");
	return agent;
}

static void
allow(const char *status)
{
	cleanup_free char *text =
	    xasprintf("echo %s >.llmc/status; touch .llmc/go", status);

	floor_world_sh(text);
}

static void
finish(const char *task, const char *file)
{
	struct agent *agent = auto_world_turn_on(task);

	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
}

TEST(released_work_lands)
{
	begin_released("");
	allow("0");
	auto_world_wait("task_finished t1 landed; ");
	finish("t2", "c.txt");
	auto_world_all_filed("t1 landed; t2 landed; ");
	ck_assert_str_eq(floor_world_sh("git log --format=%s main"),
	    "add c.txt\nadd b.txt\nmeanwhile\nfirst");
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/queue"), "");
}

/* A file that the user has changed, all night: only work that changes it too
 * waits, without its worker, also where it would land together with other work;
 * what the user has done to other files is not looked at. */
TEST(a_changed_file_of_the_user_holds_only_work_that_changes_it)
{
	struct state *state;

	auto_world_begin(NULL);
	state = &auto_world.core->state;
	floor_world_sh("echo kept >d.txt; git add d.txt; git commit -qm kept; "
		       "echo mine >a.txt; echo mine >d.txt; git add d.txt");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	auto_world_finish(auto_world_turn_on("t1"), "a.txt");
	floor_world_until(item_of("t1") != NULL && item_of("t1")->overlaps);
	floor_has(state->source_repo_dirty_reason, "1 file blocks the landing");
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	auto_world_finish(auto_world_turn_on("t2"), "b.txt");
	auto_world_wait("task_finished t2 landed; ");
	auto_world_task("c.md", "Third\n");
	auto_world_patrol();
	auto_world_finish(auto_world_turn_on("t3"), "c.txt");
	auto_world_wait("task_finished t3 landed; ");
	floor_world_settle();
	ck_assert_ptr_null(item_of("t1")->worker);
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	ck_assert_ptr_nonnull(state->source_repo_dirty_reason);
	ck_assert_str_eq(
	    floor_world_sh("git status --porcelain -uno; cat a.txt b.txt"),
	    " M a.txt\nM  d.txt\nmine\nwork");
	floor_world_sh("git checkout -q a.txt");
	auto_world_wait("task_finished t1 landed; ");
	ck_assert_ptr_null(state->source_repo_dirty_reason);
	ck_assert_str_eq(
	    floor_world_sh("git status --porcelain -uno; cat d.txt; "
			   "git log --format=%s main"),
	    "M  d.txt\nmine\nadd a.txt\nadd c.txt\nadd b.txt\nkept\nfirst");
}

/* Neither when the wait is short, nor when there is nothing else to do. */
TEST_ROWS(a_worker_that_is_not_needed_stays, 2)
{
	begin_queued("");
	if (_i == 0)
		auto_world_task("b.md", "Second\n");
	else
		expect_an_hour();
	auto_world_patrol();
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_ASSIGNED);
	ck_assert_str_eq(item_of("t1")->worker, "auto-1");
	ck_assert_uint_eq(auto_world.core->state.task_count, 1);
	allow("0");
	auto_world_wait("task_finished t1 landed; ");
}

/* The only worker has work that cannot land before the branch is fixed. */
TEST(a_worker_is_released_to_fix_the_branch)
{
	struct agent *agent;

	auto_world_begin(CHECK);
	allow("1");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_work("c.txt");
	floor_world_sh(
	    "echo m >b.txt; git add b.txt; git commit -qm meanwhile");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn_on("t2");
	ck_assert_str_eq(auto_world_of("t2")->source, "fix");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	auto_world_finish(agent, "pass");
	auto_world_wait_done();
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nb.txt\nc.txt\npass");
}

/* --- ejected --------------------------------------------------------- */

TEST_ROWS(what_fails_goes_to_the_next_worker, 2)
{
	const struct agent *agent;
	const char *prompt;

	begin_released("");
	allow("1");
	auto_world_wait("sent_back t1; ");
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_WAITING);
	ck_assert_ptr_null(item_of("t1"));
	if (_i == 1) {
		auto_world_reopen();
		auto_world_live();
	}
	finish("t2", "c.txt");
	agent = auto_world_turn_on("t1");
	prompt = fake_session_prompt(agent->session);
	ck_assert_ptr_nonnull(strstr(prompt, "First\n"));
	ck_assert_ptr_nonnull(strstr(prompt, "but it has not landed"));
	ck_assert_ptr_nonnull(strstr(prompt, "words"));
	ck_assert_int_eq(auto_world_of("t1")->attempts, 1);
	/* Its own tree, kept by a ref, which git makes meanwhile. */
	floor_world_until(
	    floor_world_sh("git for-each-ref refs/llmc/task/t1")[0] != '\0');
	ck_assert_str_eq(floor_world_wt("auto-1",
			     "git log --format=%s -2; git diff HEAD "
			     "refs/llmc/task/t1"),
	    "add b.txt\nmeanwhile");
	finish("t1", "pass");
	auto_world_all_filed("t2 landed; t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git for-each-ref refs/llmc/task"), "");
}

/* Its worktree cannot be reset now. */
TEST(what_fails_waits_for_its_worktree)
{
	struct agent *agent;

	begin_queued("");
	floor_world_sh("git worktree add -q -f \"$B/other\" llmc/auto-1");
	allow("1");
	auto_world_wait("landing_waits; ");
	floor_world_sh("git worktree remove --force \"$B/other\"");
	agent = auto_world_turn(2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	ck_assert_int_eq(auto_world.core->exit_status, 0);
}

TEST(what_conflicts_goes_to_the_next_worker)
{
	struct agent *agent;
	const char *head;

	begin_released("");
	head = floor_world_sh(
	    "echo other >b.txt; git add b.txt; git commit -qm other; "
	    "git rev-parse refs/llmc/queue/q1");
	auto_world_patrol();
	auto_world_wait("sent_back t1; ");
	ck_assert_str_eq(auto_world_of("t1")->from, head);
	allow("0");
	finish("t2", "c.txt");
	agent = auto_world_turn_on("t1");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "git rebase main"));
	ck_assert_str_eq(floor_world_wt("auto-1", "git rev-parse HEAD"), head);
	floor_world_wt("auto-1",
	    "git rebase -q main >/dev/null 2>&1 || { echo both >b.txt; git add "
	    "b.txt; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1; }");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_all_filed("t2 landed; t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git show main:b.txt"), "both");
}

TEST(turns_without_a_worker_are_limited)
{
	begin_released("max_turns = 1\nmax_attempts = 1\n");
	allow("1");
	auto_world_wait("task_finished t1 failed; ");
	floor_world_settle();
	/* Its work is not lost. */
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref --format='%(subject)' "
			   "refs/llmc/salvage/auto-1"),
	    "add b.txt");
}

/* --- restarts -------------------------------------------------------- */

TEST_ROWS(the_next_daemon_lands_it, 3)
{
	begin_released("");
	if (_i == 0)
		auto_world_reopen();
	else
		auto_world_restart();
	/* Without auto mode too. */
	auto_world.mode->active = _i != 2;
	allow("0");
	auto_world_live();
	auto_world_wait("task_finished t1 landed; ");
}

static bool
is_freeing(void *arg)
{
	const struct landing_item *item = item_of("t1");

	(void)arg;
	return item != NULL && item->freeing;
}

TEST(the_next_daemon_releases_the_worker)
{
	begin_queued("");
	expect_an_hour();
	auto_world_task("b.md", "Second\n");
	landings_kick(auto_world.landings);
	floor_world_wait(is_freeing, &auto_world);
	auto_world_reopen();
	auto_world_live();
	auto_world_turn_on("t2");
	ck_assert_ptr_null(item_of("t1")->worker);
	allow("0");
	auto_world_wait("task_finished t1 landed; ");
}

/* The record was edited, or is older than the task. */
TEST(a_queued_task_without_an_item_waits_again)
{
	struct landing_record *record;

	begin_released("");
	record = &auto_world.core->state.landings;
	landing_record_remove(record, item_of("t1"));
	auto_world_patrol();
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_WAITING);
	ck_assert_int_eq(auto_world_of("t1")->attempts, 0);
}

/* --- the checkout ---------------------------------------------------- */

/* The index does not say that the checkout is clean again: a person does. */
TEST(resume_tries_a_landing_again)
{
	struct agent *agent;
	struct floor_call *call;

	auto_world_begin(NULL);
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_work("b.txt");
	floor_world_sh("echo mine >b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait("waiting; ");
	floor_world_sh("rm b.txt");
	call = floor_world_done(floor_world_ask("auto.resume", "{}"));
	ck_assert_ptr_nonnull(
	    strstr(json_string_or(floor_call_result(call), "message", ""),
		"tried again"));
	auto_world_wait("task_finished t1 landed; ");
}

/* --- a person -------------------------------------------------------- */

/* Auto mode keeps the work in the queue, but the person need not wait. */
TEST(a_person_is_told_what_is_in_the_way)
{
	struct agent *agent;
	struct floor_call *call;
	cleanup_free char *seen = NULL;
	const char *said;

	auto_world_begin_repo("protected_paths = [\"b.txt\"]\n", NULL);
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_finish(agent, "b.txt");
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_NEEDS_REVIEW);
	floor_world_sh("echo mine >b.txt");
	seen = xasprintf(",\"commit\":\"%s\"",
	    floor_world_wt("auto-1", "git rev-parse HEAD"));
	call = floor_world_call("worker.accept", "auto-1", seen);
	said = floor_world_answer(call);
	ck_assert_ptr_nonnull(said);
	ck_assert_msg(strstr(said, "b.txt") != NULL, "%s", said);
	ck_assert_ptr_nonnull(strstr(said, "stays in the queue"));
	floor_world_sh("rm b.txt");
	auto_world_wait("task_finished t1 landed; ");
}

TEST(a_queued_task_is_dropped)
{
	begin_released("");
	floor_world_done(floor_world_ask("task.drop", "{\"task\": \"t1\"}"));
	ck_assert_ptr_null(item_of("t1"));
	allow("0");
	finish("t2", "c.txt");
	auto_world_all_filed("t1 aborted; t2 landed; ");
	ck_assert_str_eq(floor_world_sh("ls; git for-each-ref refs/llmc/queue"),
	    "a.txt\nc.txt\nm.txt");
}

TEST(work_in_the_queue_gets_another_priority)
{
	begin_queued("");
	ck_assert_int_eq(item_of("t1")->priority, PRIORITY_NORMAL);
	floor_world_done(floor_world_ask(
	    "task.priority", "{\"task\": \"t1\", \"priority\": \"urgent\"}"));
	ck_assert_int_eq(item_of("t1")->priority, PRIORITY_URGENT);
}

/* --- during the move ------------------------------------------------- */

static bool
is_moving(void *arg)
{
	return ((const struct auto_world *)arg)->core->state.landings.to !=
	    NULL;
}

/* The branch is about to move with the work of t1. */
static struct agent *
begin_moving(void)
{
	begin_queued("");
	allow("0");
	floor_world_wait_closely(is_moving, &auto_world);
	floor_world.store_held = true;
	return auto_world_agent();
}

/* The task is not done again; nor if the checkout was in the way at first. */
TEST_ROWS(a_worker_is_lost_during_the_move, 2)
{
	struct agent *agent = begin_moving();

	op_reset(agent, NULL);
	ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
	ck_assert_ptr_null(agent->worker->task);
	if (_i == 1)
		floor_world_sh("echo mine >b.txt");
	floor_world_store_answer();
	if (_i == 1) {
		auto_world_wait("waiting; ");
		ck_assert_int_eq(auto_world_of("t1")->step, TASK_QUEUED);
		floor_world_sh("rm b.txt");
	}
	auto_world_all_filed("t1 landed; ");
	ck_assert_str_eq(floor_world_sh("git log --format=%s main"),
	    "add b.txt\nmeanwhile\nfirst");
}

TEST(a_task_is_not_dropped_during_the_move)
{
	struct floor_call *call;

	begin_moving();
	call = floor_world_ask("task.drop", "{\"task\": \"t1\"}");
	ck_assert_str_eq(floor_world_answer(call),
	    "its work is landing, and a branch that moves is not stopped; "
	    "look at it with: llmc landing");
	floor_world_store_answer();
	auto_world_all_filed("t1 landed; ");
}

/* Its worker still has it. */
TEST(work_in_the_queue_is_dropped_with_its_task)
{
	begin_queued("");
	floor_world_done(floor_world_ask("task.drop", "{\"task\": \"t1\"}"));
	ck_assert_ptr_null(item_of("t1"));
	allow("0");
	auto_world_all_filed("t1 aborted; ");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nm.txt");
}

/* Although it has a ref of its own. */
static void
remove_built(void)
{
	floor_world_sh(
	    "built=$(git rev-parse refs/llmc/queue/q1.built); "
	    "test ! -e .llmc/checks/1 || "
	    "git -C .llmc/checks/1 update-ref --no-deref HEAD main; "
	    "git update-ref -d refs/llmc/queue/q1.built; "
	    "git reflog expire --expire=now --all; git gc -q --prune=now; "
	    "! git cat-file -e $built 2>&-");
}

static bool
is_unjudged(void *arg)
{
	struct check_book *book = &auto_world.core->state.landings.checks;

	(void)arg;
	for (size_t i = 0; i < book->count; i++)
		if (book->results[i].unjudged > 0) {
			book->results[i].retry_ms = 0; /* not in a minute */
			return true;
		}
	return false;
}

TEST_ROWS(what_is_checked_and_is_gone_is_built_again, 1)
{
	begin_queued("");
	remove_built();
	allow("0");
	floor_world_wait(is_unjudged, &auto_world);
	landings_kick(auto_world.landings);
	auto_world_all_filed("t1 landed; ");
	ck_assert_int_eq(auto_world.core->exit_status, 0);
}

TEST_ROWS(what_is_to_land_and_is_gone_is_built_again, 1)
{
	struct agent *agent;

	auto_world_begin("");
	ck_assert_int_eq(settings_override(auto_world.core->settings,
			     "repo.dirty_checkout", "wait", NULL),
	    0);
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_work("b.txt");
	floor_world_sh("echo mine >>a.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait("waiting; ");
	floor_world_settle();
	remove_built();
	floor_world_sh("git checkout -q a.txt");
	auto_world_patrol();
	auto_world_all_filed("t1 landed; ");
	ck_assert_int_eq(auto_world.core->exit_status, 0);
}

/* What was built has a ref of its own. */
TEST_ROWS(git_gc_by_a_person_ends_nothing, 1)
{
	cleanup_free char *gc = NULL;

	begin_queued("");
	gc = xasprintf("git -C .llmc/checks/1 update-ref --no-deref HEAD main; "
		       "git reflog expire --expire=now --all; git gc -q "
		       "--prune=now; git cat-file -e %s",
	    floor_world_sh("git -C .llmc/checks/1 rev-parse HEAD"));
	floor_world_sh(gc);
	allow("0");
	auto_world_all_filed("t1 landed; ");
	ck_assert_str_eq(
	    floor_world_sh("git for-each-ref refs/llmc/queue"), "");
}
