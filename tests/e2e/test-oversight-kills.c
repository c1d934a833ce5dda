/* SPDX-License-Identifier: ISC */

/*
 * The daemon is killed at one step of an abort, of an answer, or of each step
 * of the ladder, and started again. A step is a program that it starts or a
 * file that it puts in place (tests/faults/stepkill.c). In the end the task has
 * ended once, or it is parked; and no work is lost.
 */
#include "faults.h"
#include "teamrun.h"
#include "watchlog.h"

const int unit_timeout = 240; /* seconds, each */

void
unit_before(void)
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

static struct faults abort_story = { .sample = 1 };

TEST_ROWS(an_abort, faults_rows(&abort_story))
{
	if (!faults_begin(&abort_story, _i))
		return;
	begin_turn();
	faults_arm();
	/* Whoever gets no answer types it again. */
	faults_wait(ABORT ENDED, NULL);
	faults_wait("\"$STATE\" | grep -q '\"status\": *\"idle\"'", NULL);
	faults_end(NULL);
	is_aborted();
	auto_drain();
}

#define PARKED "\"$STATE\" | grep -q '\"step\": *\"parked\"'"
#define RESUME \
	"\"$LLMC\" resume t1 --note 'fake: commit good.txt x' >/dev/null 2>&1"

static struct faults ladder_story = { .sample = 2 };

/* From before it is warned: redirected, restarted, parked. */
TEST_ROWS(the_steps_of_the_ladder, faults_rows(&ladder_story))
{
	if (!faults_begin(&ladder_story, _i))
		return;
	auto_set("auto.check_command",
	    "test ! -e b.txt || test -e good.txt || { echo 'fake: run ls "
	    "./missing.c'; exit 1; }");
	auto_task("a.md", "fake: commit b.txt x");
	auto_up(NULL);
	watchlog_wait("t1", 2);
	faults_arm();
	faults_wait(PARKED, NULL);
	faults_end(NULL);
	watchlog_parked("t1", "Stuck");
	watchlog_whole("t1");
	ck_assert_int_le(watchlog_at("t1", "pause", "stuck"), 14);
	/* The daemon may have died when all of it was saved. */
	faults_wait(RESUME, NULL);
	auto_wait_finished("landed", 1);
	auto_drain();
}

#define QUESTION                                                \
	"fake: tool request_orchestrator {\"message\":\"Which " \
	"colour?\",\"timeoutSeconds\":3600}\n"
#define ANSWER                                            \
	"\"$LLMC\" answer a1 blue >/dev/null 2>&1; test " \
	"$(\"$LLMC\" --json task list | grep -c '\"outcome\": *\"landed\"') = 1"

/* It is given once, whoever types it again because nobody replied. */
static void
answer_once(bool waits)
{
	goal_enable();
	auto_tune(waits ? "answer_wait=3600000" : "answer_wait=1000");
	auto_task("a.md", "Paint it.");
	auto_ails(e2e_path(QUESTION "fake: keep %s\nfake: commit a.txt x",
	    team_kept("answer")));
	e2e_env("STEPKILL_WRITES=1"); /* an answer is in the book first */
	auto_up(NULL);
	if (waits) {
		auto_wait_shell("\"$LLMC\" asks | grep -q 'Which colour'");
	} else {
		auto_wait_state("tasks.0.step", "parked");
		auto_ails("fake: commit a.txt x");
	}
	faults_arm();
	faults_wait(ANSWER, NULL);
	faults_end(NULL);
	ck_assert_int_eq(fleet_prompts("The answer is:\n\nblue"), !waits);
	if (waits)
		e2e_has(team_read("answer"), "blue");
	e2e_has(fleet_do("asks", NULL)->out, "Nothing is asked of you");
	auto_drain();
	auto_history("a.txt: x", NULL);
}

static struct faults waiting_story = { .sample = 1 };
static struct faults parked_story = { .sample = 1 };

TEST_ROWS(an_answer_to_an_agent_that_waits, faults_rows(&waiting_story))
{
	if (faults_begin(&waiting_story, _i))
		answer_once(true);
}

TEST_ROWS(an_answer_to_a_task_without_its_worker, faults_rows(&parked_story))
{
	if (faults_begin(&parked_story, _i))
		answer_once(false);
}

/* The next daemon saves the work. */
TEST(down_right_after_an_abort)
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

/* tmux dies with every session: the task stays parked. */
TEST(the_end_of_tmux)
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
