/* SPDX-License-Identifier: ISC */

/* The end of a turn on a task: check_command at each of its steps, and turns
 * that end with an error. */
#include "auto-world.h"
#include "fleet-private.h"
#include "landing-private.h"
#include "operation.h"
#include "state.h"

/* Leaves a file; the work passes once "pass" is in the worktree. */
#define CHECK                                                               \
	"check_command = \"touch junk; test ! -e b.txt || test -e pass || " \
	"{ echo words; exit 1; }\"\n"
/* The same, but the branch does not pass either. */
#define CHECK_RED "check_command = \"touch junk; test -e pass\"\n"
#define CHECK_OK  "check_command = \"touch junk\"\n"
/* Runs until it is cancelled, or until a file in the root lets it pass. */
#define CHECK_SLOW                                                        \
	"check_command = \"touch junk; until test -e ../../go; do sleep " \
	"0.05; done\"\n"

static struct agent *
begin_turn(const char *settings)
{
	struct agent *agent = auto_world_begin_turn(settings, "Do it\n");

	auto_world_work("b.txt");
	auto_world_told("task_assigned t1; ");
	return agent;
}

static void
wait_landed(void)
{
	auto_world_all_filed("t1 landed; ");
}

static void
assert_clean(void)
{
	ck_assert_str_eq(floor_world_wt("auto-1",
			     "git status --porcelain; git log -1 --format=%s"),
	    "add b.txt");
}

TEST(what_passes_lands)
{
	struct agent *agent = begin_turn(CHECK_OK);

	fake_session_turn_ends(agent->session, "Done.");
	wait_landed();
	auto_world_wait("exhausted; ");
	auto_world_told("task_completed t1 needs_review; landing_queued t1; "
			"accept_success t1; "
			"task_finished t1 landed; exhausted; ");
	/* The file that the check left did not land. */
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nb.txt");
}

/* Each worker's own check adds a result; old ones are forgotten. */
TEST(results_do_not_pile_up)
{
	struct agent *agent = begin_turn(CHECK_OK);
	struct check_book *book = &auto_world.core->state.landings.checks;
	char key[CHECK_KEY_SIZE];

	check_slot_key(auto_world.core, key);
	for (int i = 0; i < CHECK_BOOK_MAX; i++) {
		cleanup_free char *tree = xasprintf("tree%d", i);

		check_book_note(book, tree, key, CHECK_PASSED, i + 1, 1, 0);
	}
	fake_session_turn_ends(agent->session, "Done.");
	wait_landed();
	ck_assert_uint_eq(book->count, CHECK_BOOK_MAX);
	ck_assert_ptr_null(check_book_find(book, "tree0", key));
}

/* main is known to pass. */
static void
know_main(void)
{
	char key[CHECK_KEY_SIZE];

	check_slot_key(auto_world.core, key);
	check_book_note(&auto_world.core->state.landings.checks,
	    floor_world_sh("git rev-parse main^{tree}"), key, CHECK_PASSED, 1,
	    1, 0);
}

/* If nobody knows whether main passes, it is checked first. */
TEST_ROWS(what_fails_is_sent_back, 2)
{
	static const char *const told[] = { "sent_back t1; ",
		"task_completed t1 needs_review; landing_queued t1; "
		"check_begins; check failed; check_begins; check failed; "
		"check_begins; check passed; sent_back t1; "
		"accept_failure t1; " };
	struct agent *agent = begin_turn(CHECK);

	if (_i == 0)
		know_main();
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_turn(2);
	auto_world_told(told[_i]);
	ck_assert_ptr_nonnull(strstr(fake_session_prompt(agent->session),
	    "The check of your work failed"));
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	assert_clean();
	auto_world_finish(agent, "pass");
	wait_landed();
}

