/* SPDX-License-Identifier: ISC */

/* Goals with nobody at the keyboard: planned, worked on and landed by the real
 * Claude Code in a home that it never saw, on a stub of its API. */
#include <math.h>

#include "asked.h"
#include "goalrun.h"
#include "scenarios.h"

#define NODE(id, rest)                                     \
	"{\"id\":\"" id "\",\"name\":\"Node " id "\"" rest \
	",\"acceptance\":[\"it is there\"]}"
#define PLAN(phases) "{\"planVersion\":1,\"phases\":[" phases "]}"
#define ONE_TASK     PLAN(NODE("P1", ",\"tasks\":[" NODE("T1.1", "") "]"))

/* Two subtasks, one after the other, and a task that waits for a phase. */
#define TEA(deps)                                                       \
	PLAN(NODE("P1",                                                 \
	    ",\"tasks\":[" NODE("T1.1",                                 \
		",\"subtasks\":[" NODE("S1.1.1", "") "," NODE("S1.1.2", \
		    ",\"deps\":[\"S1.1.1\"]") "]") "]") "," NODE("P2",  \
	    ",\"deps\":[\"" deps "\"],\"tasks\":[" NODE("T2.1", "") "]"))

#define UPDATE(status, summary)                                         \
	"fake: say Here it is.\n"                                       \
	"fake: say ```json\n"                                           \
	"fake: say {\"overseerUpdate\": {\"status\": \"" status "\", "  \
	"\"summary\": \"" summary "\", \"evidence\": {\"filesTouched\"" \
	": [\"a.txt\"]}}}\n"                                            \
	"fake: say ```\n"

#define NUDGE     "Nothing was heard about the work on"
#define FOLLOW_UP "Your last message has no update"

static void
begin(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	asked_begin();
	auto_set("defaults.model", "claude-opus-5-5");
	auto_set("planner.model", "claude-opus-5-5");
}

/* What the worker of a node does at its first prompt. */
static void
node_does(const char *goal, const char *node, const char *steps)
{
	fleet_answer(e2e_path("%s of the goal \"%s\"", node, goal), steps);
}

/* --- from a title to commits ---------------------------------------------- */

static const char *
create(const char *title)
{
	return json_string_or(e2e_json(fleet_do("--json", "goal", "create",
					   "--title", title, NULL),
				  0),
	    "goal", "");
}

/* A plan that its schema refuses, one that needs what is not there, and a valid
 * one; the first daemon dies while the planner thinks. */
static const char *
plan_tea(void)
{
	const char *goal = create("Make tea");

	fleet_answer("Goal: Make tea", "fake: hang");
	auto_up(NULL);
	fleet_wait_prompt("Goal: Make tea");
	auto_kill9_daemon();
	fleet_answer("Goal: Make tea",
	    "fake: answer {\"planVersion\":1}\n"
	    "fake: answer " TEA("P7") "\n");
	fleet_answer(
	    "Your last answer cannot be used", "fake: answer " TEA("P1") "\n");
	auto_up(NULL);
	auto_wait_event("plan.generated", goal);
	return goal;
}

static void
is_planned(const char *goal)
{
	struct json_object *record = goal_record(goal);
	struct json_object *inputs = NULL;
	double dollars = 0;

	ck_assert_str_eq(
	    auto_member(record, "planner.modelRef"), "claude-opus-5-5");
	e2e_has(auto_member(record, "validationErrors.0"), "P7");
	ck_assert_str_eq(auto_member(record, "validationErrors.1"), "");
	ck_assert(
	    json_get_object(record, "", "plannerInputs", &inputs, NULL) == 0);
	ck_assert(json_get_double(inputs, "", "costUsd", &dollars, NULL) == 0);
	ck_assert_int_eq(
	    llround(dollars * 1e6), asked_for("Goal: Make tea").cost);
}

static void
is_told(const char *goal, const char *other)
{
	const char *file = e2e_path("%s/export.json", unit_scratch());
	const char *text;

	text = fleet_do("goal", "show", goal, NULL)->out;
	e2e_has(text, "completed, 3 of 3 done (100%)");
	text = fleet_do("why", e2e_path("%s/T2.1", goal), NULL)->out;
	e2e_has(text, "auto-1");
	text = fleet_do("log", "--goal", goal, "--lines", "999", NULL)->out;
	e2e_has(text,
	    "has a plan of 6 nodes, by claude-opus-5-5 for $0.09, corrected "
	    "once");
	e2e_has(text, "is completed");
	e2e_lacks(text, other);
	fleet_do("doctor", "store", "export", file, NULL);
	text = e2e_read(file);
	e2e_has(text, goal);
	e2e_has(text, other);
	e2e_has(text, "The kettle is there.");
}

