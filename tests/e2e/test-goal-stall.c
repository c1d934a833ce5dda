/* SPDX-License-Identifier: ISC */

/* Work on a goal that makes no progress: the worker is asked for its status,
 * and a person is told when that is of no use. */
#include <string.h>

#include "goalrun.h"
#include "json.h"
#include "mem.h"
#include "scenarios.h"

#define NUDGE     "Nothing was heard about the work on"
#define FOLLOW_UP "Your last message has no update"

/* A worker that a person drives gets the node: auto mode itself judges the
 * turns of auto workers. */
static void
begin(void)
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

/* --- stalled, and going on ---------------------------------------------- */

START_TEST(a_worker_that_stops_is_asked_for_its_status_and_goes_on)
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
END_TEST

START_TEST(a_reply_without_an_update_gets_one_follow_up)
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
END_TEST

/* --- a person ------------------------------------------------------------ */

START_TEST(a_worker_that_never_reports_ends_with_a_person)
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
END_TEST

START_TEST(a_node_whose_attempts_all_fail_ends_with_a_person)
{
	const char *goal = goal_of_one_task("fake: say I leave it at that.");

	auto_set("auto.require_commit", "true");
	auto_set("auto.max_turns", "1");
	auto_set("auto.max_attempts", "1");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_ptr_null(auto_failure());
	/* The first attempt, and plan.max_retries more. */
	ck_assert_int_eq(auto_finished("failed"), 3);
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	goal_wait_notice("goal", "T1.1");
	ck_assert_int_eq(goal_notices(), 1);
	ck_assert_int_eq(fleet_prompts(NUDGE), 0);
	e2e_has(why(goal), "attempt 3");
	/* A person may let it go on, but only they may say that nothing has to
	 * be changed. */
	auto_set("auto.require_commit", "false");
	fleet_do("work", "unblock", "T1.1", NULL);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	e2e_has(goal_node(goal, "T1.1", "blockedReason"),
	    e2e_path("it ended without a change; if none is needed, type: "
		     "llmc work done %s/T1.1 --reason WHY (its worker says: I "
		     "leave it at that.",
		goal));
	fleet_do("work", "done", "T1.1", "--reason", "All is there.", NULL);
	ck_assert_str_eq(goal_status(goal), "completed");
	auto_no_sessions();
}
END_TEST

START_TEST(a_question_goes_to_a_person_at_once)
{
	const char *goal = goal_of_one_task("fake: ask Tabs or spaces?");
	static const char *const tasks[] = { "T1.1", NULL };

	auto_up("--until-empty", NULL);
	goal_wait_notice("goal", "Tabs or spaces?");
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	ck_assert_str_eq(
	    goal_node(goal, "T1.1", "blockedReason"), "Tabs or spaces?");
	ck_assert(!auto_has_ended());
	ck_assert_int_eq(fleet_prompts("Tabs or spaces?"), 1);
	fleet_do("message", "auto-1", "Tabs.\nfake: commit tabs.txt x", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(fleet_prompts(NUDGE), 0);
	ck_assert_int_eq(goal_notices(), 1);
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

START_TEST(a_question_is_answered_by_who_unblocks_the_node)
{
	const char *goal = goal_of_one_task("");
	static const char *const tasks[] = { "T1.1", NULL };

	auto_ails("fake: ask Tabs or spaces?");
	auto_up("--until-empty", NULL);
	goal_wait_notice(
	    "goal", e2e_path("llmc work unblock %s/T1.1 --reason", goal));
	auto_ails("fake: commit tabs.txt x");
	fleet_do("work", "unblock", e2e_path("%s/T1.1", goal), "--reason",
	    "Tabs.", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	goal_is_reached(goal, tasks);
	ck_assert_int_eq(fleet_prompts("settled: Tabs."), 1);
	ck_assert_int_eq(goal_notices(), 1);
	auto_no_complaints();
}
END_TEST

START_TEST(why_there_is_no_plan_is_shown)
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
	e2e_has(text, "ask the planner again: llmc goal plan goal_");
}
END_TEST

/* By a channel, and back through its id. */
START_TEST(an_answer_to_an_escalation_reaches_the_session_that_asked)
{
	const char *goal = goal_of_one_task("fake: ask Tabs or spaces?");
	const char *config = e2e_path("%s/.llmc/config.toml", fleet_root());
	const char *told = e2e_path("%s/event", unit_scratch());
	static const char *const tasks[] = { "T1.1", NULL };
	struct json_object *event;

	e2e_write(config,
	    e2e_path("%s\n[people.channels.x]\ntype = \"command\"\n"
		     "command = \"cat >'%s.part'; mv '%s.part' '%s'\"\n",
		e2e_read(config), told, told, told));
	auto_up("--until-empty", NULL);
	auto_wait_shell(e2e_path("test -s '%s'", told));
	event = e2e_load(told);
	e2e_has(json_object_to_json_string(event), "Tabs or spaces?");
	e2e_has(json_object_to_json_string(event), goal);
	fleet_do("escalations", "answer", json_string_or(event, "id", ""),
	    "Tabs.\nfake: commit tabs.txt x", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	goal_is_reached(goal, tasks);
	e2e_has(fleet_do("escalations", "list", "--all", NULL)->out, "x sent");
}
END_TEST

/* The id of the message about the node. */
static const char *
message_about(const char *node)
{
	struct json_object *list = e2e_json(
	    fleet_do("--json", "escalations", "list", "--all", NULL), 0);

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);

		if (strcmp(json_string_or(one, "node", ""), node) == 0)
			return json_string_or(one, "id", "");
	}
	ck_abort_msg("nobody was told of %s", node);
	return NULL;
}

/* Without a daemon, too: the plan has the answer. */
START_TEST(an_answer_lets_a_node_without_a_session_be_worked_on_again)
{
	const char *goal = goal_of_one_task("fake: say I leave it at that.");
	const char *id;

	auto_set("auto.require_commit", "true");
	auto_set("auto.max_turns", "1");
	auto_set("auto.max_attempts", "1");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 1);
	ck_assert_str_eq(goal_node(goal, "T1.1", "status"), "blocked");
	id = message_about("T1.1");
	e2e_has(fleet_do("escalations", "answer", id, "Use tabs.", NULL)->out,
	    "T1.1 can be worked on again.");
	ck_assert_str_ne(goal_node(goal, "T1.1", "status"), "blocked");
	fleet_fails("answered already: Use tabs.", "escalations", "answer", id,
	    "Spaces.", NULL);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const all[] = {
		a_worker_that_stops_is_asked_for_its_status_and_goes_on,
		a_reply_without_an_update_gets_one_follow_up,
		a_worker_that_never_reports_ends_with_a_person,
		a_node_whose_attempts_all_fail_ends_with_a_person,
		a_question_goes_to_a_person_at_once,
		a_question_is_answered_by_who_unblocks_the_node,
		why_there_is_no_plan_is_shown,
		an_answer_to_an_escalation_reaches_the_session_that_asked,
		an_answer_lets_a_node_without_a_session_be_worked_on_again,
	};
	Suite *suite = suite_create("goal-stall");

	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(suite, begin, all[i]);
	return suite;
}
