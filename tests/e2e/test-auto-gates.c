/* SPDX-License-Identifier: ISC */

/* The completion gate of auto mode: what ends a turn but not the task, how
 * often that is tolerated, and what happens to the task then. */
#include "autorun.h"
#include "filed.h"

void
unit_before(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_ails("");
}

static struct json_object *
record_of_last(void)
{
	return filed_last(fleet_root());
}

static void
check_record(const char *key, const char *words)
{
	struct json_object *record = record_of_last();

	e2e_has(auto_member(record, key), words);
	json_object_put(record);
}

const int unit_timeout = 120; /* seconds, each */

/* --- git: the Stop hook answers directly ------------------------- */

TEST(uncommitted_work_is_sent_back_by_the_stop_hook)
{
	auto_task("a.md",
	    "fake: write left.txt over\nfake: ask All is finished.\n"
	    "fake: run git add -A && git commit -q -m Leftovers");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("Leftovers", NULL);
	ck_assert_int_eq(auto_events("sent_back", "untracked"), 1);
	/* The turn continued: no other prompt was typed. */
	ck_assert_int_eq(fleet_prompts(""), 1);
	check_record("turns", "2");
}

TEST(a_commit_that_is_wanted_is_asked_for)
{
	auto_set("auto.require_commit", "true");
	auto_task("a.md",
	    "fake: ask Everything was fine already.\nfake: commit a.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("sent_back", "no commit"), 1);
	ck_assert_int_eq(fleet_prompts(""), 1);
}

TEST(turns_come_to_an_end)
{
	auto_set("auto.max_turns", "2");
	auto_set("auto.max_attempts", "1");
	auto_task("a.md", "fake: write left.txt over");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	ck_assert_ptr_null(auto_failure());
	ck_assert_int_eq(auto_finished("failed"), 1);
	ck_assert_int_eq(auto_landed(), 0);
	check_record("reason", "not committed after 2 turns");
	auto_salvaged("auto-1", "left.txt");
	ck_assert_str_eq(
	    e2e_git(fleet_worktree("auto-1"), "status", "--porcelain", NULL),
	    "");
}

/* --- errors ------------------------------------------------------ */

TEST(a_turn_that_failed_is_taken_up_again)
{
	auto_task("a.md", "fake: commit a.txt x\nfake: fail 400 too odd");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(fleet_prompts("ended with an error"), 1);
}

TEST(turns_that_keep_failing_fail_the_task)
{
	auto_set("auto.max_attempts", "1");
	auto_ails("fake: fail 400 too odd");
	auto_task("a.md", "fake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	ck_assert_int_eq(auto_finished("failed"), 1);
	check_record("reason", "too odd");
	ck_assert_int_eq(fleet_prompts("ended with an error"), 3);
	auto_salvaged("auto-1", "a.txt");
}

/* --- check_command ----------------------------------------------- */

TEST(what_the_check_says_reaches_the_agent)
{
	auto_set("auto.check_command",
	    "echo rubbish >rubbish.txt; [ -e a.txt ] || exit 0; "
	    "echo rubbish >>a.txt; "
	    "[ -e fixed.txt ] || { echo \"fake: commit fixed.txt $LLMC_TASK\"; "
	    "exit 9; }");
	auto_task("a.md", "fake: commit a.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	ck_assert_int_eq(auto_landed(), 1);
	/* In the next prompt, with how it ended and its output. */
	ck_assert_int_eq(fleet_prompts("The check of your work failed"), 1);
	ck_assert_int_eq(fleet_prompts("status 9"), 1);
	ck_assert_str_eq(
	    e2e_read(e2e_path("%s/fixed.txt", fleet_root())), "t1\n");
	/* Files that it left do not land. */
	ck_assert(!e2e_exists(e2e_path("%s/rubbish.txt", fleet_root())));
	ck_assert_str_eq(e2e_read(e2e_path("%s/a.txt", fleet_root())), "x\n");
	ck_assert_int_eq(auto_logged("check.log", "\"command\""), 2);
}

TEST(a_check_that_takes_too_long_has_failed)
{
	auto_set("auto.check_timeout", "300ms");
	auto_set("auto.check_command",
	    "[ ! -e a.txt ] || [ -e b.txt ] || { echo 'fake: commit b.txt x'; "
	    "echo begun; exec tail -f /dev/null; }");
	auto_task("a.md", "fake: commit a.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert_int_eq(fleet_prompts("The check of your work failed"), 1);
	ck_assert_int_eq(fleet_prompts("begun"), 1);
}

TEST(a_check_that_never_passes_ends_in_a_dead_letter)
{
	auto_set("auto.check_command",
	    "[ ! -e a.txt ] || { echo not good enough; exit 1; }");
	auto_set("auto.max_turns", "2");
	auto_set("auto.max_attempts", "2");
	auto_task("a.md", "fake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	auto_no_complaints();
	ck_assert_int_eq(auto_finished("dead-letter"), 1);
	ck_assert_int_eq(auto_landed(), 0);
	check_record("reason", "not good enough");
	/* The second attempt was told how the first one ended. */
	ck_assert_int_eq(fleet_prompts("fake: commit a.txt"), 2);
	ck_assert_int_eq(auto_logged("check.log", "\"command\""), 4);
	auto_salvaged("auto-1", "a.txt");
}

/* --- not over yet ------------------------------------------------ */

TEST(a_turn_with_background_tasks_is_not_over)
{
	auto_task("a.md", "fake: commit a.txt x\nfake: background 700");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", NULL);
	/* Two Stops arrived, one was judged. */
	check_record("turns", "1");
	ck_assert_int_eq(auto_events("task_completed", NULL), 1);
}

TEST(a_compaction_in_the_middle_is_no_end)
{
	auto_task("a.md",
	    "fake: commit a.txt x\nfake: compact\nfake: commit b.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	ck_assert(e2e_exists(e2e_path("%s/b.txt", fleet_root())));
	ck_assert_int_eq(auto_landed(), 1);
}

/* --- dead letters ------------------------------------------------ */

TEST(a_dead_letter_is_filed_and_can_be_tried_again)
{
	struct json_object *record;
	const char *why;

	auto_set("auto.max_attempts", "2");
	auto_ails("fake: fail 400 too odd");
	auto_task("poison.md", "fake: commit a.txt x");
	auto_task("sound.md", "fake: commit b.txt x");
	auto_up(NULL);
	auto_wait_finished("dead-letter", 1);
	auto_ails("");
	/* A task that always fails does not block the others. */
	auto_wait_finished("landed", 1);
	ck_assert_str_eq(auto_folder("failed"), "poison.md\npoison.md.why\n");
	why = e2e_read(
	    e2e_path("%s/.llmc/tasks/failed/poison.md.why", fleet_root()));
	e2e_has(why, "too odd");
	ck_assert_int_eq(auto_events("task_retry", "too odd"), 1);
	ck_assert_int_eq(
	    auto_events("task_finished", "\"outcome\":\"dead-letter\""), 1);
	record = auto_state();
	ck_assert_str_eq(auto_member(record, "outcomes.dead-letter"), "1");
	fleet_do("task", "retry", "poison.md", NULL);
	auto_wait_finished("landed", 2);
	auto_drain();
	auto_no_complaints();
	auto_history("a.txt: x", "b.txt: x", NULL);
	ck_assert_str_eq(auto_folder("failed"), "");
	ck_assert_str_eq(auto_folder("done"), "poison.md\nsound.md\n");
}
