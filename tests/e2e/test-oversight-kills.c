/* SPDX-License-Identifier: ISC */

/*
 * The daemon is killed at one step of an abort, of an answer, or of each step
 * of the ladder, and started again. A step is a program that it starts or a
 * file that it puts in place (tests/tools/stepkill.c). In the end the task has
 * ended once, or it is parked; and no work is lost.
 *
 *   OVERSIGHT_KILLS  number of steps to kill at, spread over all of them (2)
 *   OVERSIGHT_STEPS  at each of the first so many steps instead
 */
#include "stepkills.h"
#include "teamrun.h"
#include "watchlog.h"

#define KILLS        2
#define ABORT_STEPS  18 /* about as many as there are */
#define ANSWER_STEPS 40
#define LADDER_STEPS 12
#define WAIT_MS      60000

static int
step_of(int row, int steps)
{
	int count = e2e_number("OVERSIGHT_KILLS", KILLS);

	if (e2e_number("OVERSIGHT_STEPS", 0) > 0)
		return row + 1;
	return stepkills_spread(row, count, steps);
}

static int
row_count(void)
{
	int all = e2e_number("OVERSIGHT_STEPS", 0);

	return all > 0 ? all : e2e_number("OVERSIGHT_KILLS", KILLS);
}

static void
begin(void)
{
	fleet_begin();
	auto_set("auto.max_turns", "30");
	auto_ails("");
}

/* A task with work of all kinds, in the middle of a turn. */
static void
begin_turn(void)
{
	auto_task("a.md",
	    "fake: commit done.txt x\nfake: write left.txt x\nfake: run %s",
	    auto_gate("work"));
	auto_up(NULL);
	auto_wait_gate("work");
}

/* It has ended once, and its worker does another one. */
static void
is_aborted(void)
{
	fleet_wait("auto-1", "idle");
	auto_wait_shell(
	    "git for-each-ref refs/llmc/salvage/auto-1 | grep -q .");
	auto_salvaged("auto-1", "left.txt");
	auto_salvaged("auto-1", "done.txt");
	ck_assert_str_eq(auto_folder("failed"), "a.md\na.md.why\n");
	ck_assert_int_eq(auto_finished(NULL), auto_finished("aborted"));
	e2e_has(e2e_sh(fleet_root(), "cat .llmc/aborted/t1/abort.json")->out,
	    "wrong way");
	ck_assert_int_eq(auto_events("task_assigned", NULL), 1);
	auto_task("b.md", "fake: commit c.txt x");
	auto_wait_finished("landed", 1);
}

#define ABORT "\"$LLMC\" abort t1 --reason 'wrong way' >/dev/null 2>&1; "
#define ENDED "\"$LLMC\" --json task list | grep -q '\"outcome\": *\"aborted\"'"

START_TEST(an_abort)
{
	int step = step_of(_i, ABORT_STEPS);

	stepkills_at(step);
	begin_turn();
	stepkills_arm();
	/* Whoever gets no answer types it again. */
	stepkills_wait(ABORT ENDED, NULL);
	stepkills_wait("\"$STATE\" | grep -q '\"status\": *\"idle\"'", NULL);
	stepkills_disarm(NULL);
	is_aborted();
	auto_drain();
}
END_TEST

#define PARKED "\"$STATE\" | grep -q '\"step\": *\"parked\"'"
#define RESUME \
	"\"$LLMC\" resume t1 --note 'fake: commit good.txt x' >/dev/null 2>&1"

/* The iteration before the one that it redirects, restarts, retries, parks. */
static const int ladder[] = { 2, 5, 8, 11 };

