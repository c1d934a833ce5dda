/* SPDX-License-Identifier: ISC */

/* Reports of agents, in the record of the run, in its file and in prompts. */
#include "team-world.h"

#include <math.h>

#include "book.h"
#include "outcome.h"

static struct agent *
begin(void)
{
	team_world_begin(NULL);
	auto_world_task("a.md", "Add the numbers\n");
	auto_world_live();
	return auto_world_turn(1);
}

/* What the last event of progress says; valid until the next call. */
static const char *
said(void)
{
	static char text[4096];
	cleanup_free char *data = NULL;

	ck_assert_int_eq(book_get_text(auto_world.core->book,
			     "SELECT e.data FROM events AS e"
			     " WHERE e.type = 'progress'"
			     " ORDER BY e.seq DESC LIMIT 1",
			     NULL, 0, &data, NULL),
	    0);
	strlcpy(text, data, sizeof text);
	return text;
}

TEST(progress_is_in_the_record_and_all_of_it_in_an_event)
{
	struct agent *agent = begin();
	const struct task_attempt *run;

	ck_assert_ptr_null(team_world_tool("auto-1", "report_progress",
	    "{\"phase\": \"tests\", \"percentComplete\": 40, \"metrics\": "
	    "{\"done\": 3}}"));
	floor_world_settle();
	run = &auto_task(agent)->attempt;
	ck_assert_str_eq(json_string_or(run->progress, "phase", ""), "tests");
	ck_assert_int_eq(run->progress_count, 1);
	ck_assert(auto_known(auto_world.mode, auto_task(agent)).percent == 40);
	floor_has(said(), "\"metrics\":{\"done\":3}");
	floor_has(said(), "\"runId\":\"t1-1\"");
}

TEST(progress_is_answered_whatever_the_disk_does)
{
	struct floor_call *call;

	begin();
	floor_world_settle();
	floor_world.store_held = true;
	call = team_world_call(
	    "auto-1", "report_progress", "{\"phase\": \"tests\"}");
	ck_assert_ptr_null(floor_world_answer(call));
	ck_assert(!persist_is_idle(auto_world.core));
	floor_world_store_answer();
	floor_world_settle();
	floor_has(said(), "\"phase\":\"tests\"");
}

TEST(too_many_reports_are_refused_and_the_same_call_is_not)
{
	struct agent *agent = begin();
	struct task_attempt *run;
	struct floor_call *call;

	ck_assert_ptr_null(team_world_tool("auto-1", "report_progress",
	    "{\"phase\": \"one\", \"call\": \"s/1\"}"));
	/* Its answer was lost, and the daemon died meanwhile. */
	floor_world_settle();
	team_world_die();
	ck_assert_ptr_null(team_world_tool("auto-1", "report_progress",
	    "{\"phase\": \"one\", \"call\": \"s/1\"}"));
	call = team_world_call("auto-1", "report_progress",
	    "{\"phase\": \"two\", \"call\": \"s/2\"}");
	floor_has(floor_world_answer(call), "30 seconds");
	ck_assert_int_eq(floor_call_code(call), API_E_RATE);
	agent = auto_world_agent();
	run = &auto_task(agent)->attempt;
	ck_assert_int_eq(run->progress_count, 1);
	ck_assert_str_eq(json_string_or(run->progress, "phase", ""), "one");
	run->progress_count = 100;
	run->progress_ms = 1000;
	floor_has(team_world_tool(
		      "auto-1", "report_progress", "{\"phase\": \"two\"}"),
	    "100 reports");
}

TEST(wrong_reports_are_refused_with_what_is_right)
{
	begin();
	floor_has(team_world_tool("auto-1", "report_progress",
		      "{\"phase\": \"x\", \"percentComplete\": 101}"),
	    "from 0 to 100");
	floor_has(team_world_tool("auto-1", "report_completion",
		      "{\"status\": \"partial\"}"),
	    "summary required");
	floor_has(team_world_tool("auto-1", "report_completion",
		      "{\"summary\": \"x\", \"status\": \"done\"}"),
	    "complete, partial or failed");
}

static bool
is_there(void *arg)
{
	(void)arg;
	return auto_world_agent() != NULL;
}

TEST(a_worker_without_a_task_has_nothing_to_report_on)
{
	team_world_begin(NULL);
	auto_world_live();
	floor_world_wait(is_there, &auto_world);
	floor_world_settle();
	floor_has(
	    team_world_tool("auto-1", "report_progress", "{\"phase\": \"x\"}"),
	    "you have no task");
	floor_has(team_world_tool(
		      "auto-1", "report_completion", "{\"summary\": \"x\"}"),
	    "you have no task");
}

TEST(a_report_by_the_tool_wins_over_the_last_message)
{
	struct agent *agent = begin();
	const struct task_attempt *run;

	ck_assert_ptr_null(team_world_tool("auto-1", "report_completion",
	    "{\"summary\": \"By tool\", \"status\": \" PARTIAL \", "
	    "\"warnings\": \"one\"}"));
	floor_world_wt("auto-1", "echo 1 >dirt.txt");
	fake_session_turn_ends(
	    agent->session, "status: complete\nsummary: By text");
	agent = auto_world_turn(2);
	run = &auto_task(agent)->attempt;
	ck_assert_str_eq(json_string_or(run->report, "summary", ""), "By tool");
	ck_assert_str_eq(json_string_or(run->report, "status", ""), "partial");
}

