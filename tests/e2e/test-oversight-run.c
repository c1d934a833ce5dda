/* SPDX-License-Identifier: ISC */

/* The stand-in agent acts out pathological work, driven by prompts alone, up to
 * the intervention and back. */
#include "watchlog.h"

/* Main passes; the work does once good.txt is there. What the check prints is
 * what the agent does next, and another word each time: it is not the check
 * that fails in the same way. */
#define OTHER "date +%%N | tr 0-9 a-j"
#define CHECK                                                        \
	"test ! -e b.txt || test -e good.txt || { echo '%s'; " OTHER \
	"; exit 1; }"

void
unit_before(void)
{
	fleet_begin();
	auto_set("auto.max_turns", "30");
	auto_ails("");
}

static const char *
iterations(const char *what)
{
	return fleet_do("task", "iterations", what, NULL)->out;
}

/* An agent that does this as soon as a prompt has the words. */
static void
heeds(const char *words, const char *command)
{
	auto_ails(e2e_path("fake: run tail -n 1 \"$FLEET/prompts.jsonl\" | "
			   "grep -q '%s' || exit 0; %s\n",
	    words, command));
}

#define COMMIT(file, text)                                                 \
	"echo " text " >" file "; git add " file "; git commit -qm '" file \
	": " text "'"

/* The daemon dies when so many iterations were judged, whatever it does. */
static void
die_after(int count)
{
	watchlog_wait("t1", count);
	auto_kill9_daemon();
	auto_up(NULL);
}

static void
lands(void)
{
	auto_wait_finished("landed", 1);
	watchlog_last("t1", "testsPassing", "true");
	watchlog_last("t1", "status", "healthy");
	watchlog_whole("t1");
	auto_drain();
	auto_no_complaints();
}

/* --- checks ---------------------------------------------------------- */

/* It fails in the same way wherever a bad file is, however much work there
 * was. */
#define BAD                                                                     \
	"if ls bad*.txt >/dev/null 2>&1; then date; echo FAIL: the sum is "     \
	"$(date +%%s) in $PWD/sum.c:12; echo 'fake: run date +%%N >>work.txt; " \
	"git add .; git commit -qm more'; exit 1; fi"

static void
begin_bad(int bad, int good)
{
	auto_set("auto.check_command", e2e_path(BAD));
	for (int i = 1; i <= bad; i++)
		auto_task(e2e_path("a%d.md", i), "fake: commit bad%d.txt x", i);
	for (int i = 1; i <= good; i++)
		auto_task(e2e_path("b%d.md", i), "fake: commit %d.txt x", i);
}

/* The steps come in this order, each at its turn. The warning of a daemon that
 * died at the end of that turn is given after the next one. */
static void
climbed(const char *task)
{
	int redirect = watchlog_at(task, "redirect", "stuck");
	int warn = watchlog_at(task, "warn", "stuck");

	ck_assert_msg(warn == redirect - 3 || warn == redirect - 2,
	    "a warning at %d, a redirection at %d", warn, redirect);
	ck_assert_int_eq(watchlog_at(task, "restart", "stuck"), redirect + 3);
	ck_assert_int_eq(watchlog_at(task, "pause", "stuck"), redirect + 6);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_stuck_task_climbs_the_ladder_and_is_helped)
{
	const char *why;

	auto_set("auto.concurrency", "2");
	begin_bad(1, 0);
	auto_up(NULL);
	die_after(3);
	watchlog_parked("t1", "refused 12 times in the same way");
	climbed("t1");
	watchlog_last("t1", "testsPassing", "false");
	watchlog_last("t1", "status", "paused");
	ck_assert_int_ge(fleet_prompts("CHANGE THE APPROACH"), 1);
	ck_assert_int_eq(
	    fleet_prompts("Another session has worked on this task"), 1);
	e2e_has(iterations("t1"), "redirect for stuck");
	e2e_has(iterations("t1"), "restart for stuck");
	/* It was one attempt; its worker is free. */
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	fleet_wait("auto-1", "idle");
	fleet_wait("auto-2", "idle");
	/* The next daemon knows. */
	auto_kill9_daemon();
	auto_set("plan.enabled", "true");
	auto_up(NULL);
	watchlog_parked("t1", "stopped by oversight: Stuck");
	why = fleet_do("why", "t1", NULL)->out;
	e2e_has(why,
	    "a fresh session goes on with it: Stuck: The end of the turn "
	    "was refused 9");
	e2e_has(why,
	    "it waits for a person: Stuck: The end of the turn was refused 12");
	fleet_do("resume", "t1", "--note",
	    "fake: run git rm -q bad1.txt work.txt; echo 2 >two.txt; git add .; "
	    "git commit -qm two",
	    NULL);
	auto_wait_finished("landed", 1);
	ck_assert_int_eq(fleet_prompts("A person says"), 1);
	auto_drain();
	auto_no_complaints();
}