/* The version of the agent comes with its status. */
TEST(a_run_says_once_which_version_its_agent_is)
{
	struct agent *agent = begin_turn(CHECK);
	struct state *state = &auto_world.core->state;
	static const char *const versions[] = { "2.1.1", "2.1.1", "2.1.2" };

	buf_clear(&auto_world.told);
	for (size_t i = 0; i < nitems(versions); i++) {
		cleanup_json struct json_object *status =
		    json_object_new_object();

		json_set_string(status, "version", versions[i]);
		agent_status(agent, status);
	}
	auto_world_told("agent_version; agent_version; ");
	ck_assert_str_eq(state->agent_version, "2.1.2");
	xstrset(&state->run_id, "r99");
	agent_status(agent, json_tokener_parse("{\"version\":\"2.1.2\"}"));
	auto_world_told("agent_version; ");
}

/* At a turn's end, if it would be sent back: a compaction would lose more. */
TEST_ROWS(a_full_context_goes_on_in_another_conversation, 5)
{
	static const struct {
		const char *settings;
		const char *status;
		const char *more; /* in its worktree */
		const char *words;
		bool fresh;
	} rows[] = {
		{ CHECK "[workers.auto-1]\nfresh_at = 80\n",
		    "{\"context_window\":{\"used_percentage\":80}}", NULL,
		    "The check of your work failed", true },
		{ CHECK "[workers.auto-1]\nfresh_at = 80\n",
		    "{\"context_window\":{\"used_percentage\":80}}",
		    "touch c.txt", "changed or untracked", true },
		{ CHECK "[workers.auto-1]\nfresh_at = 80\n",
		    "{\"context_window\":{\"used_percentage\":79.9}}", NULL,
		    "The check of your work failed", false },
		/* The last word of the conversation before. */
		{ CHECK "[workers.auto-1]\nfresh_at = 80\n",
		    "{\"session_id\":\"x\",\"context_window\":"
		    "{\"used_percentage\":99}}",
		    NULL, "The check of your work failed", false },
		{ CHECK, "{\"context_window\":{\"used_percentage\":99}}", NULL,
		    "The check of your work failed", false },
	};
	struct agent *agent = begin_turn(rows[_i].settings);
	cleanup_json struct json_object *status =
	    json_tokener_parse(rows[_i].status);
	const struct task *t = auto_world.core->state.tasks[0];
	const char *prompt;

	know_main();
	agent_status(agent, status);
	if (rows[_i].more != NULL)
		floor_world_wt("auto-1", rows[_i].more);
	fake_session_turn_ends(agent->session, "Half is done.");
	auto_world_turn(2);
	prompt = fake_session_prompt(agent->session);
	ck_assert_msg(strstr(prompt, rows[_i].words) != NULL, "%s", prompt);
	ck_assert_int_eq(fake_session_cleared(agent->session), rows[_i].fresh);
	ck_assert_int_eq(
	    strstr(prompt, "Do it") != NULL, rows[_i].fresh); /* its task */
	ck_assert_int_eq(
	    strstr(prompt, "| Half is done.") != NULL, rows[_i].fresh);
	ck_assert_int_eq(
	    strstr(prompt, "1 commit ahead of main") != NULL, rows[_i].fresh);
	auto_world_told("sent_back t1; ");
	ck_assert_int_eq(t->attempts, 1);
	floor_world_wt("auto-1", "rm -f c.txt");
	auto_world_finish(agent, "pass");
	wait_landed();
}

/* The check of the worker fails because main does: it is not sent back,
 * somebody fixes main, and then its work lands as it was. */
TEST(nobody_is_blamed_for_a_red_branch)
{
	struct agent *agent = begin_turn(CHECK_RED "max_turns = 1\n");

	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn_on("t2");
	ck_assert_str_eq(
	    state_task(&auto_world.core->state, "t2")->source, "fix");
	/* Only whoever fixes it must pass by itself. */
	auto_world_finish(agent, "pass");
	auto_world_wait_done();
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nb.txt\npass");
}

