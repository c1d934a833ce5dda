/* SPDX-License-Identifier: ISC */

/* A worker whose work would wait long in the landing queue takes its next task.
 * The work lands without it, or waits for a worker and goes back with its own
 * tree and the output of the check. */
#include "autorun.h"
#include "queue-scenarios.h"

void
unit_before(void)
{
	fleet_begin();
}

/* In the queue the check of a.txt waits at a gate, and may need another file. A
 * worker's own check passes. */
static void
set_check(void)
{
	queue_check(e2e_path("[ -n \"${LLMC_CHECK_SLOT-}\" ] && [ -e a.txt ] "
			     "|| exit 0\n%s\n[ ! -e '%s' ] || "
			     "[ -e fixed.txt ] || { echo a.txt is not enough; "
			     "echo 'fake: commit fixed.txt x'; exit 1; }",
	    auto_gate("slot"), unit_path("strict")));
}

/* The check is known to take an hour. No daemon is running. */
static void
expect_an_hour(void)
{
	e2e_expect(
	    e2e_sh(fleet_root(), "\"$STATE\" | grep -q '\"took_ms\": *[0-9]'"),
	    0, NULL);
	e2e_edit_state(
	    fleet_root(), "s/\\(\"took_ms\": *\\)[0-9]*/\\13600000/");
}

/* The work on a.txt is being checked, and its worker works on b.txt. */
static void
begin_released(void)
{
	set_check();
	auto_task("0.md", "Before\nfake: commit before.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	expect_an_hour();
	auto_task("a.md",
	    "A\nfake: run [ ! -e a.txt ] || touch '%s'\nfake: run %s\n"
	    "fake: commit a.txt x",
	    unit_path("seen"), auto_gate("a"));
	auto_task(
	    "b.md", "B\nfake: run %s\nfake: commit b.txt x", auto_gate("b"));
	auto_up(NULL);
	auto_wait_gate("a");
	e2e_expect(e2e_sh(fleet_root(),
		       "echo m >m.txt; git add m.txt; git commit -qm Other"),
	    0, NULL);
	auto_open_gate("a");
	auto_wait_gate("slot");
	auto_wait_gate("b");
	ck_assert_str_eq(
	    auto_member(auto_state(), "landings.items.0.worker"), "");
	ck_assert_int_eq(auto_finished("landed"), 1);
	/* Its tree is as the branch. */
	ck_assert(!e2e_exists(e2e_path("%s/a.txt", fleet_worktree("auto-1"))));
	ck_assert(e2e_exists(e2e_path("%s/m.txt", fleet_worktree("auto-1"))));
}

static void
end_released(void)
{
	auto_wait_finished("landed", 3);
	auto_history("before.txt: x", "Other", "a.txt: x", "b.txt: x", NULL);
	ck_assert_int_eq(auto_finished(NULL), 3);
	auto_drain();
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "for-each-ref", "refs/llmc", NULL), "");
	queue_never_red();
	auto_no_complaints();
}

const int unit_timeout = 120; /* seconds, each */

TEST(the_work_of_a_released_worker_lands)
{
	begin_released();
	auto_open_gate("slot");
	auto_wait_finished("landed", 2);
	ck_assert(e2e_exists(e2e_path("%s/a.txt", fleet_root())));
	auto_open_gate("b");
	end_released();
	ck_assert_int_eq(auto_events("task_assigned", NULL), 3);
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	ck_assert(!e2e_exists(unit_path("seen")));
}

TEST(ejected_work_goes_back_to_a_worker_with_its_tree_and_the_output)
{
	e2e_write(unit_path("strict"), "");
	begin_released();
	auto_open_gate("slot");
	/* It waits for the worker, which has another task. */
	auto_wait_state("landings.items.0.id", "");
	ck_assert_int_eq(fleet_prompts("a.txt is not enough"), 0);
	ck_assert_int_eq(auto_finished("landed"), 1);
	auto_open_gate("b");
	end_released();
	ck_assert_int_eq(fleet_prompts("a.txt is not enough"), 1);
	/* The second time its file was there; one commit has both files. */
	ck_assert(e2e_exists(unit_path("seen")));
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "log", "--format=%H", "--", "a.txt", NULL),
	    e2e_git(
		fleet_root(), "log", "--format=%H", "--", "fixed.txt", NULL));
}
