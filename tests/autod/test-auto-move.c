/* SPDX-License-Identifier: ISC */

/* Tasks that land in one move of the branch: post_accept_command runs once for
 * them, and what follows from it holds for all. */
#include "auto-world.h"

/* Writes down for what it runs, and waits for permission. It fails, if the test
 * says so, after several tasks at once. */
#define SETTINGS                                                             \
	"concurrency = 2\n"                                                  \
	"post_accept_command = \"cd .llmc; echo $LLMC_TASK: $LLMC_TASKS as " \
	"$LLMC_COMMIT by $LLMC_WORKER >>began; until test -e go$LLMC_TASK; " \
	"do sleep 0.05; done; case $LLMC_TASKS in *' '*) echo words >&2; "   \
	"exit $(cat status);; esac\"\n"

/* Its worker commits a change and is done. */
static void
finish(const char *task, const char *script)
{
	struct agent *agent = auto_world_turn_on(task);
	cleanup_free char *text = xasprintf(
	    "%s; git add -A; git commit -qm 'work of %s'", script, task);

	floor_world_wt(agent->worker->name, text);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	floor_world_settle();
}

/* The first task has landed and its command runs, so that the other two must
 * wait, and then land together, t2 before t3. */
static void
begin_together(const char *settings)
{
	cleanup_free char *text = xasprintf(SETTINGS "%s", settings);
	struct agent *agent;

	auto_world_begin(text);
	floor_world_sh("echo 3 >.llmc/status");
	auto_world_task("a.md", "First\n");
	auto_world_live();
	agent = auto_world_turn_on("t1");
	auto_world_finish(agent, "b.txt");
	auto_world_wait_post("run");
	auto_world_task("b.md", "Second\n");
	auto_world_turn_on("t2");
	auto_world_task("c.md", "Third\n");
	finish("t2", "echo 2 >c.txt");
	finish("t3", "echo 3 >d.txt");
}

/* Let the command for t1 end, and wait until the one for the others runs. */
static void
land_together(void)
{
	floor_world_sh("touch .llmc/got1");
	auto_world_wait("post_accept t1; ");
	auto_world_wait_post("run");
	floor_world_sh(
	    "until test $(wc -l <.llmc/began) = 2; do sleep 0.05; done");
}

static void
assert_began(const char *want)
{
	ck_assert_str_eq(floor_world_sh("cut -d' ' -f1-3 .llmc/began"), want);
}

TEST(the_command_runs_once)
{
	const char *tip;

	begin_together("");
	floor_world_sh("echo 0 >.llmc/status");
	land_together();
	tip = floor_world_sh("git log -1 --format='t3: t2 t3 as %H by' main");
	ck_assert_str_eq(
	    floor_world_sh("tail -1 .llmc/began | sed 's/by .*/by/'"), tip);
	floor_world_sh("touch .llmc/got3");
	auto_world_all_filed("t1 landed; t3 landed; t2 landed; ");
	assert_began("t1: t1 as\nt3: t2 t3");
}

/* The run that survived is adopted, one that was cancelled runs again, and both
 * are of the same move. */
TEST_ROWS(the_command_survives, 2)
{
	begin_together("");
	floor_world_sh("echo 0 >.llmc/status");
	land_together();
	if (_i == 0)
		auto_world_reopen();
	else
		auto_world_restart();
	floor_world_sh("touch .llmc/got3");
	auto_world_live();
	auto_world_all_filed("t1 landed; t3 landed; t2 landed; ");
	assert_began(_i == 0 ? "t1: t1 as\nt3: t2 t3" :
			       "t1: t1 as\nt3: t2 t3\nt3: t2 t3");
}

TEST(one_task_fixes_all)
{
	const struct agent *agent;
	const char *prompt;

	begin_together("on_post_accept_failure = \"fix\"\n");
	land_together();
	floor_world_sh("touch .llmc/got3");
	agent = auto_world_turn_on("t4");
	prompt = fake_session_prompt(agent->session);
	ck_assert_ptr_nonnull(strstr(prompt, "> Second\n"));
	ck_assert_ptr_nonnull(strstr(prompt, "> Third\n"));
	ck_assert_ptr_nonnull(strstr(prompt, "words"));
	ck_assert_uint_eq(auto_world.core->state.task_count, 1);
	auto_world_filed("t1 landed; t3 landed; t2 landed; ");
}

TEST(all_are_taken_back)
{
	begin_together("on_post_accept_failure = \"revert\"\n");
	land_together();
	floor_world_sh("touch .llmc/got3");
	auto_world_turn_on("t2");
	auto_world_turn_on("t3");
	ck_assert_str_eq(floor_world_sh("git log --format=%s -3 main"),
	    "Revert \"Second\"\nRevert \"Third\"\nwork of t3");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nb.txt");
	for (size_t i = 0; i < 2; i++) {
		ck_assert_ptr_null(auto_world.core->state.tasks[i]->commit);
		ck_assert_ptr_null(auto_world.core->state.tasks[i]->move);
	}
}

/* A daemon dies after the first of two commits was taken back. */
TEST(the_next_daemon_takes_back_the_rest)
{
	struct task *t3;

	begin_together("on_post_accept_failure = \"revert\"\n");
	land_together();
	t3 = state_task(&auto_world.core->state, "t3");
	floor_world_sh("touch .llmc/got3");
	while (t3->commit != NULL)
		auto_world_wait_post("revert");
	auto_world_reopen();
	auto_world_live();
	auto_world_turn_on("t2");
	auto_world_turn_on("t3");
	ck_assert_str_eq(floor_world_sh("git log --format=%s -3 main"),
	    "Revert \"Second\"\nRevert \"Third\"\nwork of t3");
}