static void
set_check(const char *script)
{
	const char *file = e2e_path("%s/check.sh", unit_scratch());

	e2e_script(file, script);
	auto_set("auto.check_command", e2e_path("'%s'", file));
}

/* Three checks of each: two fail, and what they say is heard. */
static const char mends[] =
    "#!/bin/sh\n"
    "for f in [0-9]*.txt; do\n"
    "	test -e \"$f\" || continue\n"
    "	case $(cat \"$f\") in\n"
    "	rough) echo \"fake: run ls ./lost-$f\"; "
    "echo \"fake: commit $f half\" ;;\n"
    "	half) echo \"fake: commit $f whole\" ;;\n"
    "	*) continue ;;\n"
    "	esac\n"
    "	echo \"fake: say The number in $f is better, not finished.\"\n"
    "	exit 1\n"
    "done\n";

/* Each brings another word, as work does. */
#define RUN   "fake: run date +%N | tr 0-9 a-j\n"
#define RUN8  RUN RUN RUN RUN RUN RUN RUN RUN
#define RUN64 RUN8 RUN8 RUN8 RUN8 RUN8 RUN8 RUN8 RUN8

/* All settings of oversight are the defaults. */
TEST(small_tasks_say_nothing_about_a_large_one)
{
	set_check(mends);
	for (int i = 1; i <= 6; i++)
		auto_task(e2e_path("%d.md", i),
		    "Write the number into the file %d.txt\n"
		    "fake: commit %d.txt rough\n"
		    "fake: say Wrote the number into %d.txt.",
		    i, i, i);
	auto_up(NULL);
	auto_wait_finished("landed", 6);
	ck_assert_int_eq(watchlog_events(), 0);
	for (int i = 1; i <= 6; i++) {
		const char *task = e2e_path("t%d", i);

		watchlog_whole(task);
		watchlog_last(task, "cost", "");
		watchlog_last(task, "testsPassing", "true");
		watchlog_last(task, "status", "healthy");
		ck_assert_int_ge(watchlog_with(task, "lost-", 9), 1);
	}
	/* Far more than the others: forty calls, and many more. */
	auto_task(
	    "7.md", "%sfake: commit 7.txt whole", RUN8 RUN8 RUN8 RUN8 RUN8);
	auto_task("8.md", "%sfake: commit 8.txt whole", RUN64 RUN64 RUN8);
	auto_wait_finished("landed", 8);
	ck_assert_int_eq(watchlog_events(), 0);
	ck_assert_int_eq(fleet_prompts("OVERSIGHT"), 0);
	auto_drain();
	auto_no_complaints();
}

/* It looks for things that are not there, finds a few, and changes nothing for
 * long. */
TEST(work_that_only_reads_is_left_alone)
{
	cleanup_buf struct buf steps = BUF_INIT;

	auto_tune("slice_tools=4");
	for (int i = 0; i < 40; i++)
		buf_addf(&steps,
		    i % 3 < 2 ? "fake: run grep thing%d b.txt\n" :
				"fake: run echo %d | tr 0-9 a-j\n",
		    i);
	auto_task(
	    "a.md", "fake: commit b.txt x\n%sfake: commit c.txt x", steps.data);
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	ck_assert_int_eq(auto_events("oversight", NULL), 0);
	auto_drain();
	auto_no_complaints();
}

#define FAIL  "fake: run sleep 0.3; ls ./missing.c\n"
#define FAIL4 FAIL FAIL FAIL FAIL

/* The defaults, 600 times as fast: daemon.patrol_interval is 30s, a slice 10m,
 * a worker stalls after 30m. */