START_TEST(a_step_of_the_ladder)
{
	bool all = e2e_number("OVERSIGHT_STEPS", 0) > 0;
	int step = step_of(all ? _i / (int)nitems(ladder) : _i, LADDER_STEPS);
	int rung = all ? _i : _i * (int)(nitems(ladder) - 1);

	stepkills_at(step);
	auto_set("auto.check_command",
	    "test ! -e b.txt || test -e good.txt || { echo 'fake: run ls "
	    "./missing.c'; exit 1; }");
	auto_task("a.md", "fake: commit b.txt x");
	auto_up(NULL);
	watchlog_wait("t1", ladder[rung % (int)nitems(ladder)]);
	stepkills_arm();
	stepkills_wait(PARKED, NULL);
	stepkills_disarm(NULL);
	watchlog_parked("t1", "Stuck");
	watchlog_whole("t1");
	ck_assert_int_le(watchlog_at("t1", "pause", "stuck"), 14);
	/* The daemon may have died when all of it was saved. */
	stepkills_wait(RESUME, NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
}
END_TEST

#define QUESTION                                                \
	"fake: tool request_orchestrator {\"message\":\"Which " \
	"colour?\",\"timeoutSeconds\":3600}\n"
#define ANSWER                                            \
	"\"$LLMC\" answer a1 blue >/dev/null 2>&1; test " \
	"$(\"$LLMC\" --json task list | grep -c '\"outcome\": *\"landed\"') = 1"

/* To an agent that waits, or to a task that waits without its worker: it is
 * given once, whoever types it again because nobody replied. */
START_TEST(an_answer)
{
	bool waits = _i % 2 == 0;
	int step = step_of(_i / 2, ANSWER_STEPS);

	goal_enable();
	auto_tune(waits ? "answer_wait=3600000" : "answer_wait=1000");
	auto_task("a.md", "Paint it.");
	auto_ails(e2e_path(QUESTION "fake: keep %s\nfake: commit a.txt x",
	    team_kept("answer")));
	stepkills_at(step);
	e2e_env("STEPKILL_WRITES=1"); /* an answer is in the book first */
	auto_up(NULL);
	if (waits) {
		auto_wait_shell("\"$LLMC\" asks | grep -q 'Which colour'");
	} else {
		auto_wait_state("tasks.0.step", "parked");
		auto_ails("fake: commit a.txt x");
	}
	stepkills_arm();
	stepkills_wait(ANSWER, NULL);
	stepkills_disarm(NULL);
	ck_assert_int_eq(fleet_prompts("The answer is:\n\nblue"), !waits);
	if (waits)
		e2e_has(team_read("answer"), "blue");
	e2e_has(fleet_do("asks", NULL)->out, "Nothing is asked of you");
	auto_drain();
	auto_history("a.txt: x", NULL);
}
END_TEST

/* The next daemon saves the work. */
START_TEST(down_right_after_an_abort)
{
	begin_turn();
	e2e_has(fleet_do("abort", "t1", "--reason", "wrong way", NULL)->out,
	    "t1 is aborted");
	fleet_do("down", NULL);
	auto_wait_exit();
	auto_up(NULL);
	is_aborted();
	auto_drain();
}
END_TEST

/* tmux dies with every session: the task stays parked. */
START_TEST(the_end_of_tmux)
{
	auto_set("auto.check_command",
	    "test ! -e b.txt || test -e good.txt || { echo 'fake: run ls "
	    "./missing.c'; exit 1; }");
	auto_task("a.md", "fake: commit b.txt x");
	auto_up(NULL);
	watchlog_parked("t1", "Stuck");
	e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" kill-server");
	watchlog_parked("t1", "Stuck");
	fleet_do("resume", "t1", "--note", "fake: commit good.txt x", NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
}
END_TEST

static void
add(Suite *suite, const TTest *test, int rows)
{
	TCase *loop = tcase_create(test->name);

	tcase_set_timeout(loop, 240);
	tcase_add_checked_fixture(loop, begin, fleet_end);
	tcase_add_loop_test(loop, test, 0, rows);
	suite_add_tcase(suite, loop);
}

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("oversight-kills");

	add(suite, an_abort, row_count());
	add(suite, an_answer, 2 * row_count());
	/* Each step of the ladder; by default the first and the last, as
	 * autod/test-oversight-floor.c dies before each of them. */
	add(suite, a_step_of_the_ladder,
	    e2e_number("OVERSIGHT_STEPS", 0) > 0 ?
		(int)nitems(ladder) * row_count() :
		row_count());
	add(suite, down_right_after_an_abort, 1);
	add(suite, the_end_of_tmux, 1);
	return suite;
}
