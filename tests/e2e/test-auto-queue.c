/* SPDX-License-Identifier: ISC */

/* The landing queue: whatever workers finish at the same time, the branch is
 * never at a commit that fails check_command. */
#include "autorun.h"
#include "queue-scenarios.h"
#include "scenarios.h"

static const char *
in_main(const char *file)
{
	return e2e_path("%s/%s", fleet_root(), file);
}

static void
begin(void)
{
	fleet_begin();
}

/* A check that passes, and records where it ran and on what. */
static void
recording_check(const char *more)
{
	queue_check(e2e_path("echo \"slot-${LLMC_CHECK_SLOT:-none} "
			     "$(git rev-parse 'HEAD^{tree}')\" >>'%s'\n%s",
	    unit_path("checks"), more));
}

static int
recorded(const char *words)
{
	return (int)strtol(e2e_sh("/",
			       e2e_path("grep -c -e '%s' '%s' || true", words,
				   unit_path("checks")))
			       ->out,
	    NULL, 10);
}

/* --- slots ------------------------------------------------------------ */

/* One needs no other check than its own; the others are on top of it, and the
 * last of them must not take the branch past a commit that is not judged. */
START_TEST(each_commit_is_checked_in_two_slots_at_once)
{
	e2e_skip_sandboxed("a slot checks the work of workers in boxes too");
	recording_check(e2e_path("[ -n \"${LLMC_CHECK_SLOT-}\" ] || exit 0\n"
				 "case $(ls ?.txt | wc -l) in\n2) %s ;;\n"
				 "3) %s ;;\nesac",
	    auto_gate("two"), auto_gate("three")));
	auto_set("auto.check_slots", "2");
	auto_set("auto.land_mode", "each");
	auto_set("auto.concurrency", "3");
	for (const char *name = "abc"; *name != '\0'; name++)
		auto_task(e2e_path("%c.md", *name),
		    "%c\nfake: run %s\nfake: commit %c.txt x", *name,
		    auto_gate("work"), *name);
	auto_up("--until-empty", NULL);
	auto_wait_events("task_assigned", NULL, 3);
	auto_open_gate("work");
	auto_wait_gate("two");
	auto_wait_gate("three");
	auto_open_gate("three");
	auto_wait_event("check", "passed");
	fleet_add("adam"); /* enough time for a landing */
	ck_assert_int_eq(auto_landed(), 1);
	auto_open_gate("two");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", "b.txt: x", "c.txt: x", NULL);
	ck_assert_int_eq(recorded("slot-1"), 1);
	ck_assert_int_eq(recorded("slot-2"), 1);
	ck_assert_str_eq(
	    e2e_sh(fleet_root(),
		e2e_path("git log --format=%%T -3 main | while read -r tree; "
			 "do grep -q \"$tree\" '%s' || echo \"$tree\"; done",
		    unit_path("checks")))
		->out,
	    "");
	queue_never_red();
	auto_no_complaints();
}
END_TEST

/* --- what must not land ------------------------------------------------ */

static const char *const forbidden[] = {
	".llmc/tasks/todo/evil.md",
	".worktrees/auto-2/evil.md",
};

START_TEST(paths_of_ours_do_not_land_and_the_worker_is_told)
{
	const char *path = forbidden[_i], *told = unit_path("told");

	auto_ails(e2e_path("fake: run if [ -e %s ]; then git rm -qf %s; "
			   "git commit -q --amend -m Good; "
			   "else touch %s; fi",
	    told, path, told));
	auto_task("a.md",
	    "A\nfake: run mkdir -p $(dirname %s); echo 'fake: commit evil.txt "
	    "x' >%s; echo x >a.txt; git add -f %s a.txt; git commit -qm Evil",
	    path, path, path);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("Good", NULL);
	ck_assert_int_eq(
	    fleet_prompts(e2e_path("must not land on main: %s", path)), 1);
	ck_assert_int_eq(auto_events("sent_back", "must not land"), 1);
	ck_assert_int_eq(auto_finished(NULL), 1);
	ck_assert_int_eq(auto_finished("landed"), 1);
	ck_assert(!e2e_exists(in_main(path)));
	ck_assert(!e2e_exists(in_main("evil.txt")));
}
END_TEST