TEST(a_long_turn_is_looked_at_before_it_counts_as_stalled)
{
	int agent;

	auto_tune("slice=1000");
	auto_set("auto.worker_stall_timeout", "3s");
	auto_set("auto.check_command", e2e_path(CHECK, "no"));
	heeds("CHANGE THE APPROACH", COMMIT("good.txt", "x"));
	auto_task("a.md",
	    "Fill the kettle, which takes a while, and then heat it up.\n"
	    "fake: commit b.txt x\nfake: run sleep 2\n%s",
	    FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4 FAIL4);
	auto_up(NULL);
	fleet_wait("auto-1", "working");
	agent = fleet_agent_pid("auto-1");
	fleet_wait_prompt("CHANGE THE APPROACH");
	ck_assert_int_eq(fleet_agent_pid("auto-1"), agent);
	lands();
	/* The slices without an error, and those with it. */
	ck_assert_int_ge(watchlog_at("t1", "redirect", "stuck"), 4);
	ck_assert_int_eq(auto_events("stall", NULL), 0);
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
}

/* The next daemon does not drive it: people tell it what to do. */
TEST(a_worker_that_people_drive_is_only_watched)
{
	auto_task(
	    "a.md", "fake: commit b.txt x\nfake: run %s", auto_gate("half"));
	auto_up(NULL);
	auto_wait_gate("half");
	auto_kill9_daemon();
	auto_open_gate("half");
	fleet_up();
	/* The next message closes a turn: nobody checks it before. */
	for (int turn = 1; turn <= 6; turn++) {
		fleet_wait("auto-1", "needs_review");
		fleet_do("message", "auto-1", "fake: run ls ./missing.c", NULL);
		watchlog_wait("t1", turn);
	}
	auto_wait_event("oversight", "stuck");
	watchlog_last("t1", "failureClass", "missing.c");
	ck_assert_int_ge(watchlog_at("t1", "log", "stuck"), 3);
	ck_assert_int_eq(watchlog_events(), 0);
	ck_assert_int_eq(fleet_prompts("OVERSIGHT"), 0);
	fleet_wait("auto-1", "needs_review");
	auto_no_complaints();
}

/* What people give to a worker has no id: its turns are the worker's. */
TEST(a_task_by_hand_is_only_watched)
{
	fleet_up();
	fleet_add("adam");
	fleet_start("adam", "fake: commit b.txt x");
	for (int turn = 1; turn <= 6; turn++) {
		fleet_wait("adam", "needs_review");
		watchlog_wait("by-hand-adam", turn);
		fleet_do("message", "adam", "fake: run ls ./missing.c", NULL);
	}
	watchlog_wait("by-hand-adam", 7);
	auto_wait_event("oversight", "stuck");
	watchlog_whole("by-hand-adam");
	watchlog_last("by-hand-adam", "failureClass", "missing.c");
	watchlog_last("by-hand-adam", "objective", "commit b.txt");
	watchlog_last("by-hand-adam", "tokens", "");
	watchlog_last("by-hand-adam", "treeHash", "");
	ck_assert_int_ge(watchlog_at("by-hand-adam", "log", "stuck"), 3);
	e2e_has(iterations("adam"), "log for stuck");
	ck_assert_int_eq(watchlog_events(), 0);
	ck_assert_int_eq(fleet_prompts("OVERSIGHT"), 0);
	/* The next daemon goes on counting; the next task begins anew. */
	fleet_kill(fleet_daemon_pid());
	fleet_up();
	fleet_wait("adam", "needs_review");
	fleet_do("message", "adam", "fake: run ls ./missing.c", NULL);
	watchlog_wait("by-hand-adam", 8);
	fleet_wait("adam", "needs_review");
	fleet_do("reset", "adam", "--yes", NULL);
	fleet_wait("adam", "idle");
	fleet_start("adam", "fake: commit c.txt x");
	fleet_wait("adam", "needs_review");
	watchlog_wait("by-hand-adam", 1);
	watchlog_whole("by-hand-adam");
	watchlog_last("by-hand-adam", "objective", "commit c.txt");
	watchlog_last("by-hand-adam", "status", "healthy");
	auto_no_complaints();
}
