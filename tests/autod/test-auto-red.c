/* SPDX-License-Identifier: ISC */

/* auto.on_red = "revert": the landing branch fails its own check, and the
 * commits of tasks that it ends with are taken back through the queue. */
#include "auto-world.h"
#include "landing.h"
#include "schema.h"

/* A worker's own check passes. In the queue, everything fails while there is
 * .llmc/broken, and with .llmc/strict, b.txt does. */
#define CHECK                                                                 \
	"check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" && exit 0; test " \
	"! -e ../../broken || exit 1; test ! -e ../../strict || test ! -e "   \
	"b.txt || { echo words; exit 1; }\"\non_red = \"revert\"\n"

/* On top of the first commit, so that a merge is needed: what its worker has
 * passed its own check. */
static void
finish(const char *task, const char *file)
{
	struct agent *agent = auto_world_turn_on(task);

	floor_world_wt("auto-1",
	    "git reset -q --hard $(git rev-list --max-parents=0 HEAD)");
	auto_world_work(file);
	fake_session_turn_ends(agent->session, "Done.");
}

static void
expect_log(const char *want)
{
	ck_assert_str_eq(floor_world_sh("git log --format=%s main"), want);
}

/* t1 has landed, and t2 is in work. */
static void
begin(const char *settings)
{
	cleanup_free char *text = xasprintf(CHECK "%s", settings);

	auto_world_begin(text);
	auto_world_task("a.md", "First\n");
	auto_world_live();
	finish("t1", "b.txt");
	auto_world_wait("task_finished t1 landed; ");
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	auto_world_turn_on("t2");
}

/* From now on the check fails, and what passed is long ago. */
static void
make(const char *what)
{
	cleanup_free char *script = xasprintf("touch .llmc/%s", what);

	floor_world_sh(script);
	schema_release(
	    &check_book_schema, &auto_world.core->state.landings.checks);
}

TEST(the_commit_of_a_task_is_taken_back_and_its_task_done_again)
{
	struct agent *agent;
	const char *prompt;

	begin("");
	make("strict");
	finish("t2", "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_sh("git log -1 --format=%s main~1"),
		"(t1): main fails its check"));
	ck_assert_ptr_nonnull(
	    strstr(floor_world_sh("git log -1 --format=%b main~1"),
		floor_world_sh("git rev-parse main~2")));
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nc.txt");
	agent = auto_world_turn_on("t3");
	auto_world_folder("doing: a.md; done: b.md; ");
	prompt = fake_session_prompt(agent->session);
	ck_assert_ptr_nonnull(strstr(prompt, "First\n"));
	ck_assert_ptr_nonnull(strstr(prompt, "done before, as commit"));
	ck_assert_ptr_nonnull(strstr(prompt, "words"));
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t3")->attempts, 2);
	finish("t3", "d.txt");
	auto_world_wait_done();
	auto_world_folder("done: a.md; done: b.md; ");
}

/* All that landed in a row, if nothing is known of the commits between. */
TEST(several_are_taken_back_with_one_commit)
{
	begin("");
	finish("t2", "c.txt");
	auto_world_wait("task_finished t2 landed; ");
	ck_assert_uint_eq(auto_world.core->state.landings.own.count, 2);
	make("strict");
	auto_world_task("c.md", "Third\n");
	auto_world_patrol();
	finish("t3", "d.txt");
	auto_world_wait("task_finished t3 landed; ");
	expect_log(
	    "add d.txt\nRevert 2 commits: main fails its check\nadd c.txt\n"
	    "add b.txt\nfirst");
	auto_world_turn_on("t4");
	auto_world_folder("doing: a.md; doing: b.md; done: c.md; ");
}

TEST(attempts_are_limited)
{
	begin("max_attempts = 1\n");
	make("strict");
	finish("t2", "c.txt");
	auto_world_all_filed("t1 landed; t3 dead-letter; t2 landed; ");
}

TEST(a_persons_commit_is_never_taken_back)
{
	begin("");
	floor_world_sh("echo m >m.txt; git add m.txt; git commit -qm Mine");
	make("strict");
	finish("t2", "c.txt");
	auto_world_fails("red_branch");
	expect_log("Mine\nadd b.txt\nfirst");
}

/* The commit before it passed, and fails now: the cause is elsewhere. */
TEST(what_would_not_help_is_not_done)
{
	begin("land_mode = \"each\"\n");
	make("broken");
	finish("t2", "c.txt");
	auto_world_fails("red_branch");
	expect_log("add b.txt\nfirst");
	ck_assert_uint_eq(auto_world.core->state.landings.count, 1);
}

/* While it waits to be checked, a person repairs the branch. */
TEST(a_branch_that_passes_again_is_left_alone)
{
	begin("");
	make("strict");
	finish("t2", "c.txt");
	floor_world_until(auto_world.core->state.landings.count == 2);
	floor_world_sh("git rm -q b.txt; git commit -qm Mine");
	auto_world_patrol();
	auto_world_wait("task_finished t2 landed; ");
	expect_log("add c.txt\nMine\nadd b.txt\nfirst");
}

TEST(the_next_daemon_takes_it_back)
{
	begin("");
	make("strict");
	finish("t2", "c.txt");
	floor_world_until(auto_world.core->state.landings.count == 2);
	auto_world_reopen();
	auto_world_live();
	auto_world_wait("task_finished t2 landed; ");
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\nc.txt");
	auto_world_turn_on("t3");
}
