/* SPDX-License-Identifier: ISC */

/* The stand-in agent acts out pathological work, driven by prompts alone, up to
 * the intervention and back. */
#include <string.h>

#include "autorun.h"
#include "json.h"
#include "mem.h"
#include "scenarios.h"

/* Main passes; the work does once good.txt is there. What the check prints is
 * what the agent does next. */
#define CHECK "test ! -e b.txt || test -e good.txt || { echo '%s'; exit 1; }"

static void
begin(void)
{
	fleet_begin();
	auto_set("daemon.patrol_interval", "100ms");
	auto_set("oversight.enabled", "true");
	auto_set("auto.max_turns", "30");
	auto_ails("");
}

/* Every turn after the first one runs this. */
static void
begin_task(const char *step)
{
	auto_set("auto.check_command", e2e_path(CHECK, step));
	auto_task("a.md", "fake: commit b.txt x");
	auto_up(NULL);
}

static const char *
iterations(const char *what)
{
	return fleet_do("iterations", what, NULL)->out;
}

/* The last iteration has this member below "analysis" or at its top, with
 * these words; and what was recorded is shown if not. */
static void
assert_last(const char *member, const char *words)
{
	struct json_object *list =
	    e2e_json(fleet_do("--json", "iterations", "t1", NULL), 0);
	struct json_object *it = NULL, *analysis = NULL, *value = NULL;

	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (json_object_object_get_ex(
			json_object_array_get_idx(list, i), "iteration",
			&value))
			it = value;
	ck_assert_ptr_nonnull(it);
	json_object_object_get_ex(it, "analysis", &analysis);
	value = NULL;
	if (!json_object_object_get_ex(it, member, &value))
		json_object_object_get_ex(analysis, member, &value);
	ck_assert_msg(value != NULL &&
		strstr(json_object_to_json_string(value), words) != NULL,
	    "%s is not %s in %s", member, words,
	    json_object_to_json_string(it));
}

static void
assert_paused(const char *words)
{
	struct json_object *worker;

	fleet_wait("auto-1", "paused");
	worker = fleet_worker("auto-1");
	e2e_has(auto_member(worker, "reason"), words);
	e2e_has(auto_member(worker, "reason"), "llmc resume auto-1");
	e2e_has(fleet_do("status", NULL)->out, words);
	auto_wait_event("oversight", "pause");
	e2e_has(fleet_do("--json", "status", NULL)->out,
	    "\"oversight\": \"paused\"");
	json_object_put(worker);
}

/* A person helps, and the work lands. */
static void
recover(void)
{
	e2e_has(fleet_do("resume", "auto-1", "--note",
		    "fake: commit good.txt x", NULL)
		    ->out,
	    "was paused by oversight");
	auto_wait_finished("landed", 1);
	assert_last("testsPassing", "true");
	auto_drain();
	auto_no_complaints();
	ck_assert_int_eq(fleet_prompts("A person says"), 1);
}

START_TEST(a_stuck_worker_is_redirected_paused_and_helped)
{
	begin_task("fake: run ls ./missing.c");
	assert_paused("Stuck");
	assert_last("failureClass", "missing.c");
	assert_last("treeHash", "");
	assert_last("testsPassing", "false");
	assert_last("tokens", "");
	ck_assert_int_ge(fleet_prompts("CHANGE THE APPROACH"), 1);
	e2e_has(iterations("auto-1"), "redirect for stuck");
	e2e_has(iterations("t1"), "pause for stuck");
	/* Its session is there for a look, and nobody else wakes it. */
	ck_assert_int_gt(fleet_agent_pid("auto-1"), 0);
	e2e_has(fleet_do("resume", NULL)->out, "stays paused by oversight");
	fleet_fails(
	    "llmc resume auto-1 --note", "message", "auto-1", "go on", NULL);
	/* The next daemon knows. */
	auto_kill9_daemon();
	auto_up(NULL);
	assert_paused("Stuck");
	recover();
}
END_TEST

START_TEST(work_that_goes_back_and_forth_is_stopped)
{
	begin_task(
	    "fake: run if grep -q A t.txt; then echo B >t.txt; else echo A "
	    ">t.txt; fi; git add t.txt; git commit -qm flip");
	assert_paused("Oscillation");
	assert_last("blobs", "t.txt");
	e2e_has(iterations("t1"), "redirect for oscillation");
	recover();
}
END_TEST