TEST(without_the_tool_the_last_message_is_the_report)
{
	struct agent *agent = begin();
	const struct task_attempt *run;

	floor_world_wt("auto-1", "echo 1 >dirt.txt");
	fake_session_turn_ends(agent->session, "Summary: first");
	agent = auto_world_turn(2);
	fake_session_turn_ends(
	    agent->session, "status: failed\nsummary: second");
	agent = auto_world_turn(3);
	run = &auto_task(agent)->attempt;
	ck_assert_str_eq(json_string_or(run->report, "summary", ""), "second");
	ck_assert(!run->report_by_tool);
}

static const char *
last_tool(void)
{
	const char *tool = auto_task(auto_world_agent())->attempt.last_tool;

	return tool != NULL ? tool : "";
}

/* The record of the last daemon's session may say that it is ready. */
static bool
is_up(void *arg)
{
	const struct agent *agent = arg;

	return session_phase(agent->session) == SESSION_UP &&
	    agent->worker->session.ready;
}

TEST(the_last_tool_is_known_from_the_hooks)
{
	struct agent *agent = begin();

	ck_assert_str_eq(last_tool(), "");
	team_world_hook(agent, "PreToolUse", "{\"tool_name\": \"Bash\"}");
	ck_assert_str_eq(last_tool(), "Bash");
	team_world_hook(agent, "PostToolUse",
	    "{\"tool_name\": \"Read\", \"agent_id\": \"a1\"}");
	ck_assert_str_eq(last_tool(), "Bash");
	team_world_hook(agent, "PreToolUse",
	    "{\"tool_name\": \"mcp__llmc__report_completion\"}");
	/* A hook says only that it is about to report. */
	ck_assert_str_eq(last_tool(), "Bash");
	ck_assert_ptr_null(team_world_tool(
	    "auto-1", "report_completion", "{\"summary\": \"x\"}"));
	ck_assert_str_eq(last_tool(), "report_completion");
	team_world_die();
	ck_assert_str_eq(last_tool(), "report_completion");
	/* Saved at once: the next daemon must not take the report for the
	 * last. */
	agent = auto_world_agent();
	floor_world_wait(is_up, agent); /* it is made again */
	team_world_hook(agent, "PostToolUse", "{\"tool_name\": \"Edit\"}");
	floor_world_settle();
	team_world_die();
	ck_assert_str_eq(last_tool(), "Edit");
}

TEST(an_attempt_begins_without_the_reports_of_the_last_one)
{
	struct agent *agent = begin();
	struct task *task = auto_task(agent);

	ck_assert_ptr_null(team_world_tool(
	    "auto-1", "report_progress", "{\"phase\": \"one\"}"));
	ck_assert_ptr_null(team_world_tool(
	    "auto-1", "report_completion", "{\"summary\": \"x\"}"));
	task->launch.report_only = true;
	task->launch.progress_reporting = true;
	outcome_worker_lost(auto_world.mode, agent, "no reason");
	auto_clear_worker(agent);
	agent = auto_world_turn(2);
	ck_assert_ptr_eq(auto_task(agent), task);
	ck_assert_ptr_null(task->attempt.report);
	ck_assert_ptr_null(task->attempt.last_tool);
	ck_assert_ptr_null(task->attempt.progress);
	ck_assert(isnan(auto_known(auto_world.mode, task).percent));
	/* And its prompt says what is asked for. */
	floor_has(fake_session_prompt(agent->session), "report_completion");
	floor_has(fake_session_prompt(agent->session), "report_progress");
	ck_assert_ptr_null(team_world_tool(
	    "auto-1", "report_progress", "{\"phase\": \"two\"}"));
	floor_world_settle();
	floor_has(said(), "two");
}

/* A task that only asks something needs no change: it ends with the answer, as
 * it was reported, or as it was given first. */
TEST_ROWS(a_question_ends_with_its_answer, 2)
{
	struct agent *agent = begin();

	if (_i == 0) {
		ck_assert_ptr_null(
		    team_world_tool("auto-1", "report_completion",
			"{\"summary\": \"Not tested: foo(), bar().\", "
			"\"result\": \"report\"}"));
		fake_session_turn_ends(agent->session, "I have reported.");
	} else {
		fake_session_turn_ends(
		    agent->session, "Not tested: foo(), bar().");
		auto_world_turn(2);
		floor_has(fake_session_prompt(agent->session),
		    "\"result\": \"report\"");
		fake_session_turn_ends(agent->session,
		    "No change is needed because you wanted an answer.");
	}
	auto_world_all_filed("t1 no_changes; ");
	floor_has(
	    auto_world_record("t1"), "\"reason\":\"Not tested: foo(), bar().");
}