START_TEST(a_title_becomes_landed_commits)
{
	static const char *const tea[] = { "S1.1.1", "S1.1.2", "T2.1", NULL };
	static const char *const tidy[] = { "T1.1", NULL };
	const char *goal, *other;
	int pid;

	goal_enable();
	auto_set("auto.concurrency", "1");
	node_does("Make tea", "S1.1.1",
	    e2e_path("fake: run %s\nfake: commit a.txt x\n" UPDATE(
			 "done", "The kettle is there."),
		auto_gate("kettle")));
	node_does("Make tea", "S1.1.2", "fake: commit b.txt x");
	node_does("Make tea", "T2.1", "fake: commit c.txt x");
	node_does("Tidy up", "T1.1", "fake: commit d.txt x");
	fleet_answer("Goal: Tidy up", "fake: answer " ONE_TASK);
	goal = plan_tea();
	auto_wait_gate("kettle");
	pid = fleet_agent_pid("auto-1");
	auto_kill9_daemon();
	auto_open_gate("kettle");
	fleet_wait_spooled();
	auto_up(NULL);
	auto_wait_event("goal.completed", goal);
	other = create("Tidy up");
	auto_wait_event("goal.completed", other);
	/* All in one session, each node in a conversation of its own. */
	ck_assert_int_eq(fleet_agent_pid("auto-1"), pid);
	auto_drain();
	goal_is_reached(goal, tea);
	goal_is_reached(other, tidy);
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", "d.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 4);
	ck_assert_int_eq(auto_finished("landed"), 4);
	ck_assert_int_eq(auto_finished(NULL), 4);
	ck_assert_int_eq(fleet_prompts("This is subtask S1.1.1"), 1);
	ck_assert_int_eq(fleet_prompts("The kettle is there."), 1);
	is_planned(goal);
	is_told(goal, other);
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

START_TEST(the_words_of_a_planner_that_fails_are_told)
{
	const char *goal;

	goal_enable();
	auto_tune("plan_tick=100");
	fleet_answer("Goal: Make tea", "fake: fail 400 nonsense");
	goal = create("Make tea");
	fleet_up();
	auto_wait_event("plan.failed", goal);
	e2e_has(fleet_do("goal", "show", goal, NULL)->out, "nonsense");
	/* No conversation is left behind. */
	e2e_lacks(e2e_sh(e2e_path("%s/home", unit_scratch()),
		      "find . -name '*.jsonl'")
		      ->out,
	    ".jsonl");
}
END_TEST

/* --- stalls and questions ------------------------------------------------- */

START_TEST(work_that_stops_is_asked_about_until_it_goes_on)
{
	static const char *const tasks[] = { "T1.1", NULL };
	const char *goal;

	goal_enable_fast();
	auto_set("plan.allow_agents", "[\"main\", \"eve\"]");
	goal = goal_of_one_task("");
	node_does("A goal", "T1.1", "fake: say I looked at it.");
	fleet_answer(NUDGE, "fake: say All is well.");
	fleet_answer(FOLLOW_UP,
	    "fake: commit a.txt x\n" UPDATE("done", "The file is there."));
	fleet_up();
	fleet_add("eve");
	fleet_do("goal", "node", "assign", "T1.1", "eve", NULL);
	auto_wait_event("work.update", "The file is there.");
	fleet_wait("eve", "needs_review");
	ck_assert_int_eq(fleet_prompts(NUDGE), 1);
	ck_assert_int_eq(fleet_prompts(FOLLOW_UP), 1);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "in_progress");
	fleet_do("accept", "eve", NULL);
	auto_wait_event("goal.completed", goal);
	goal_is_reached(goal, tasks);
	auto_no_complaints();
}
END_TEST