/* Nobody can fix it: a person must know, and work waits. */
TEST(a_red_branch_that_is_not_fixed_is_a_failure)
{
	struct agent *agent =
	    begin_turn(CHECK_RED "max_turns = 1\nmax_attempts = 1\n");

	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn_on("t2");
	auto_world_finish(agent, "useless");
	auto_world_fails("red_branch");
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t1")->step, TASK_QUEUED);
}

TEST(what_keeps_failing_is_given_up)
{
	struct agent *agent =
	    begin_turn(CHECK "max_turns = 1\nmax_attempts = 1\n");

	fake_session_turn_ends(agent->session, "Done.");
	auto_world_all_filed("t1 failed; ");
	/* Its work is not lost, and neither is what the checks left. */
	ck_assert_str_eq(
	    floor_world_sh(
		"git for-each-ref --format='%(refname:lstrip=4)' "
		"refs/llmc/salvage/auto-1 | sed 's/^[0-9].*Z-/TIME-/'; "
		"git ls-tree --name-only refs/llmc/salvage/auto-1/checks-t1 "
		"junk"),
	    "TIME-t1\nchecks-t1\njunk");
}

/* All that it has is kept with it. */
TEST(a_tree_that_cannot_be_reset_is_put_aside)
{
	struct agent *agent = begin_turn(CHECK_SLOW);

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	floor_world_sh(
	    "mkdir -p .git/refs/llmc; >.git/refs/llmc/salvage; touch go");
	wait_landed();
	floor_world_sh("test -e .worktrees/auto-1.broken-*/junk");
}

/* Ten of a worker are kept; what only looks like it is not touched. */
TEST(of_trees_that_were_put_aside_the_newest_are_kept)
{
	struct agent *agent = begin_turn(CHECK_SLOW);

	floor_world_sh("cd .worktrees; for n in 1 2 3 4 5 6 7 8 9 a b; do "
		       "mkdir -p auto-1.broken-2024010${n}T000000Z/x; done; "
		       "mkdir auto-10.broken-20240101T000000Z "
		       "auto-1.kept-20240101T000000Z");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	floor_world_sh(
	    "mkdir -p .git/refs/llmc; >.git/refs/llmc/salvage; touch go");
	wait_landed();
	floor_world_until(strcmp(floor_world_sh("cd .worktrees; echo "
						"auto-1.broken-2024010[12]*"),
			      "auto-1.broken-2024010[12]*") == 0);
	floor_world_sh("cd .worktrees; test $(ls -d auto-1.broken-* | wc -l) = "
		       "10 -a -e auto-1.broken-20240103T000000Z -a -e "
		       "auto-10.broken-20240101T000000Z -a -e "
		       "auto-1.kept-20240101T000000Z");
}

/* --- interrupted ----------------------------------------------------- */

TEST(cancelled_while_it_runs)
{
	struct agent *agent = begin_turn(CHECK_SLOW);

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	operation_cancel(&agent->op->op, "enough");
	floor_world_settle();
	/* Nothing was decided, and nothing is left over. */
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	assert_clean();
	auto_world_told("");
	/* Patrol finds a turn that was not judged. */
	ck_assert(turn_end_is_due(agent));
	floor_world_sh("touch go");
	turn_end_begin(agent, NULL, NULL);
	wait_landed();
}

TEST(cancelled_while_its_tree_is_reset)
{
	struct agent *agent = begin_turn(CHECK_OK);

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	floor_world_wait_step(agent, "reset");
	operation_cancel(&agent->op->op, "enough");
	wait_landed(); /* it had passed */
}

static const char *const steps[] = { "facts", "run", "reset" };

/* The next daemon lets the worker check it again. */
static void
go_on_after(void)
{
	struct agent *agent;

	floor_world_sh("touch go");
	auto_world_live();
	agent = auto_world_turn(1);
	ck_assert_str_eq(agent->worker->task, "t1");
	fake_session_turn_ends(agent->session, "Done.");
	wait_landed();
	auto_world_end();
}

static void
begin_until(const char *step)
{
	struct agent *agent =
	    begin_turn(strcmp(step, "run") == 0 ? CHECK_SLOW : CHECK_OK);

	fake_session_turn_ends(agent->session, "Done.");
	if (strcmp(step, "reset") == 0)
		floor_world_wait_step(agent, "run");
	floor_world_wait_step(agent, step);
}