/* The branch has a judge; the worker brings one that passes everything. */
static void
task_with_a_judge(const char *word)
{
	e2e_write(in_main("judge.sh"),
	    e2e_path(
		"echo judged >>'%s'; ! grep bad *.txt\n", unit_path("judged")));
	e2e_git(fleet_root(), "add", "judge.sh", NULL);
	e2e_git(fleet_root(), "commit", "-qm", "Judge", NULL);
	auto_set("auto.protected_paths", "[\"judge.sh\"]");
	auto_set("auto.check_command", "sh ./judge.sh");
	auto_task("a.md",
	    "A\nfake: run echo exit 0 >judge.sh; echo %s >a.txt; git add .; "
	    "git commit -qm Mine",
	    word);
	auto_up(NULL);
	auto_wait_event("accept_failure", "changes protected paths: judge.sh");
	auto_wait_state("workers.auto-1.status", "needs_review");
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert(!e2e_exists(unit_path("judged")));
}

START_TEST(protected_paths_wait_for_a_person)
{
	task_with_a_judge("good");
	fleet_do("accept", "auto-1", NULL);
	auto_wait_finished("landed", 1);
	auto_history("Mine", NULL);
	ck_assert_str_eq(e2e_read(unit_path("judged")), "judged\n");
	ck_assert_str_eq(e2e_read(in_main("judge.sh")), "exit 0\n");
	auto_drain();
}
END_TEST

START_TEST(a_worker_cannot_weaken_its_own_judge)
{
	task_with_a_judge("bad");
	auto_set("auto.max_turns", "1");
	auto_set("auto.max_attempts", "1");
	fleet_fails("bad", "accept", "auto-1", NULL);
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert_ptr_nonnull(strstr(e2e_read(unit_path("judged")), "judged"));
	auto_drain();
}
END_TEST

/* --- what a check leaves ------------------------------------------------ */

/* Whatever a check does to its slot, the next one judges what would land. */
START_TEST(a_check_cannot_poison_the_slot)
{
	ck_assert_int_eq(e2e_sh(fleet_root(),
			     "echo green >verdict; echo '*.o' >.gitignore; "
			     "git add .; git commit -qm start")
			     ->status,
	    0);
	recording_check("[ -n \"${LLMC_CHECK_SLOT-}\" ] || exit 75\n"
			"[ ! -e left.o ] || exit 0\n"
			"r=0; grep -q green verdict || r=1\n"
			"echo green >verdict; >left.o\n"
			"git update-index --skip-worktree verdict\n"
			"exit $r");
	auto_set("auto.concurrency", "1");
	auto_set("auto.max_attempts", "1");
	auto_set("auto.max_turns", "1");
	auto_task("1.md", "A\nfake: commit a.txt x");
	auto_task("2.md", "B\nfake: commit verdict red");
	auto_launch("--until-empty", NULL);
	auto_wait_exit();
	ck_assert_int_ge(recorded("slot-1"), 2);
	ck_assert_str_eq(
	    e2e_git(fleet_root(), "show", "main:verdict", NULL), "green\n");
	e2e_has(e2e_git(fleet_root(), "ls-tree", "--name-only", "main", NULL),
	    "a.txt");
}
END_TEST

/* A check that passes because it changed its judge has not passed. */
START_TEST(a_check_that_changes_its_judge_does_not_count)
{
	ck_assert_int_eq(e2e_sh(fleet_root(),
			     "echo strict >judge; git add .; "
			     "git commit -qm start")
			     ->status,
	    0);
	recording_check("[ -n \"${LLMC_CHECK_SLOT-}\" ] || exit 75\n"
			"[ ! -e evil.txt ] || echo lenient >judge");
	auto_set("auto.protected_paths", "[\"judge\"]");
	auto_set("auto.concurrency", "1");
	auto_set("auto.max_attempts", "1");
	auto_set("auto.max_turns", "1");
	auto_task("1.md", "A\nfake: commit evil.txt x");
	auto_task("2.md", "B\nfake: commit b.txt x");
	auto_launch("--until-empty", NULL);
	auto_wait_exit();
	e2e_lacks(e2e_git(fleet_root(), "ls-tree", "--name-only", "main", NULL),
	    "evil.txt");
	e2e_has(e2e_git(fleet_root(), "ls-tree", "--name-only", "main", NULL),
	    "b.txt");
}
END_TEST