START_TEST(a_task_that_burns_is_warned_of_and_aborted)
{
	auto_set("oversight.expected_iterations", "2");
	auto_set(
	    "oversight.thresholds", "[\"resource.iterationMultiplier=1\"]");
	auto_task("a.md", "fake: write left.txt x");
	auto_up(NULL);
	auto_wait_finished("aborted", 1);
	auto_wait_event("oversight", "abort");
	ck_assert_str_eq(auto_folder("failed"), "a.md\na.md.why\n");
	e2e_has(iterations("t1"), "warn for resource_burn");
	e2e_has(iterations("t1"), "abort for resource_burn");
	auto_wait_shell("grep -q resource_burn .llmc/aborted/t1/abort.json");
	e2e_has(fleet_do("oversight", "replay", "--task", "t1", NULL)->out,
	    "\"resource_burn\"");
	e2e_has(fleet_do("oversight", "report", NULL)->out, "resource_burn");
	fleet_fails("no iteration of t99", "oversight", "replay", "--task",
	    "t99", NULL);
	fleet_wait("auto-1", "idle");
	auto_salvaged("auto-1", "left.txt");
	/* The worker does the next one. */
	auto_task("b.md", "fake: commit c.txt x");
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
}
END_TEST

#define FAIL  "fake: run sleep 0.3; ls ./missing.c\n"
#define FAIL4 FAIL FAIL FAIL FAIL

/* One turn that would go on for long. */
START_TEST(a_long_turn_is_stopped_in_the_middle)
{
	auto_set("oversight.slice_tools", "1");
	auto_task("a.md", "fake: write left.txt x\n%s",
	    FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4);
	auto_up(NULL);
	fleet_wait_prompt("CHANGE THE APPROACH");
	auto_wait_event("oversight", "redirect");
	e2e_has(iterations("t1"), "redirect for stuck");
	/* A person has seen enough. */
	fleet_do("pause", "auto-1", NULL);
	fleet_wait("auto-1", "paused");
	e2e_has(fleet_do("abort", "auto-1", "--reason", "wrong way", NULL)->out,
	    "t1 is aborted");
	auto_wait_finished("aborted", 1);
	auto_wait_shell("grep -q 'wrong way' .llmc/aborted/t1/abort.json && "
			"grep -q missing.c .llmc/aborted/t1/iterations.jsonl");
	auto_wait_shell(
	    "git for-each-ref refs/llmc/salvage/auto-1 | grep -q .");
	auto_salvaged("auto-1", "left.txt");
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* Tests are not judged inside of a turn. */
START_TEST(red_inside_a_turn_and_then_green_is_good_work)
{
	auto_set("oversight.slice_tools", "1");
	auto_set("auto.check_command", e2e_path(CHECK, "no"));
	auto_task("a.md",
	    "fake: commit b.txt x\nfake: run sleep 0.5\n"
	    "fake: run sleep 0.5\nfake: commit good.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	assert_last("testsPassing", "true");
	ck_assert_int_eq(auto_events("oversight", NULL), 0);
	e2e_lacks(iterations("t1"), "fail");
	auto_drain();
	auto_no_complaints();
}
END_TEST

/* Twice the same error, and then the work is done: nobody steps in. */
START_TEST(good_work_is_left_alone)
{
	auto_set("auto.check_command",
	    e2e_path(CHECK, "fake: run ls ./missing.c || true"));
	auto_task("a.md",
	    "fake: run ls ./missing.c\nfake: run ls ./missing.c\n"
	    "fake: commit b.txt x\nfake: commit good.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	assert_last("errors", "missing.c");
	ck_assert_int_eq(auto_events("oversight", NULL), 0);
	auto_drain();
	auto_no_complaints();
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("oversight-run");
	const TTest *const all[] = {
		a_stuck_worker_is_redirected_paused_and_helped,
		work_that_goes_back_and_forth_is_stopped,
		a_task_that_burns_is_warned_of_and_aborted,
		a_long_turn_is_stopped_in_the_middle,
		red_inside_a_turn_and_then_green_is_good_work,
		good_work_is_left_alone
	};

	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
