/* SPDX-License-Identifier: ISC */

/* A goal is reached by agents of which some have no commit of their own. */
#include "faults.h"
#include "teamrun.h"

void
unit_before(void)
{
	fleet_begin();
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_parent_that_only_delegates_and_a_child_that_only_reports)
{
	const char *goal;

	goal_enable();
	goal = goal_of_one_task(team_spawn(
	    team_child("Make a.\nfake: commit a.txt x\n", "{}"),
	    team_child("Review it.\nfake: tool report_completion "
		       "{\"summary\":\"no leak\",\"status\":\"complete\"}\n",
		"{\"role\":\"reviewer\"}"),
	    team_child("Compare them.\nfake: say The two pages agree.\n",
		"{\"role\":\"reader\"}"),
	    NULL));
	auto_up("--until-empty", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("no_changes"), 3);
	ck_assert_int_eq(auto_finished(NULL), 4);
	ck_assert_str_eq(goal_status(goal), "completed");
	auto_no_sessions();
}

/* The reviewer of llmc.conf(5): it has no tool to make a commit with, so none
 * is asked for. */
TEST(a_reviewer_without_editing_tools_ends_with_its_words)
{
	struct json_object *stats;
	const char *goal;

	goal_enable();
	auto_set("agents.reviewer.tools", "[\"Read\", \"Grep\", \"Glob\"]");
	goal = goal_of_one_task(
	    team_spawn(team_child("Make a.\nfake: commit a.txt x\n", "{}"),
		team_child(
		    "Look at it.\nfake: say I read a.txt and found a leak in "
		    "line 3.\n",
		    "{\"role\":\"reviewer\"}"),
		NULL));
	auto_up("--until-empty", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_finished("no_changes"), 2);
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_str_eq(goal_status(goal), "completed");
	ck_assert_int_ge(fleet_prompts("Your work is a report"), 1);
	stats = e2e_json(fleet_do("--json", "report", "stats", NULL), 0);
	e2e_has(json_object_to_json_string(stats), "\"agent\": \"reviewer\"");
	auto_no_sessions();
}

/* Its first attempt makes another file than its contract names. */
static struct json_object *
flaky(void)
{
	const char *mark = e2e_path("%s/tried", unit_scratch());

	return team_child(
	    e2e_path("Make c.\nfake: run if [ -e '%s' ]; then echo x >c.txt; "
		     "else touch '%s'; echo x >other.txt; fi; git add -A && "
		     "git commit -qm 'c.txt: x'\n",
		mark, mark),
	    "{\"label\":\"flaky\",\"verification\":{\"artifacts\":[{\"path\":"
	    "\"c.txt\"}],\"onFailure\":\"retry_once\"}}");
}

/* One is fine, one asks, one fails once, one only reads; the daemon dies while
 * the question is open. */
TEST(four_children_of_a_parent_and_a_daemon_that_dies)
{
	const char *goal, *id, *report;
	struct json_object *stats;

	goal_enable();
	auto_set("agents.reviewer.tools", "[\"Read\", \"Grep\", \"Glob\"]");
	goal = goal_of_one_task(e2e_path("fake: commit p.txt p\n%s",
	    team_spawn(team_child("Make a.\nfake: commit a.txt x\n", "{}"),
		team_child("Look at it.\nfake: say I found a leak in line "
			   "3.\n",
		    "{\"role\":\"reviewer\"}"),
		team_child("Make b.\nfake: tool request_orchestrator "
			   "{\"message\":\"Which b?\",\"timeoutSeconds\":"
			   "3600}\nfake: commit b.txt x\nfake: tool "
			   "report_completion {\"status\":\"complete\","
			   "\"summary\":\"b as you said\"}\n",
		    "{\"label\":\"asks\"}"),
		flaky(), NULL)));
	auto_up("--until-empty", NULL);
	auto_wait_shell("\"$LLMC\" --json goal tree | grep -q "
			"'\"pendingRequestCount\": *1'");
	auto_kill9_daemon();
	auto_up("--until-empty", NULL);
	id = e2e_sh(fleet_root(),
	    "\"$LLMC\" log | grep -o 'R_[0-9A-Za-z]*' | head -n 1 | "
	    "tr -d '\\n'")
		 ->out;
	fleet_do("answer", id, "the blue one", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", "p.txt: p", NULL);
	ck_assert_int_eq(auto_finished("landed"), 4);
	ck_assert_int_eq(auto_finished("no_changes"), 1);
	ck_assert_int_eq(auto_finished(NULL), 5);
	ck_assert_str_eq(goal_status(goal), "completed");
	/* The parent got one message for each, with its words. */
	for (int i = 2; i <= 5; i++)
		ck_assert_int_eq(
		    fleet_prompts(e2e_path("\"task_id\": \"t%d\"", i)), 1);
	ck_assert_int_eq(
	    fleet_prompts("\"last_words\": \"I found a leak in line 3.\""), 1);
	ck_assert_int_eq(fleet_prompts("\"summary\": \"b as you said\""), 1);
	/* A child is told of one way to report. */
	ck_assert_int_ge(fleet_prompts("call the tool report_completion"), 5);
	stats = e2e_json(fleet_do("--json", "report", "stats", NULL), 0);
	e2e_has(json_object_to_json_string(stats), "\"agent\": \"reviewer\"");
	e2e_has(json_object_to_json_string(stats), "\"agent\": \"coder\"");
	report = fleet_do("report", NULL)->out;
	e2e_has(report, "Nothing needs you");
	auto_no_sessions();
}

/* --- kills ------------------------------------------------------------- */

static struct faults spawn_story = { .sample = 1 };

/* Whichever step it is, each agent is asked for once, works once, and is told
 * of once. */
TEST_ROWS(
    the_daemon_is_killed_while_agents_are_spawned, faults_rows(&spawn_story))
{
	const char *goal;

	if (!faults_begin(&spawn_story, _i))
		return;
	goal_enable();
	goal = goal_of_one_task(e2e_path(
	    "fake: commit p.txt p\nfake: run %s\n%s", auto_gate("spawn"),
	    team_spawn(team_child("Make a.\nfake: commit a.txt x\n", "{}"),
		team_child(
		    "Make b.\nfake: commit b.txt x\n", "{\"label\":\"b\"}"),
		NULL)));
	e2e_env("STEPKILL_WRITES=1");
	auto_up("--until-empty", NULL);
	auto_wait_gate("spawn");
	faults_arm();
	auto_open_gate("spawn");
	faults_run();
	auto_history("a.txt: x", "b.txt: x", "p.txt: p", NULL);
	ck_assert_int_eq(auto_finished("landed"), 3);
	ck_assert_int_eq(auto_finished(NULL), 3);
	ck_assert_int_eq(fleet_prompts("\"task_id\": \"t2\""), 1);
	ck_assert_int_eq(fleet_prompts("\"task_id\": \"t3\""), 1);
	ck_assert_str_eq(goal_status(goal), "completed");
	auto_no_sessions();
}
