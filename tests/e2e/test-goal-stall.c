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
	auto_set("plan.allow_cross_agent", "true");
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
	fleet_do("work", "assign", "T1.1", "eve", NULL);
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

TEST(a_worker_that_never_reports_ends_with_a_person)
{
	const char *goal = eve_ends_her_turn("fake: say All is well.");
	int messages;

	goal_wait_notice("goal", "T1.1");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	e2e_has(goal_node(goal, "T1.1", "blockedReason"), "did not help");
	messages = fleet_prompts(NUDGE) + fleet_prompts(FOLLOW_UP);
	ck_assert_int_ge(messages, 3);
	ck_assert_int_le(messages, 9);
	e2e_has(fleet_do("goal", "show", goal, NULL)->out, "blocked");
	/* Told once, and not asked any more. */
	fleet_do("tick", "--now", NULL);
	fleet_do("tick", "--now", NULL);
	ck_assert_int_eq(goal_notices(), 1);
	ck_assert_int_eq(
	    fleet_prompts(NUDGE) + fleet_prompts(FOLLOW_UP), messages);
	auto_no_complaints();
}

/* Work that its check refuses. */
static void
fail_checks(int attempts)
{
	auto_ails("fake: commit bad.txt x\nfake: say It is bad.");
	auto_set("auto.check_command", "test ! -e bad.txt");
	auto_set("auto.max_turns", "1");
	auto_set("auto.max_attempts", e2e_path("%d", attempts));
}

TEST(a_node_whose_attempts_all_fail_ends_with_a_person)
{
	const char *goal = goal_of_one_task("");

	fail_checks(2);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_ptr_null(auto_failure());
	/* One task with two attempts, which waits for a person. */
	ck_assert_int_eq(auto_finished(NULL), 0);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 2);
	ck_assert_int_eq(auto_events("task_parked", "t1"), 1);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	ck_assert_str_eq(goal_node(goal, "T1.1", "attempts"), "2");
	ck_assert_int_eq(fleet_prompts(NUDGE), 0);
	fleet_do("work", "unblock", "T1.1", "--reason", "Try tabs.", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_int_ge(fleet_prompts("A person says: Try tabs."), 1);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 4);
	ck_assert_int_eq(auto_finished(NULL), 0);
	fleet_do("work", "done", "T1.1", "--reason", "All is there.", NULL);
	ck_assert_str_eq(goal_status(goal), "completed");
	auto_no_sessions();
}

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

	fleet_do("work", "unblock", e2e_path("%s/T1.1", goal), "--reason",
	    "Tabs.", NULL);
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

TEST(a_resumed_task_lets_its_node_be_worked_on_again)
{
	const char *goal = goal_of_one_task("");
	static const char *const tasks[] = { "T1.1", NULL };

	fail_checks(1);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	auto_ails("fake: commit tabs.txt x");
	fleet_up();
	fleet_do("resume", "t1", "--note", "Use tabs.", NULL);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "in_progress");
	fleet_do("down", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(fleet_prompts("A person says: Use tabs."), 1);
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(auto_finished(NULL), 1);
}

/* The planner is asked in its place, also by the next daemon. */
TEST(a_node_whose_attempts_all_fail_is_planned_anew)
{
	static const char *const tasks[] = { "S1.1.1", NULL };
	const char *goal, *asked = e2e_path("%s/asked", unit_scratch());

	e2e_write(e2e_path("%s/planner.sh", unit_scratch()),
	    e2e_path("cat >'%s.'$(ls '%s' | wc -l); %s\n"
		     "cat <<'E'\n{\"planVersion\":1,\"phases\":[{\"id\":\"P1\","
		     "\"name\":\"A phase\",\"acceptance\":[\"x\"],\"tasks\":"
		     "[{\"id\":\"T1.1\",\"name\":\"A task\",\"acceptance\":"
		     "[\"x\"],\"subtasks\":[{\"id\":\"S1.1.1\",\"name\":"
		     "\"A part\",\"acceptance\":[\"x\"]}]}]}]}\nE\n",
		asked, unit_scratch(), auto_gate("planner")));
	auto_set(
	    "planner.command", e2e_path("sh '%s/planner.sh'", unit_scratch()));
	fail_checks(2);
	goal = goal_create("# A goal\nRecovery: replan\n## A phase\n"
			   "### A task\nAcceptance: it is there\n");
	auto_up("--until-empty", NULL);
	auto_wait_gate("planner");
	e2e_has(e2e_sh(fleet_root(), e2e_path("cat '%s'.*", asked))->out,
	    "The last message of its agent:\nIt is bad.");
	auto_kill9_daemon();
	auto_ails("fake: commit part.txt x");
	auto_open_gate("planner");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(auto_finished("dead-letter"), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert_int_eq(auto_finished(NULL), 2);
	ck_assert_int_eq(goal_notices(), 0);
	e2e_has(fleet_do("--json", "goal", "show", goal, NULL)->out,
	    "replanned: added S1.1.1");
}