TEST_ROWS(the_daemon_stops, nitems(steps))
{
	begin_until(steps[_i]);
	auto_world_stop();
	if (_i > 0)
		assert_clean();
	auto_world_reopen();
	go_on_after();
}

TEST_ROWS(the_daemon_dies, nitems(steps))
{
	begin_until(steps[_i]);
	auto_world_reopen();
	/* A git that was killed may also leave its lock file. */
	floor_world_wt(
	    "auto-1", "rm -f junk ../../.git/worktrees/auto-1/index.lock");
	go_on_after();
}

/* --- drop ------------------------------------------------------------ */

TEST(a_task_is_not_dropped_during_an_operation)
{
	struct agent *agent = begin_turn(CHECK_SLOW);
	struct floor_call *call;

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	call = floor_world_call("task.drop", NULL, "\"task\":\"t1\"");
	floor_world_refused(call, API_BUSY, "");
	ck_assert_str_eq(agent->worker->task, "t1");
	floor_world_sh("touch go");
	wait_landed();
}

TEST(a_task_is_dropped_in_a_turn)
{
	struct agent *agent = begin_turn(CHECK_SLOW);
	struct floor_call *call =
	    floor_world_call("task.drop", NULL, "\"task\":\"a.md\"");

	ck_assert_ptr_null(floor_world_answer(call));
	auto_world_all_filed("t1 aborted; ");
	ck_assert_ptr_null(agent->worker->task);
	ck_assert_str_eq(
	    floor_world_wt("auto-1", "git log -1 --format=%s"), "first");
}

/* --- errors ---------------------------------------------------------- */

TEST(turns_that_fail_are_sent_back_a_few_times)
{
	struct agent *agent = begin_turn("max_attempts = 2\n");
	int prompts = 1;

	for (; prompts <= 3; prompts++) {
		fake_session_turn_fails(agent->session, "400 too odd");
		auto_world_turn(prompts + 1);
		auto_world_told("sent_back t1; ");
	}
	fake_session_turn_fails(agent->session, "400 too odd");
	auto_world_turn(prompts + 1);
	auto_world_told("task_retry t1; task_assigned t1; ");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "400 too odd"));
}

/* --- another command ------------------------------------------------- */

static void
set_command(const char *command)
{
	cleanup_free char *script =
	    xasprintf("sed -i '/^check_command/ccheck_command = \"%s\"' "
		      ".llmc/config.toml",
		command);

	floor_world_sh(script);
	floor_world_accept();
	life_reload(auto_world.core);
}

/* What passed the old command has not passed the new one. */
TEST(a_worker_passes_the_command_that_ran)
{
	struct agent *agent = begin_turn(CHECK_SLOW);

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "run");
	set_command("test ! -e b.txt");
	floor_world_sh("touch go");
	auto_world_turn(2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "test ! -e b.txt"));
}

/* The queue checks in a worktree whose setup takes long. */
TEST(the_queue_runs_the_command_that_it_books)
{
	struct agent *agent = begin_turn(
	    "check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" || echo old "
	    ">>../../ran\"\n");

	floor_world_sh(
	    "echo m >m.txt; git add m.txt; git commit -qm meanwhile; "
	    "sed -i '/^.repo/asetup_command = \"case $PWD in */checks/*) "
	    "touch ../../setting-up; until test -e ../../go; do sleep 0.05; "
	    "done;; esac\"' .llmc/config.toml");
	floor_world_accept();
	life_reload(auto_world.core);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_until(
	    strcmp(floor_world_sh("test ! -e .llmc/setting-up || echo yes"),
		"") != 0);
	set_command("echo new >>../../ran");
	floor_world_sh("touch .llmc/go");
	wait_landed();
	ck_assert_str_eq(floor_world_sh("cat .llmc/ran"), "old\nnew");
}