/* What the setup of a slot made is there for each check, and made once. */
START_TEST(a_slot_is_set_up_once)
{
	recording_check("[ -n \"${LLMC_CHECK_SLOT-}\" ] || exit 75\n"
			"grep -q made deps/lib && [ ! -e deps/extra ] && "
			"[ ! -e free ] && >deps/extra && >free");
	auto_set("repo.setup_command",
	    e2e_path("mkdir -p deps && echo made >deps/lib && pwd >>'%s'",
		unit_path("setups")));
	auto_set("auto.concurrency", "1");
	for (const char *name = "abc"; *name != '\0'; name++)
		auto_task(e2e_path("%c.md", *name), "%c\nfake: commit %c.txt x",
		    *name, *name);
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	ck_assert_int_ge(recorded("slot-1"), 3);
	e2e_expect(e2e_sh("/",
		       e2e_path("[ $(grep -c /checks/1 '%s') = 1 ]",
			   unit_path("setups"))),
	    0, NULL);
}
END_TEST

/* --- nobody's fault ---------------------------------------------------- */

/* Pretend that the wait for another try is over. */
static void
let_time_pass(void)
{
	e2e_expect(
	    e2e_sh(fleet_root(), "\"$STATE\" | grep -q '\"retry_ms\": *[1-9]'"),
	    0, NULL);
	e2e_edit_state(fleet_root(), "s/\\(\"retry_ms\": *\\)[0-9]*/\\11/");
}

START_TEST(what_cannot_be_judged_blames_nobody)
{
	const char *broken = unit_path("broken");

	e2e_write(broken, "");
	recording_check(e2e_path("[ ! -e '%s' ] || exit 75", broken));
	auto_task("a.md", "A\nfake: commit a.txt x");
	auto_up(NULL);
	auto_wait_shell(e2e_path("grep -q slot-1 '%s'", unit_path("checks")));
	auto_wait_state("landings.checks.results.0.unjudged", "1");
	ck_assert_int_eq(auto_landed(), 0);
	auto_drain();
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	remove(broken);
	let_time_pass();
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	auto_history("a.txt: x", NULL);
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	ck_assert_int_eq(recorded("slot-1"), 2);
}
END_TEST

START_TEST(a_red_branch_is_fixed_by_a_task)
{
	queue_check("[ ! -e broken.txt ] || { echo it is broken; echo 'fake: "
		    "run git rm -q broken.txt && git commit -qm Repaired'; "
		    "exit 1; }");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("g"));
	auto_set("auto.concurrency", "2");
	auto_up("--until-empty", NULL);
	auto_wait_gate("g");
	e2e_write(in_main("broken.txt"), "x\n");
	e2e_git(fleet_root(), "add", "broken.txt", NULL);
	e2e_git(fleet_root(), "commit", "-qm", "Broken", NULL);
	auto_open_gate("g");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", "Broken", "Repaired", NULL);
	ck_assert(!e2e_exists(in_main("broken.txt")));
	ck_assert_int_eq(auto_events("branch_red", "it is broken"), 1);
	ck_assert_int_eq(auto_events("sent_back", NULL), 0);
	ck_assert_int_eq(auto_finished("landed"), 2);
}
END_TEST

/* A stricter command finds what the old one passed. The second task began
 * before the first one landed. */
START_TEST(a_red_branch_loses_the_commits_of_tasks)
{
	const char *strict = e2e_path("%s/strict.sh", unit_scratch());
	const char *id;

	auto_set("auto.on_red", "revert");
	auto_set("auto.max_attempts", "1");
	queue_check("true");
	auto_task("a.md", "A\nfake: commit a.txt x");
	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	id =
	    e2e_path("%.40s", e2e_git(fleet_root(), "rev-parse", "main", NULL));
	e2e_script(strict,
	    "#!/bin/sh\n[ -z \"$LLMC_CHECK_SLOT\" ] || [ ! -e a.txt ] || { "
	    "echo no a.txt, please; exit 1; }\n");
	auto_set("auto.check_command", e2e_path("'%s'", strict));
	auto_task("b.md",
	    "B\nfake: run git reset -q --hard HEAD~1\nfake: commit b.txt x");
	auto_run("--until-empty", NULL);
	ck_assert(!e2e_exists(in_main("a.txt")));
	ck_assert(e2e_exists(in_main("b.txt")));
	e2e_has(
	    e2e_git(fleet_root(), "log", "-1", "--format=%B", "main~1", NULL),
	    e2e_path("This reverts commit %s", id));
	ck_assert_int_eq(auto_events("branch_red", "no a.txt, please"), 1);
	ck_assert_int_eq(auto_events("reverted", id), 1);
	ck_assert_int_eq(auto_finished("dead-letter"), 1);
}
END_TEST

