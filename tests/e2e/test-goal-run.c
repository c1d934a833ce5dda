/* SPDX-License-Identifier: ISC */

/* A goal from a file, worked on by two workers until it is reached: across
 * deaths of the daemon, and across a damaged store. */
#include "goalrun.h"
#include "scenarios.h"

static const char *const tasks[] = { "T1.1", "T1.2", "T2.1", "T2.2", NULL };

static void
begin(void)
{
	fleet_begin();
	goal_enable();
	auto_set("auto.concurrency", "2");
}

/* T1.1 and T1.2 at once, T2.1 after T1.2, T2.2 after everything. */
static const char *
create(void)
{
	return goal_create(e2e_path(
	    "# Build a house\nIt rains.\n\n"
	    "## Walls\n"
	    "### Left wall\nfake: run %s\nfake: commit left.txt x\n\n"
	    "Acceptance:\n- it stands\n\n"
	    "### Right wall\nfake: run %s\nfake: commit right.txt x\n\n"
	    "Acceptance:\n- it stands\n\n"
	    "## Roof\n"
	    "### Beams\nfake: run %s\nfake: commit beams.txt x\n\n"
	    "Acceptance:\n- they hold\n\nDepends: Right wall\n\n"
	    "### Tiles\nfake: run %s\nfake: commit tiles.txt x\n\n"
	    "Acceptance:\n- it is dry\n\nDepends:\n- Walls\n- Beams\n",
	    auto_gate("left"), auto_gate("right"), auto_gate("beams"),
	    auto_gate("tiles")));
}

static void
open_gates(void)
{
	auto_open_gate("left");
	auto_open_gate("right");
	auto_open_gate("beams");
	auto_open_gate("tiles");
}

static void
is_built(const char *goal)
{
	goal_is_reached(goal, tasks);
	auto_history("left.txt: x", "right.txt: x", "beams.txt: x",
	    "tiles.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 4);
	ck_assert_int_eq(auto_finished("landed"), 4);
	ck_assert_int_eq(auto_finished(NULL), 4);
	ck_assert_int_eq(fleet_prompts("fake: commit left.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit right.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit beams.txt"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit tiles.txt"), 1);
	auto_no_sessions();
}

/* --- deaths ------------------------------------------------------------- */

START_TEST(a_goal_is_reached_across_two_deaths_of_the_daemon)
{
	const char *goal = create();

	auto_up("--until-empty", NULL);
	auto_wait_gate("left");
	auto_wait_gate("right");
	/* Dead while both work; one of them ends its turn meanwhile. */
	auto_kill9_daemon();
	auto_open_gate("right");
	fleet_wait_spooled();
	auto_up("--until-empty", NULL);
	auto_wait_gate("beams");
	ck_assert_str_eq(goal_node(goal, "T1.2", "status"), "done");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "in_progress");
	ck_assert_str_eq(goal_node(goal, "T2.2", "status"), "todo");
	/* And as soon as another one has landed. */
	auto_open_gate("beams");
	auto_wait_landed(2);
	auto_kill9_daemon();
	open_gates();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	is_built(goal);
	auto_no_complaints();
	e2e_has(fleet_do("goal", "show", goal, NULL)->out,
	    "completed, 4 of 4 done (100%)");
	/* There is nothing left to do. */
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_landed(), 4);
}
END_TEST

/* --- damage -------------------------------------------------------------- */

/* What the last daemon had not yet moved to the file is moved first. */
static void
damage(void)
{
	fleet_do("goal", "list", NULL);
	e2e_expect(e2e_sh(fleet_root(),
		       "[ ! -e .llmc/store.db-wal ] && printf 'no database' | "
		       "dd of=.llmc/store.db conv=notrunc 2>/dev/null"),
	    0, NULL);
}

START_TEST(a_goal_is_reached_after_its_store_was_damaged)
{
	const char *goal = create();

	goal_set_notices();
	auto_up(NULL);
	auto_wait_gate("left");
	auto_wait_gate("right");
	auto_kill9_daemon();
	damage();
	auto_up(NULL);
	auto_wait_event("store.corrupt", NULL);
	fleet_fails("llmc store recover", "goal", "list", NULL);
	e2e_has(fleet_do("status", NULL)->out, "damaged");
	goal_wait_notice("state", "store");
	/* Who works goes on, and lands; nothing is begun. */
	auto_open_gate("left");
	auto_open_gate("right");
	auto_wait_finished("landed", 2);
	auto_wait_state("workers.auto-1.status", "idle");
	auto_wait_state("workers.auto-2.status", "idle");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	fleet_do("store", "recover", NULL);
	auto_wait_gate("beams");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "done");
	ck_assert_str_eq(goal_node(goal, "T1.2", "status"), "done");
	open_gates();
	auto_wait_finished("landed", 4);
	auto_drain();
	is_built(goal);
}
END_TEST

