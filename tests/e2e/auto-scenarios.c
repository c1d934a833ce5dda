/* SPDX-License-Identifier: ISC */

#include "auto-scenarios.h"
#include "autorun.h"
#include "scenarios.h"

#define ATTRIBUTION "Co-Authored-By: Claude <noreply@anthropic.com>"

static const char *
in_main(const char *file)
{
	return e2e_path("%s/%s", fleet_root(), file);
}

/* Count changes from one status to another in auto.log. */
static int
moved(const char *from, const char *to)
{
	return auto_events("worker_state_transition",
	    e2e_path("\"from_state\":\"%s\",\"to_state\":\"%s\"", from, to));
}

static void
expect_gone(void)
{
	static const char *const files[] = { "daemon.json", "auto.heartbeat",
		"failure.json" };

	auto_no_sessions();
	for (size_t i = 0; i < nitems(files); i++)
		ck_assert_msg(!e2e_exists(e2e_path(
				  "%s/.llmc/%s", fleet_root(), files[i])),
		    "%s is left", files[i]);
}

START_TEST(a_task_goes_from_its_folder_to_a_commit)
{
	struct json_object *daemon, *heart;

	auto_task("hello.md", "Say hello\n\nfake: commit hello.txt hi\n");
	auto_up(NULL);
	daemon = json_tokener_parse(e2e_read(in_main(".llmc/daemon.json")));
	heart = auto_heartbeat();
	ck_assert_int_gt(json_int_or(daemon, "pid", 0), 1);
	ck_assert_int_gt(json_int_or(daemon, "start_time_unix", 0), 0);
	ck_assert_int_ge(json_int_or(heart, "sequence", 0), 1);
	ck_assert_str_eq(json_string_or(daemon, "instance_id", "a"),
	    json_string_or(heart, "instance_id", "b"));
	json_object_put(daemon);
	json_object_put(heart);
	auto_wait_landed(1);
	auto_wait_finished("landed", 1);
	auto_wait_state("workers.auto-1.status", "idle");
	ck_assert_str_eq(e2e_read(in_main("hello.txt")), "hi\n");
	ck_assert_str_eq(auto_folder("done"), "hello.md\n");
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "status", "--porcelain", NULL), "");
	ck_assert_int_eq(auto_events("task_assigned", "Say hello"), 1);
	ck_assert_int_eq(auto_events("accept_success", "auto-1"), 1);
	ck_assert_int_eq(moved("starting", "working"), 1);
	ck_assert_int_eq(moved("working", "needs_review"), 1);
	ck_assert_int_eq(fleet_prompts("fake: commit hello.txt"), 1);
	e2e_has(fleet_do("status", NULL)->out, "auto-1");
	auto_drain();
	auto_no_complaints();
	expect_gone();
	ck_assert(e2e_exists(fleet_worktree("auto-1")));
}
END_TEST

/* The first two run at the same time. */
START_TEST(two_workers_do_four_tasks_once_each)
{
	auto_task("1.md", "One\nfake: run %s\nfake: commit 1.txt x",
	    auto_gate("one"));
	auto_task("2.md", "Two\nfake: run %s\nfake: commit 2.txt x",
	    auto_gate("two"));
	auto_task("3.md", "Three\nfake: commit 3.txt x");
	auto_task("4.md", "Four\nfake: commit 4.txt x");
	auto_up("--concurrency", "2", "--until-empty", NULL);
	auto_wait_gate("one");
	auto_wait_gate("two");
	ck_assert_int_ne(fleet_agent_pid("auto-1"), fleet_agent_pid("auto-2"));
	ck_assert_int_eq(auto_landed(), 0);
	auto_open_gate("one");
	auto_open_gate("two");
	ck_assert_int_eq(auto_wait_exit(), 0);
	ck_assert_int_eq(auto_landed(), 4);
	auto_history("1.txt: x", "2.txt: x", "3.txt: x", "4.txt: x", NULL);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 4);
	ck_assert_int_eq(auto_finished("landed"), 4);
	for (int i = 1; i <= 4; i++)
		ck_assert_int_eq(
		    fleet_prompts(e2e_path("fake: commit %d.txt", i)), 1);
	ck_assert_str_eq(auto_folder("done"), "1.md\n2.md\n3.md\n4.md\n");
	auto_no_complaints();
	expect_gone();
}
END_TEST

