/* SPDX-License-Identifier: ISC */

/* post_accept_command: once for each landing, interrupted at each of its steps,
 * and what happens when it fails. */
#include "auto-world.h"
#include "auto-private.h"
#include "landing.h"

/* Reports that it began, waits for permission, reports that it ended, and exits
 * with a status that the test chooses. */
#define COMMAND                                                             \
	"post_accept_command = \"cd .llmc; echo $LLMC_TASK >>began; until " \
	"test -e go; do sleep 0.05; done; echo $LLMC_TASK >>ended; echo "   \
	"words >&2; exit $(cat status)\"\n"

static void
say(const char *status)
{
	cleanup_free char *text =
	    xasprintf("echo %s >.llmc/status; touch .llmc/go", status);

	floor_world_sh(text);
}

/* A task whose work is being landed. */
static void
begin_landing(const char *settings)
{
	cleanup_free char *text = xasprintf("%s%s", COMMAND, settings);
	struct agent *agent = auto_world_begin_turn(text, "Do it\n");

	auto_world_finish(agent, "b.txt");
}

static void
assert_filed(const char *want)
{
	auto_world_all_filed(want);
}

static void
assert_ran(const char *began, const char *ended)
{
	ck_assert_str_eq(
	    floor_world_sh("cat .llmc/began 2>/dev/null || :"), began);
	ck_assert_str_eq(
	    floor_world_sh("cat .llmc/ended 2>/dev/null || :"), ended);
}

static void
assert_tidy(void)
{
	ck_assert_str_eq(floor_world_sh("ls .llmc/post 2>/dev/null || :"), "");
}

/* Its worker still has the task. */
TEST(the_next_landing_waits_for_a_command_that_has_not_begun)
{
	begin_landing("");
	floor_world_until(auto_world.core->state.tasks[0]->step == TASK_LANDED);
	ck_assert_ptr_null(auto_world.mode->post);
	ck_assert(post_accept_pending(auto_world.mode));
	say("0");
	assert_filed("t1 landed; ");
	ck_assert(!post_accept_pending(auto_world.mode));
}

TEST(the_next_landing_waits)
{
	struct agent *agent;

	begin_landing("");
	auto_world_wait_post("run");
	auto_world_task("b.md", "Do more\n");
	agent = auto_world_turn(2);
	auto_world_finish(agent, "c.txt");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	floor_world_settle();
	ck_assert(landings_busy(auto_world.landings));
	ck_assert_str_eq(
	    floor_world_sh("git log --format=%s main"), "add b.txt\nfirst");
	say("0");
	assert_filed("t1 landed; t2 landed; ");
	assert_ran("t1\nt2", "t1\nt2");
	assert_tidy();
}

/* --- interrupted ----------------------------------------------------- */

static const struct row {
	const char *step;
	const char *policy, *status; /* on_post_accept_failure */
	const char *began_stopped; /* runs after a daemon that stops */
	const char *began_dead; /* runs after a daemon that dies */
	const char *filed;
} rows[] = {
	{ "write", "shutdown", "0", "t1", "t1", "t1 landed; " },
	/* A cancelled command runs again; one that survived does not. */
	{ "run", "shutdown", "0", "t1\nt1", "t1", "t1 landed; " },
	{ "revert", "revert", "1", "t1", "t1", "t1 failed; " },
	{ "tidy", "shutdown", "0", "t1", "t1", "t1 landed; " },
};

static void
begin_until(const struct row *row)
{
	cleanup_free char *settings = xasprintf(
	    "max_attempts = 1\non_post_accept_failure = \"%s\"\n", row->policy);

	begin_landing(settings);
	if (strcmp(row->step, "run") == 0)
		floor_world_sh("echo 0 >.llmc/status");
	else
		say(row->status);
	auto_world_wait_post(row->step);
	if (strcmp(row->step, "run") == 0)
		floor_world_sh(
		    "until test -e .llmc/began; do sleep 0.05; done");
}

static void
assert_ends(const struct row *row, const char *began)
{
	say(row->status);
	auto_world_live();
	assert_filed(row->filed);
	assert_ran(began, "t1");
	assert_tidy();
	auto_world_end();
}

TEST_ROWS(the_daemon_stops, nitems(rows))
{
	const struct row *row = &rows[_i];

	begin_until(row);
	auto_world_stop();
	ck_assert_ptr_null(auto_world.mode->post);
	auto_world_reopen();
	assert_ends(row, row->began_stopped);
}

TEST_ROWS(the_daemon_dies, nitems(rows))
{
	const struct row *row = &rows[_i];

	begin_until(row);
	auto_world_reopen();
	assert_ends(row, row->began_dead);
}

/* --- when it fails --------------------------------------------------- */

TEST(failure_shuts_down)
{
	begin_landing("");
	say("3");
	auto_world_fails("post_accept");
	ck_assert_int_eq(auto_world.core->exit_status, 1);
	ck_assert_ptr_null(auto_world.mode->post);
	auto_world_reopen();
	auto_world_live();
	auto_world_all_filed("t1 landed; ");
	assert_ran("t1", "t1");
}

TEST(failure_is_passed_over)
{
	begin_landing("on_post_accept_failure = \"continue\"\n");
	say("3");
	assert_filed("t1 landed; ");
	ck_assert_ptr_nonnull(strstr(
	    auto_world.told.data, "post_accept t1; post_accept_failed; "));
}

TEST(failure_is_taken_back)
{
	const struct agent *agent;

	begin_landing("on_post_accept_failure = \"revert\"\n");
	say("3");
	agent = auto_world_turn(2); /* it is tried again */
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	ck_assert_ptr_null(auto_world.core->state.tasks[0]->commit);
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt");
}

TEST(what_cannot_be_taken_back_is_a_failure)
{
	begin_landing("on_post_accept_failure = \"revert\"\n");
	auto_world_wait_post("run");
	floor_world_sh("echo mine >>b.txt; git commit -qam mine");
	say("3");
	auto_world_fails("revert");
}

/* It waits for the user's checkout like other work. */
TEST(taking_back_waits_for_the_checkout)
{
	begin_landing("on_post_accept_failure = \"revert\"\n");
	auto_world_wait_post("run");
	floor_world_sh("echo mine >>b.txt");
	say("3");
	auto_world_wait("waiting; ");
	ck_assert_str_eq(
	    floor_world_sh("git log --format=%s main"), "add b.txt\nfirst");
	floor_world_sh("git checkout -q b.txt");
	auto_world_turn(2);
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt");
}

TEST(failure_is_fixed_by_a_task)
{
	struct agent *agent;

	begin_landing("max_attempts = 1\non_post_accept_failure = \"fix\"\n");
	say("3");
	agent = auto_world_turn(2);
	ck_assert_str_eq(agent->worker->task, "t2");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "words"));
	/* A fix of a fix exceeds the limit here. */
	auto_world_finish(agent, "c.txt");
	auto_world_fails("post_accept");
}

TEST(a_command_that_cannot_be_started_is_a_failure)
{
	begin_landing("");
	floor_world_sh("touch .llmc/post");
	auto_world_fails("post_accept");
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_LANDED);
}