START_TEST(a_question_waits_for_a_person)
{
	static const char *const tasks[] = { "T1.1", NULL };
	const char *goal;

	goal_enable_fast();
	goal_set_notices();
	goal = goal_of_one_task("");
	node_does("A goal", "T1.1", "fake: ask Tabs or spaces?");
	auto_up("--until-empty", NULL);
	goal_wait_notice("goal", "Tabs or spaces?");
	auto_wait_state("tasks.0.step", "parked");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	ck_assert_str_eq(goal_node(goal, "T1.1", "blockedReason"),
	    "it waits for an answer; see: llmc asks");
	node_does("A goal", "T1.1", "fake: commit a.txt x");
	fleet_do("goal", "node", "unblock", "T1.1", "--reason", "Tabs.", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(fleet_prompts("Tabs."), 1);
	ck_assert_int_eq(goal_notices(), 0); /* it was told as a question */
	ck_assert_int_eq(fleet_prompts(NUDGE), 0);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

/* Its worker does other work meanwhile; the answer goes on in the conversation
 * in which it asked. */
START_TEST(whoever_asks_is_freed_and_goes_on_with_the_answer)
{
	const char *file;

	goal_enable();
	auto_set("auto.concurrency", "1");
	auto_tune("answer_wait=1000");
	auto_task("a.md", "Paint it.");
	fleet_answer("Paint it.",
	    "fake: tool request_orchestrator {\"message\":\"Which colour?\","
	    "\"timeoutSeconds\":3600}");
	auto_up(NULL);
	auto_wait_state("tasks.0.step", "parked");
	fleet_answer("Tidy it.", "fake: commit b.txt b");
	auto_task("b.md", "Tidy it.");
	auto_wait_finished("landed", 1);
	e2e_has(fleet_do("asks", NULL)->out, "Which colour?");
	fleet_answer("The answer is:", "fake: commit a.txt a");
	fleet_do("answer", "a1", "blue", NULL);
	auto_wait_finished("landed", 2);
	ck_assert_int_eq(
	    fleet_prompts("Which colour?\n\nThe answer is:\n\nblue"), 1);
	file = e2e_read(e2e_path(
	    "%s", auto_member(auto_state(), "workers.auto-1.transcript")));
	ck_assert_ptr_nonnull(strstr(file, "Paint it."));
	ck_assert_ptr_nonnull(strstr(file, "The answer is:"));
	ck_assert_ptr_null(strstr(file, "Tidy it."));
	auto_drain();
	auto_history("b.txt: b", "a.txt: a", NULL);
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

/* --- two goals ------------------------------------------------------------ */

/* The worker of the task of a goal. */
static const char *
worker_of(const char *goal)
{
	struct json_object *tasks =
	    json_object_object_get(auto_state(), "tasks");

	for (size_t i = 0; i < json_object_array_length(tasks); i++) {
		struct json_object *t = json_object_array_get_idx(tasks, i);

		if (strncmp(json_string_or(t, "key", ""), goal, strlen(goal)) ==
		    0)
			return json_string_or(t, "worker", "");
	}
	ck_abort_msg("nobody works on %s", goal);
	return NULL;
}

START_TEST(one_goal_is_paused_and_another_cancelled)
{
	static const char *const tasks[] = { "T1.1", "T1.2", NULL };
	const char *tea, *tidy, *worker;

	goal_enable();
	auto_set("auto.concurrency", "2");
	tea = goal_create("# Tea\n## P\n### A\nAcceptance: x\n\n"
			  "### B\nAcceptance: x\n\nDepends: A\n");
	tidy = goal_create("# Tidy\n## P\n### A\nAcceptance: x\n");
	node_does("Tea", "T1.1",
	    e2e_path("fake: run %s\nfake: commit a.txt x", auto_gate("tea")));
	node_does("Tea", "T1.2", "fake: commit b.txt x");
	node_does("Tidy", "T1.1",
	    e2e_path("fake: write t.txt x\nfake: run %s", auto_gate("tidy")));
	auto_up("--until-empty", NULL);
	auto_wait_gate("tea");
	auto_wait_gate("tidy");
	worker = worker_of(tidy);
	fleet_do("goal", "pause", tea, NULL);
	auto_open_gate("tea");
	auto_wait_finished("landed", 1);
	fleet_do("goal", "cancel", tidy, NULL);
	auto_wait_finished("aborted", 1);
	fleet_do("goal", "tick", "--now", NULL);
	ck_assert_str_eq(goal_node(tea, "T1.1", "status"), "done");
	ck_assert_str_ne(goal_node(tea, "T1.2", "status"), "in_progress");
	ck_assert_str_eq(goal_status(tea), "paused");
	ck_assert_str_eq(goal_status(tidy), "cancelled");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	ck_assert(!auto_has_ended());
	fleet_do("goal", "resume", tea, NULL);
	/* What was cancelled did not succeed. */
	ck_assert_int_eq(auto_wait_exit(), 1);
	ck_assert_ptr_null(auto_failure());
	goal_is_reached(tea, tasks);
	auto_salvaged(worker, "t.txt");
	auto_history("a.txt: x", "b.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_int_eq(asked_days(), asked_for(NULL).cost);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const all[] = {
		a_title_becomes_landed_commits,
		the_words_of_a_planner_that_fails_are_told,
		work_that_stops_is_asked_about_until_it_goes_on,
		a_question_waits_for_a_person,
		whoever_asks_is_freed_and_goes_on_with_the_answer,
		one_goal_is_paused_and_another_cancelled,
	};
	Suite *s;

	scenarios_real();
	s = suite_create("goal-real");
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
