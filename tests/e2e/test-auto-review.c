/* SPDX-License-Identifier: ISC */

/* auto.review: finished work is reviewed by a second agent before it lands. */
#include "autorun.h"
#include "faults.h"
#include "filed.h"

#define APPROVE                                               \
	"fake: tool report_completion {\"summary\":\"good\"," \
	"\"verdict\":\"approve\"}"
#define FINDS                                                         \
	"fake: tool report_completion {\"summary\":\"bad\","          \
	"\"verdict\":\"findings\",\"findings\":[{\"file\":\"a.txt\"," \
	"\"line\":1,\"text\":\"off by one\"}]}"
/* One commit, another one each time. */
#define WORK                                                                 \
	"fake: run date +%N >>a.txt; git add a.txt; git log -1 --format=%s " \
	"| grep -qx Work && git commit -q --amend -m Work || git commit -q " \
	"-m Work"

void
unit_before(void)
{
	fleet_begin();
	auto_ails("");
}

static const char *
verdict_file(void)
{
	return e2e_path("%s/verdict", unit_scratch());
}

/* What reviewers do from now on. */
static void
verdict(const char *steps)
{
	e2e_write(e2e_path("%s.new", verdict_file()), steps);
	ck_assert_int_eq(
	    rename(e2e_path("%s.new", verdict_file()), verdict_file()), 0);
}

/* The author is a fake Claude Code, the reviewer a fake Codex. */
static void
begin(const char *steps)
{
	const char *wrapper = e2e_path("%s/reviewer", unit_scratch());

	e2e_script(wrapper,
	    e2e_path("#!/bin/sh\nFAKE_CLAUDE_MORE='%s' exec '%s' \"$@\"\n",
		verdict_file(),
		e2e_setting(fleet_root(), "defaults.agent_command")));
	auto_set("defaults.codex_command", wrapper);
	auto_set("auto.review", "codex");
	verdict(steps);
	auto_ails(WORK);
	auto_task("a.md", "Add a.txt");
}

static int
reviews(const char *result)
{
	return auto_events("review", e2e_path("\"result\":\"%s\"", result));
}

TEST(what_is_approved_lands)
{
	struct json_object *record;

	begin(APPROVE);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	auto_history("Work", NULL);
	ck_assert_int_eq(reviews("approved"), 1);
	ck_assert_int_eq(fleet_prompts("Review the work of another agent"), 1);
	ck_assert_int_eq(fleet_prompts("| Add a.txt"), 1);
	/* One task, and no other one is in the books. */
	ck_assert_int_eq(auto_finished(NULL), 1);
	record = filed_last(fleet_root());
	ck_assert_str_eq(auto_member(record, "outcome"), "landed");
	ck_assert_str_eq(auto_member(record, "run.review"), "approved");
	json_object_put(record);
	auto_no_sessions();
}

