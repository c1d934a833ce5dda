/* SPDX-License-Identifier: ISC */

/* The real Claude Code goes wrong in each of the five ways, in a home that it
 * never saw, on a stub of its API; and after each, the next task lands. */
#include "asked.h"
#include "scenarios.h"
#include "watchlog.h"

#define THERMOSTAT "The thermostat of the kettle respects temperature limits."
#define POEM       "I wrote a poem on dolphins in the moonlight."

/* An answer of the model takes a moment, after which what came before it is in
 * the transcript: the program writes that ten times a second. */
#define THINK "	echo 'fake: sleep 300'\n"

/* Each task has a file that the check looks for, and is done with another one.
 * What it prints is what the agent does next. */
static const char check[] =
    "#!/bin/sh\n"
    "open() { test -e $1.txt && test ! -e $1-good.txt; }\n"
    "if open stuck; then\n"
    "	echo 'fake: run ls ./missing.c'\n" THINK "elif open flip; then\n"
    "	echo 'fake: run if grep -q A t.txt; then echo B >t.txt; else echo A "
    ">t.txt; fi; git add t.txt; git commit -qm flip'\n"
    "elif open topic && test \"$(cat poem.txt 2>/dev/null | wc -l)\" -ge 4; then\n"
    "	echo 'fake: commit topic-good.txt x'\n"
    "	echo 'fake: say " THERMOSTAT "'\n"
    "elif open topic; then\n"
    "	echo 'fake: run echo line >>poem.txt; git add .; git commit -qm p'\n"
    "	echo 'fake: say " POEM "'\n"
    "elif open burn; then\n"
    "	echo 'fake: run true'\n"
    "elif open cover && grep -q 90 cover.txt; then\n"
    "	echo coverage: 90%\n"
    "	echo 'fake: commit cover.txt 70'\n"
    "elif open cover; then\n"
    "	echo coverage: 70%\n"
    "	echo 'fake: commit cover-good.txt x'\n"
    "else\n"
    "	test ! -e cover.txt || echo coverage: $(cat cover.txt)%\n"
    "	exit 0\n"
    "fi\n"
    "test -e wrong.txt || date +%N | tr 0-9 a-j\n"
    "exit 1\n";

static void
begin(void)
{
	const char *file;

	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	asked_begin();
	file = e2e_path("%s/check.sh", unit_scratch());
	e2e_script(file, check);
	auto_set("auto.check_command", e2e_path("'%s'", file));
	auto_set("defaults.model", "claude-opus-5-5");
	auto_set("auto.concurrency", "1");
	auto_set("daemon.patrol_interval", "200ms");
}

/* A task is done, and its last iteration says what it should. */
static void
landed(const char *task, int count)
{
	auto_wait_finished("landed", count);
	watchlog_whole(task);
	watchlog_last(task, "testsPassing", "true");
	watchlog_last(task, "status", "healthy");
	watchlog_last(task, "treeHash", "");
	watchlog_last(task, "blobs", "");
	watchlog_last(task, "durationMs", "");
	watchlog_last(task, "cost", "0.");
	watchlog_last(task, "tokens", "cacheRead");
}

START_TEST(a_redirection_is_heard_and_words_are_left_alone)
{
	int at;

	fleet_answer(
	    "CHANGE THE APPROACH. Stuck", "fake: commit stuck-good.txt x");
	auto_task("a.md", "Task-A\nfake: commit stuck.txt x");
	auto_task("b.md",
	    "Have the thermostat of the kettle respect its temperature "
	    "limits.\nfake: commit topic.txt x\nfake: say " THERMOSTAT);
	auto_up(NULL);
	landed("t1", 1);
	at = watchlog_at("t1", "redirect", "stuck");
	/* An error that the program writes late belongs to the turn after. */
	ck_assert_int_eq(watchlog_with("t1", "No such file", at), 6);
	landed("t2", 2);
	watchlog_last("t2", "learnings", "thermostat");
	ck_assert_int_eq(watchlog_events(), 2);
	auto_drain();
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

/* A check that fails with other words each time is not the same failure. */
START_TEST(burns_are_warned_of_and_regressions_noted)
{
	auto_tune("expected_iterations=2");
	auto_set("auto.max_turns", "6");
	auto_set(
	    "oversight.thresholds", "[\"resource.iterationMultiplier=1.5\"]");
	auto_task("a.md", "Task-A\nfake: commit burn.txt x");
	auto_task("b.md", "Task-B\nfake: commit cover.txt 90");
	auto_up(NULL);
	landed("t2", 1);
	auto_wait_finished("dead-letter", 1);
	watchlog_whole("t1");
	watchlog_last("t1", "maxIterations", "2");
	ck_assert_int_eq(watchlog_at("t1", "warn", "resource_burn"), 4);
	ck_assert_int_eq(fleet_prompts("OVERSIGHT WARNING: Resource burn"), 1);
	watchlog_last("t2", "coveragePercent", "70");
	ck_assert_int_eq(watchlog_at("t2", "log", "regression"), 2);
	ck_assert_int_eq(watchlog_events(), 1);
	auto_drain();
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

/* The same failing check, seen by the real program. */
START_TEST(a_check_that_fails_in_the_same_way_parks_the_task)
{
	auto_set("auto.max_turns", "30");
	auto_task("a.md",
	    "Task-A\nfake: commit wrong.txt x\n"
	    "fake: commit burn.txt x");
	auto_task("b.md", "Task-B\nfake: commit b.txt x");
	auto_up(NULL);
	auto_wait_finished("landed", 1);
	watchlog_parked("t1", "times in the same way");
	auto_drain();
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

/* The agent is killed: its conversation is resumed, with the old errors in
 * it. */
START_TEST(errors_of_a_resumed_conversation_count_once)
{
	int at;

	fleet_answer(
	    "CHANGE THE APPROACH. Stuck", "fake: commit stuck-good.txt x");
	auto_task("a.md", "Task-A\nfake: commit stuck.txt x");
	auto_up(NULL);
	watchlog_wait("t1", 2);
	fleet_kill(fleet_agent_pid("auto-1"));
	landed("t1", 1);
	at = watchlog_at("t1", "redirect", "stuck");
	ck_assert_int_eq(watchlog_with("t1", "No such file", at), 6);
	ck_assert_int_eq(
	    watchlog_with("t1", "\"errors\"", at), 0); /* never two at once */
	auto_drain();
	auto_no_complaints();
	auto_no_sessions();
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const all[] = {
		a_redirection_is_heard_and_words_are_left_alone,
		burns_are_warned_of_and_regressions_noted,
		a_check_that_fails_in_the_same_way_parks_the_task,
		errors_of_a_resumed_conversation_count_once,
	};
	Suite *s;

	scenarios_real();
	s = suite_create("oversight-real");
	for (size_t i = 0; i < nitems(all); i++)
		scenarios_add_test(s, begin, all[i]);
	return s;
}