START_TEST(three_commits_become_one_without_attribution)
{
	auto_task("three.md",
	    "Three steps\n"
	    "fake: commits 2\n"
	    "fake: run echo 3 >third.txt && git add third.txt && git commit "
	    "-q -m 'The third' -m '" ATTRIBUTION "'\n");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_eq(auto_landed(), 1);
	ck_assert(e2e_exists(in_main("commit-1.txt")) &&
	    e2e_exists(in_main("commit-2.txt")) &&
	    e2e_exists(in_main("third.txt")));
	e2e_lacks(e2e_git(fleet_root(), "log", "main", NULL), "Co-Authored-By");
	ck_assert_str_eq(e2e_git(fleet_root(), "log", "-1",
			     "--format=%an <%ae> %P", "main", NULL),
	    e2e_path("Test <test@example.invalid> %s",
		e2e_git(fleet_root(), "rev-parse", "main~1", NULL)));
	/* Its worktree is clean and at the new head. */
	ck_assert_str_eq(
	    e2e_git(fleet_worktree("auto-1"), "status", "--porcelain", NULL),
	    "");
	ck_assert_str_eq(
	    e2e_git(fleet_worktree("auto-1"), "rev-parse", "HEAD", NULL),
	    e2e_git(fleet_root(), "rev-parse", "main", NULL));
	auto_no_complaints();
}
END_TEST

START_TEST(a_conflict_is_resolved_and_lands)
{
	e2e_write(in_main("README"), "one\ntwo\nthree\n");
	e2e_git(fleet_root(), "commit", "-qam", "Lines", NULL);
	auto_task("line.md",
	    "Change line two\n"
	    "fake: resolve\n"
	    "\n"
	    "fake: run printf 'one\\nworker\\nthree\\n' >README && "
	    "git commit -qam 'Worker changes line two'\n"
	    "fake: run %s\n",
	    auto_gate("edited"));
	auto_up("--until-empty", NULL);
	auto_wait_gate("edited");
	e2e_write(in_main("README"), "one\nsomebody\nthree\n");
	e2e_git(fleet_root(), "commit", "-qam", "Somebody was faster", NULL);
	auto_open_gate("edited");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history(
	    "Lines", "Somebody was faster", "Worker changes line two", NULL);
	ck_assert_str_eq(e2e_read(in_main("README")), "one\nworker\nthree\n");
	ck_assert_int_eq(auto_events("accept_failure", "conflict"), 1);
	ck_assert_int_eq(moved("accepting", "rebasing"), 1);
	ck_assert_int_eq(moved("rebasing", "needs_review"), 1);
	ck_assert_int_eq(fleet_prompts("git rebase --continue"), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	auto_no_complaints();
}
END_TEST

/* A person answers; the answer is what the tool says. */
START_TEST(a_question_is_answered)
{
	const char *kept = e2e_path("%s/answer", auto_gates());

	auto_set("plan.enabled", "true");
	auto_task("a.md",
	    "Paint it.\nfake: tool request_orchestrator {\"message\":\"Which "
	    "colour?\",\"options\":[\"red\",\"blue\"]}\n"
	    "fake: keep %s\nfake: commit a.txt a",
	    kept);
	auto_up("--until-empty", NULL);
	auto_wait_shell("\"$LLMC\" asks | grep -q 'llmc answer a1'");
	fleet_do("answer", "a1", "2", NULL);
	ck_assert_int_eq(auto_wait_exit(), 0);
	e2e_has(e2e_read(kept), "blue");
	auto_history("a.txt: a", NULL);
	ck_assert_int_eq(fleet_prompts("Paint it."), 1);
	auto_no_complaints();
}
END_TEST

void
auto_scenarios_add(Suite *suite, SFun begin)
{
	const TTest *const ours[] = { a_task_goes_from_its_folder_to_a_commit,
		two_workers_do_four_tasks_once_each,
		three_commits_become_one_without_attribution,
		a_conflict_is_resolved_and_lands };

	for (size_t i = 0; i < nitems(ours); i++)
		scenarios_add_ours(suite, begin, ours[i]);
	scenarios_add_test(suite, begin, a_question_is_answered);
}
