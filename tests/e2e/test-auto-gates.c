/* SPDX-License-Identifier: ISC */

/* The completion gate of auto mode: what ends a turn but not the task, how
 * often that is tolerated, and what happens to the task then. */
#include "autorun.h"
#include "filed.h"

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

/* --- check_command ----------------------------------------------- */

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