TEST(findings_go_back_twice_and_then_a_person_decides)
{
	struct json_object *asks;

	begin(FINDS);
	auto_up(NULL);
	auto_wait_events("review", "\"result\":\"findings\"", 3);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'llmc accept t1'");
	ck_assert_int_eq(
	    fleet_prompts("Your work was reviewed and is not accepted"), 2);
	ck_assert_int_eq(fleet_prompts("- a.txt:1: off by one"), 2);
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert_str_eq(fleet_status("auto-1"), "needs_review");
	asks = e2e_json(fleet_do("--json", "asks", NULL), 0);
	e2e_has(json_object_to_json_string(asks), "off by one");
	/* What a person accepts lands as it is. */
	fleet_do("review", "auto-1", NULL);
	fleet_do("accept", "auto-1", NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("Work", NULL);
	ck_assert_int_eq(auto_events("review", NULL), 3);
}

TEST(findings_that_are_fixed_land)
{
	begin(FINDS);
	auto_up(NULL);
	auto_wait_event("review", "\"result\":\"findings\"");
	verdict(APPROVE);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("Work", NULL);
	ck_assert_int_eq(reviews("approved"), 1);
}

/* What it gives back counts for nothing, and its work does not land. */
static const struct {
	const char *steps, *words;
} failing[] = {
	{ "fake: say I like it.", "no verdict" },
	{ "fake: crash", "" },
	{ "fake: fail 400 too odd", "too odd" },
};

TEST_ROWS(a_reviewer_without_a_verdict_is_replaced_once, 3)
{
	begin(failing[_i].steps);
	auto_up(NULL);
	auto_wait_events("review", "\"result\":\"failed\"", 2);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'llmc accept t1'");
	e2e_has(fleet_do("asks", NULL)->out, failing[_i].words);
	ck_assert_int_eq(auto_landed(), 0);
	/* A person sends it back, and sees it again. */
	fleet_do("review", "auto-1", NULL);
	fleet_do("reject", "Try again.", "--worker", "auto-1", NULL);
	fleet_wait("auto-1", "needs_review");
	ck_assert_int_eq(auto_landed(), 0);
	auto_drain();
}

TEST(what_a_reviewer_changes_is_put_aside)
{
	begin(
	    "fake: run git commit -q --allow-empty -m Mine; echo x >mine.txt\n" APPROVE);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_no_complaints();
	auto_history("Work", NULL);
	ck_assert_int_eq(auto_events("review", "it changed files"), 1);
	e2e_lacks(e2e_git(fleet_root(), "ls-files", NULL), "mine.txt");
	auto_salvaged("team-1", "mine.txt");
}

/* A reviewer that cannot be started is one without a verdict. */
TEST(a_reviewer_that_is_not_there_is_asked_about)
{
	begin(APPROVE);
	auto_set("defaults.codex_command", "/nonexistent/codex");
	auto_up(NULL);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'llmc accept t1'");
	ck_assert_int_eq(auto_landed(), 0);
	auto_drain();
}

/* In the middle of a review, and again when it has ended. */
TEST(a_review_survives_the_daemon)
{
	begin(e2e_path("fake: run %s\n" APPROVE, auto_gate("review")));
	auto_up(NULL);
	auto_wait_gate("review");
	auto_kill9_daemon();
	auto_open_gate("review");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
	auto_no_complaints();
	auto_history("Work", NULL);
	ck_assert_int_eq(auto_events("review", NULL), 1);
	ck_assert_int_eq(fleet_prompts("Review the work of another agent"), 1);
}

static struct faults review_story = { .sample = 2 };

/* Its steps, from the first prompt to the landing: each time it lands once,
 * reviewed once. */
TEST_ROWS(a_kill_at_any_step_changes_nothing, faults_rows(&review_story))
{
	if (!faults_begin(&review_story, _i))
		return;
	begin(APPROVE);
	auto_up(NULL);
	faults_arm();
	faults_wait("\"$LLMC\" --json task list --all | grep -q "
		    "'\"outcome\": *\"landed\"'",
	    NULL);
	faults_end(NULL);
	auto_drain();
	auto_history("Work", NULL);
	ck_assert_int_eq(reviews("approved"), 1);
	ck_assert_int_eq(auto_finished(NULL), 1);
}

/* The tools of its own kind can be taken from it. */
TEST(a_reviewer_of_the_same_kind_only_reads)
{
	begin("fake: run echo x >mine.txt\n" APPROVE);
	auto_set("workers.team-1.agent_command",
	    e2e_setting(fleet_root(), "defaults.codex_command"));
	auto_set("auto.review", "claude");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("Work", NULL);
	ck_assert_int_eq(reviews("approved"), 1);
	ck_assert_int_eq(auto_events("review", "it changed files"), 0);
	ck_assert_int_ge(auto_events("guard.denied", "Bash"), 1);
}

/* In a sandbox it could not change anything. */
TEST_ROWS(the_worktree_of_a_reviewer_is_read_only, 2)
{
	e2e_need_boxes("");
	fleet_box(_i == 0 ? "worktree" : "strict");
	begin(
	    "fake: run echo x >mine.txt || echo x >\"$FLEET/refused\"\n" APPROVE);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("Work", NULL);
	ck_assert_int_eq(reviews("approved"), 1);
	ck_assert_int_eq(auto_events("review", "it changed files"), 0);
	ck_assert(e2e_exists(e2e_path("%s/refused", unit_scratch())));
}

TEST(an_agent_that_is_none_is_refused)
{
	fleet_fails("there is no agent \"smith\"", "config", "set",
	    "auto.review", "smith", NULL);
	fleet_do("config", "set", "auto.review", "claude-headless", NULL);
	/* What it cannot do, with the settings as they are. */
	auto_set("defaults.permission_mode", "default");
	fleet_fails("codex has no permission_mode \"default\"", "config", "set",
	    "auto.review", "codex", NULL);
}