/* --- killed ------------------------------------------------------------ */

/* The second one is checked on top of the first. */
START_TEST(a_check_outlives_a_killed_daemon_and_counts)
{
	e2e_skip_sandboxed("a slot checks the work of workers in boxes too");
	recording_check(e2e_path(
	    "[ -z \"${LLMC_CHECK_SLOT-}\" ] || { %s; }", auto_gate("slot")));
	auto_set("auto.concurrency", "2");
	auto_task(
	    "a.md", "A\nfake: run %s\nfake: commit a.txt x", auto_gate("work"));
	auto_task(
	    "b.md", "B\nfake: run %s\nfake: commit b.txt x", auto_gate("work"));
	auto_up(NULL);
	auto_wait_events("task_assigned", NULL, 2);
	auto_open_gate("work");
	auto_wait_gate("slot");
	auto_wait_finished("landed", 1);
	auto_wait_state("tasks.1", "");
	auto_kill9_daemon();
	ck_assert_int_eq(auto_landed(), 1);
	if (_i == 0)
		auto_open_gate("slot"); /* it ends without a daemon */
	auto_up("--until-empty", NULL);
	if (_i == 1)
		auto_open_gate("slot");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("a.txt: x", "b.txt: x", NULL);
	ck_assert_int_eq(auto_landed(), 2);
	ck_assert_int_eq(recorded("slot-1"), 1);
	ck_assert_int_eq(auto_finished("landed"), 2);
	queue_never_red();
	auto_no_complaints();
}
END_TEST

/* --- the same as one by one -------------------------------------------- */

START_TEST(all_at_once_lead_to_the_same_tree_as_one_by_one)
{
	const char *gate = auto_gate("work");

	e2e_skip_sandboxed("a worker in a box cannot make tags");
	e2e_sh(fleet_root(),
	    "seq 60 >lines; git add lines; git commit -qm Lines; git tag base");
	recording_check("sleep 0.2");
	auto_set("auto.concurrency", "4");
	for (int i = 1; i <= 4; i++)
		auto_task(e2e_path("%d.md", i),
		    "%d\nfake: run %s\nfake: run sed -i '%ds/$/ by %d/' lines; "
		    "echo %d >f%d; git add .; git commit -qm 'Edit %d'; "
		    "git tag work/%d",
		    i, gate, i * 12, i, i, i, i, i);
	auto_up("--until-empty", NULL);
	auto_wait_events("task_assigned", NULL, 4);
	auto_open_gate("work");
	ck_assert_int_eq(auto_wait_exit(), 0);
	auto_history("Edit 1", "Edit 2", "Edit 3", "Edit 4", NULL);
	queue_is_serial("base");
	ck_assert_str_eq(e2e_git(fleet_root(), "show", "main:lines", NULL),
	    e2e_sh("/",
		"seq 60 | sed '12s/$/ by 1/; 24s/$/ by 2/; "
		"36s/$/ by 3/; 48s/$/ by 4/'")
		->out);
	queue_never_red();
	auto_no_complaints();
}
END_TEST

static void
add_loop(Suite *suite, const TTest *test, int count)
{
	TCase *loop = tcase_create(test->name);

	tcase_set_timeout(loop, 120);
	tcase_add_checked_fixture(loop, begin, fleet_end);
	tcase_add_loop_test(loop, test, 0, count);
	suite_add_tcase(suite, loop);
}

Suite *
unit_suite(void)
{
	const TTest *const all[] = {
		each_commit_is_checked_in_two_slots_at_once,
		protected_paths_wait_for_a_person,
		a_worker_cannot_weaken_its_own_judge,
		a_check_cannot_poison_the_slot,
		a_check_that_changes_its_judge_does_not_count,
		a_slot_is_set_up_once, what_cannot_be_judged_blames_nobody,
		a_red_branch_is_fixed_by_a_task,
		a_red_branch_loses_the_commits_of_tasks,
		all_at_once_lead_to_the_same_tree_as_one_by_one
	};
	Suite *suite = suite_create("auto-queue");

	queue_scenarios_add(suite, begin);
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(suite, begin, all[i]);
	add_loop(suite, paths_of_ours_do_not_land_and_the_worker_is_told,
	    nitems(forbidden));
	add_loop(suite, a_check_outlives_a_killed_daemon_and_counts, 2);
	return suite;
}