/* Beneath a daemon that has it open, so that nothing of it can be read. */
static void
destroy(void)
{
	e2e_expect(e2e_sh(fleet_root(),
		       "for f in .llmc/store.db*; do size=$(wc -c <\"$f\"); "
		       "dd if=/dev/urandom of=\"$f\" bs=1024 "
		       "count=$((size / 1024)) conv=notrunc 2>/dev/null; done"),
	    0, NULL);
}

/* Export the store in the middle of a run, and lose it. */
static const char *
lose_store(void)
{
	const char *file = e2e_path("%s/an export.json", unit_scratch());

	auto_up(NULL);
	auto_wait_gate("left");
	auto_wait_gate("right");
	fleet_do("store", "export", file, NULL);
	destroy();
	auto_open_gate("left");
	auto_wait_event("store.corrupt", NULL);
	auto_wait_finished("landed", 1);
	fleet_fails("llmc store import FILE", "store", "recover", NULL);
	auto_open_gate("right");
	auto_wait_finished("landed", 2);
	return file;
}

static void
goes_on_from(const char *file, const char *goal)
{
	fleet_do("store", "import", file, NULL);
	auto_wait_gate("beams");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "done");
	ck_assert_str_eq(goal_node(goal, "T1.2", "status"), "done");
	open_gates();
	auto_wait_finished("landed", 4);
	auto_drain();
	is_built(goal);
}

START_TEST(a_goal_is_reached_from_an_export_of_a_store_that_is_lost)
{
	const char *goal = create();

	goes_on_from(lose_store(), goal);
}
END_TEST

/* As if recovery had not found them. */
START_TEST(work_whose_assignment_is_lost_is_not_done_again)
{
	const char *goal = create();
	const char *file = lose_store();
	struct json_object *json = e2e_load(file);

	ck_assert_ptr_nonnull(json);
	json_object_object_add(json, "assignments", json_object_new_object());
	json_object_object_add(json, "dispatchIndex", json_object_new_object());
	e2e_write(file, json_object_to_json_string(json));
	json_object_put(json);
	goes_on_from(file, goal);
}
END_TEST

START_TEST(until_empty_is_no_success_without_the_store)
{
	const char *goal = create();

	damage();
	open_gates();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_ptr_null(auto_failure());
	ck_assert_int_eq(auto_landed(), 0);
	fleet_do("store", "recover", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	is_built(goal);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("goal-run");

	scenarios_add_test(
	    suite, begin, a_goal_is_reached_across_two_deaths_of_the_daemon);
	scenarios_add_test(
	    suite, begin, a_goal_is_reached_after_its_store_was_damaged);
	scenarios_add_test(suite, begin,
	    a_goal_is_reached_from_an_export_of_a_store_that_is_lost);
	scenarios_add_test(
	    suite, begin, work_whose_assignment_is_lost_is_not_done_again);
	scenarios_add_test(
	    suite, begin, until_empty_is_no_success_without_the_store);
	return suite;
}
