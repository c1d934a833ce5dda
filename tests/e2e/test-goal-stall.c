/* SPDX-License-Identifier: ISC */

/* Work on a goal that makes no progress: the worker is asked for its status,
 * and a person is told when that is of no use. */
#include "goalrun.h"

#define NUDGE     "Nothing was heard about the work on"
#define FOLLOW_UP "Your last message has no update"

/* A worker that a person drives gets the node: auto mode itself judges the
 * turns of auto workers. */
void
unit_before(void)
{
	fleet_begin();
	goal_enable_fast();
	goal_set_notices();
	auto_set("plan.allow_agents", "[\"main\", \"eve\"]");
	auto_ails("");
}

/* Eve's first turn, which changes nothing, ends; from now on, these are the
 * steps of every turn. */
static const char *
eve_ends_her_turn(const char *steps)
{
	const char *goal = goal_of_one_task(e2e_path(
	    "fake: run %s\nfake: say I looked at it.", auto_gate("first")));

	fleet_up();
	fleet_add("eve");
	fleet_do("goal", "node", "assign", "T1.1", "eve", NULL);
	auto_wait_gate("first");
	auto_ails(steps);
	auto_open_gate("first");
	return goal;
}

static const char *
why(const char *goal)
{
	return fleet_do("why", e2e_path("%s/T1.1", goal), NULL)->out;
}

static void
is_accepted(const char *goal)
{
	static const char *const tasks[] = { "T1.1", NULL };

	fleet_do("accept", "eve", NULL);
	fleet_wait("eve", "idle");
	auto_wait_event("goal.completed", goal);
	goal_is_reached(goal, tasks);
}

const int unit_timeout = 120; /* seconds, each */

/* --- stalled, and going on ---------------------------------------------- */

TEST(a_worker_that_stops_is_asked_for_its_status_and_goes_on)
{
	const char *goal = eve_ends_her_turn("fake: commit a.txt x");

	auto_wait_event("assignment.stalled", goal);
	fleet_wait_prompt(NUDGE);
	fleet_wait("eve", "needs_review");
	is_accepted(goal);
	ck_assert_int_eq(fleet_prompts(NUDGE), 1);
	ck_assert_int_eq(fleet_prompts(FOLLOW_UP), 0);
	ck_assert_int_eq(auto_events("assignment.escalated", NULL), 0);
	e2e_has(why(goal), "its status was asked for, eve");
	auto_no_complaints();
}

TEST(a_reply_without_an_update_gets_one_follow_up)
{
	const char *goal = eve_ends_her_turn(e2e_path(
	    "fake: run %s\nfake: say All is well.", auto_gate("second")));

	auto_wait_gate("second");
	ck_assert_int_eq(fleet_prompts(NUDGE), 1);
	auto_ails("fake: commit a.txt x\n"
		  "fake: say Here it is.\n"
		  "fake: say ```json\n"
		  "fake: say {\"overseerUpdate\": {\"status\": \"done\", "
		  "\"summary\": \"The file is there.\", \"evidence\": "
		  "{\"filesTouched\": [\"a.txt\"]}}}\n"
		  "fake: say ```\n");
	auto_open_gate("second");
	fleet_wait_prompt(FOLLOW_UP);
	fleet_wait("eve", "needs_review");
	auto_wait_event("work.update", "The file is there.");
	/* What a worker says is not enough. */
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "in_progress");
	is_accepted(goal);
	ck_assert_int_eq(fleet_prompts(NUDGE), 1);
	ck_assert_int_eq(fleet_prompts(FOLLOW_UP), 1);
	auto_no_complaints();
}

/* --- a person ------------------------------------------------------------ */

/* Its task is parked, and its worker is free. */
static const char *
ask_question(void)
{
	const char *goal = goal_of_one_task("");

	auto_ails("fake: ask Tabs or spaces?");
	auto_up(NULL);
	auto_wait_event("task_parked", "t1");
	auto_wait_event("work.blocked", "it waits for an answer");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	auto_ails("fake: commit tabs.txt x");
	return goal;
}

static void
is_answered(const char *goal)
{
	static const char *const tasks[] = { "T1.1", NULL };

	auto_wait_event("goal.completed", goal);
	auto_drain();
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(fleet_prompts("Tabs."), 1);
	ck_assert_int_eq(fleet_prompts(NUDGE), 0);
	ck_assert_int_eq(auto_finished(NULL), 1);
}

TEST(a_question_goes_to_a_person_at_once)
{
	const char *goal = ask_question();

	e2e_has(fleet_do("asks", NULL)->out, "Tabs or spaces?");
	fleet_do("answer", "a1", "Tabs.", NULL);
	is_answered(goal);
	e2e_lacks(fleet_do("asks", NULL)->out, "Tabs or spaces?");
}

TEST(a_question_is_answered_by_who_unblocks_the_node)
{
	const char *goal = ask_question();

	fleet_do("goal", "node", "unblock", e2e_path("%s/T1.1", goal),
	    "--reason", "Tabs.", NULL);
	is_answered(goal);
}

TEST(why_there_is_no_plan_is_shown)
{
	const char *text, *goal;

	auto_set("planner.command", "echo no luck >&2; exit 3");
	goal = json_string_or(e2e_json(fleet_do("--json", "goal", "create",
					   "--title", "Tea", NULL),
				  0),
	    "goal", "");
	fleet_up();
	goal_wait_notice("goal", "no luck");
	text = fleet_do("goal", "show", goal, NULL)->out;
	e2e_has(text, "no luck");
	e2e_has(text, "ask the planner again: llmc goal plan g1");
}
