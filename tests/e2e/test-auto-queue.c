/* SPDX-License-Identifier: ISC */

/* The landing queue: whatever workers finish at the same time, the branch is
 * never at a commit that fails check_command. */
#include "autorun.h"
#include "queue-scenarios.h"

static const char *
in_main(const char *file)
{
	return e2e_path("%s/%s", fleet_root(), file);
}

void
unit_before(void)
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

const int unit_timeout = 120; /* seconds, each */

/* One needs no other check than its own; the others are on top of it, and the
 * last of them must not take the branch past a commit that is not judged. */
TEST(each_commit_is_checked_in_two_slots_at_once)
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

/* --- what must not land ------------------------------------------------ */

static const char *const forbidden[] = {
	".llmc/tasks/todo/evil.md",
	".worktrees/auto-2/evil.md",
};

TEST_ROWS(paths_of_ours_do_not_land_and_the_worker_is_told, nitems(forbidden))
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

/* --- what a check leaves ------------------------------------------------ */

/* A check that passes because it changed its judge has not passed. */
TEST(a_check_that_changes_its_judge_does_not_count)
{
	ck_assert_int_eq(e2e_sh(fleet_root(),
			     "echo strict >judge; git add .; "
			     "git commit -qm start")
			     ->status,
	    0);
	recording_check("[ -n \"${LLMC_CHECK_SLOT-}\" ] || exit 75\n"
			"[ ! -e evil.txt ] || echo lenient >judge");
	auto_set("repo.protected_paths", "[\"judge\"]");
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

/* --- killed ------------------------------------------------------------ */

/* The second one is checked on top of the first. */
TEST_ROWS(a_check_outlives_a_killed_daemon_and_counts, 2)
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

/* --- the same as one by one -------------------------------------------- */

TEST(all_at_once_lead_to_the_same_tree_as_one_by_one)
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

/* What other programs run too. */
void
unit_more(Suite *suite)
{
	queue_scenarios_add(suite, unit_before);
}
