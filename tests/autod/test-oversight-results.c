/* SPDX-License-Identifier: ISC */

/* What tests and checks say about the work of a turn, and when. */
#include "oversight-world.h"
#include "check-book.h"
#include "landing-private.h"
#include "operation.h"
#include "oversight-floor.h"
#include "state.h"
#include "worker-op.h"

#define PASSED "\"testsPassing\":true"
#define FAILED "\"testsPassing\":false"
#define RESULT "testsPassing"

static const char *
last(int count)
{
	const char *text;
	int recorded;

	text = oversight_world_recorded("iteration", &recorded);
	ck_assert_int_eq(recorded, count);
	return text;
}

static void
land(void)
{
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
}

static bool
is_open(void *arg)
{
	const struct watched *watched =
	    LIST_FIRST(&oversight_world.floor->watched);

	(void)arg;
	return watched != NULL && watched->open != NULL;
}

/* As the real program writes it: after the hook. */
TEST(what_the_transcript_has_late_is_of_that_turn)
{
	struct agent *agent;
	cleanup_free char *go = xstrdup(unit_path("go"));
	cleanup_free char *settings = xasprintf(
	    "check_command = \"test -e a || exit 0; until test -e '%s'; do "
	    "sleep 0.01; done; test -e good\"\n" OVERSIGHT_ON,
	    go);

	oversight_world_begin(settings);
	agent = auto_world_turn(1);
	oversight_world_tool_fails(agent, 1);
	oversight_world_sh("touch a; git add a; git commit -qm 'add a'");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait(is_open, &oversight_world);
	oversight_world_talk(agent,
	    "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
	    "\"tool_result\",\"is_error\":true,\"content\":\"late\"}]}}");
	ck_assert_int_eq(file_replace(go, "", 0, 0600, NULL), 0);
	auto_world_turn(2);
	floor_has(last(1), "\"late\"");
	/* And it is not of the next one. */
	oversight_world_sent_back(2);
	oversight_world_lacks(last(2), "late");
}

/* --- oversight.test_command ------------------------------------------ */

/* Says for which task, tells the coverage, and leaves a file. */
#define TESTS                                                             \
	OVERSIGHT_ON                                                      \
	"test_command = \"echo $LLMC_TASK >>../../runs; touch junk; cat " \
	"cover 2>&1; test ! -e red.txt\"\n"

TEST(own_tests_run_at_the_end_of_every_turn)
{
	struct agent *agent;
	const char *text;

	oversight_world_begin("check_command = \"true\"\n" TESTS);
	agent = auto_world_turn(1);
	oversight_world_sh("echo 'total: 81.5%' >cover");
	oversight_world_sent_back(1);
	text = last(1);
	floor_has(text, PASSED);
	floor_has(text, "\"coveragePercent\":81.5");
	oversight_world_sh("rm junk; echo 1 >red.txt");
	oversight_world_sent_back(2);
	floor_has(last(2), FAILED);
	oversight_world_sh(
	    "rm -f junk red.txt; git add cover; git commit -qm 'add cover'");
	fake_session_turn_ends(agent->session, "Done.");
	land();
	text = last(3);
	floor_has(text, PASSED);
	floor_has(text, "\"completionPercentage\":100");
	ck_assert_str_eq(floor_world_sh("cat runs"), "t1\nt1\nt1");
	/* What they left in a clean worktree is no work. */
	ck_assert_str_eq(floor_world_sh("ls"), "a.txt\ncover\nruns");
}

/* The check judges what lands, and says nothing about these tests. */
TEST(own_tests_are_not_mixed_with_the_check)
{
	struct agent *agent;

	oversight_world_begin("check_command = \"test ! -e b.txt\"\n" TESTS);
	agent = auto_world_turn(1);
	auto_world_work("b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(2);
	floor_has(
	    fake_session_prompt(agent->session), "The check of your work");
	floor_has(last(1), PASSED);
}

TEST(parts_of_a_turn_are_not_tested)
{
	struct agent *agent;

	tune("slice_tools=1");
	oversight_world_begin(TESTS);
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >red.txt");
	fake_session_progresses(agent->session);
	floor_world_settle();
	oversight_world_lacks(last(1), RESULT);
	ck_assert_str_eq(floor_world_sh("ls | grep runs; true"), "");
}

TEST(what_own_tests_do_not_judge_is_not_known)
{
	oversight_world_begin(OVERSIGHT_ON "test_command = \"exit 75\"\n");
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_sent_back(1);
	oversight_world_lacks(last(1), RESULT);
}

TEST(own_tests_have_the_deadline_of_the_check)
{
	oversight_world_begin("check_timeout = \"100ms\"\n" OVERSIGHT_ON
			      "test_command = \"exec sleep 1000\"\n");
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_sent_back(1);
	floor_has(last(1), FAILED);
}

#define SLOW                                                              \
	OVERSIGHT_ON "test_command = \"until test -e ../../go; do sleep " \
		     "0.05; done\"\n"

/* Its end is judged again, and it is still one turn. */
TEST(a_turn_whose_tests_were_cancelled_is_recorded_once)
{
	struct agent *agent;

	oversight_world_begin(SLOW);
	agent = auto_world_turn(1);
	auto_world_work("b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "test");
	operation_cancel(&agent->op->op, "the test wants it");
	floor_world_settle();
	ck_assert(turn_end_is_due(agent));
	floor_world_sh("touch go");
	turn_end_begin(agent, NULL, NULL);
	land();
	floor_has(last(1), PASSED);
}

static bool
is_saved(void *arg)
{
	(void)arg;
	return persist_is_idle(floor_world.core);
}

TEST(a_daemon_that_dies_while_tests_run_loses_no_turn)
{
	struct agent *agent;

	oversight_world_begin(SLOW);
	agent = auto_world_turn(1);
	auto_world_work("b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_step(agent, "test");
	floor_world_wait(is_saved, &oversight_world);
	floor_world_sh("touch go");
	oversight_world_die();
	agent = auto_world_turn(1); /* it is told to go on */
	oversight_world_lacks(last(1), RESULT);
	fake_session_turn_ends(agent->session, "Done.");
	land();
	floor_has(last(2), PASSED);
}

/* --- auto.check_command ---------------------------------------------- */

/* Passes in the worktree, but not in the queue. */
#define CHECK                                                           \
	"check_command = \"case $PWD in */checks/*) test ! -e b.txt;; " \
	"*) test ! -e red.txt;; esac\"\n"

/* Its branch has moved, so that the landing checks again. */
TEST(what_fails_in_the_landing_queue_has_failed)
{
	struct agent *agent;

	oversight_world_begin(CHECK OVERSIGHT_ON);
	agent = auto_world_turn(1);
	floor_world_sh("echo 1 >x.txt; git add x.txt; git commit -qm 'add x'");
	auto_world_work("b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(2);
	floor_has(last(1), FAILED);
	oversight_world_lacks(last(1), "completionPercentage");
	/* It did not get worse. */
	oversight_world_lacks(fake_session_prompt(agent->session), "OVERSIGHT");
	oversight_world_sh("git mv b.txt d.txt; git commit -qm fixed");
	fake_session_turn_ends(agent->session, "Done.");
	land();
	floor_has(last(2), PASSED);
}

/* Once in the queue, then twice in its worktree, where the agent is told the
 * same in fewer words: it is the same failure. */
TEST(a_failure_is_the_same_wherever_it_is_checked)
{
	oversight_world_begin(
	    "check_command = \"test ! -e b.txt && exit 0; case $PWD in "
	    "*/checks/*) ;; *) test -e red.txt || exit 0;; esac; "
	    "echo FAIL soup.c: it lacks salt; exit 1\"\n" OVERSIGHT_ON);
	auto_world_turn(1);
	floor_world_sh("echo 1 >x.txt; git add x.txt; git commit -qm 'add x'");
	auto_world_work("b.txt");
	for (int n = 1; n <= 3; n++) {
		const char *prompt = oversight_world_sent_back(n);

		floor_has(prompt, "The check of your work failed");
		floor_has(last(n), "it lacks salt");
		if (n == 3)
			floor_has(prompt, WARNING);
		oversight_world_sh("date +%N >>red.txt; git add red.txt; "
				   "git commit -qm again");
	}
}

/* In the queue it waits for permission, and fails. */
#define CHECK_LATER                                                            \
	"check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" && exit 0; until " \
	"test -e ../../go; do test -e ../../config.toml || exit; sleep "       \
	"0.05; done; test ! -e b.txt\"\n"

/* The check is known to take an hour. */
static void
expect_an_hour(void)
{
	struct check_book *book = &auto_world.core->state.landings.checks;
	char key[CHECK_KEY_SIZE];

	check_slot_key(auto_world.core, key);
	check_book_note(
	    book, "t", key, CHECK_PASSED, clock_wall_ms(), 3600000, 0);
	for (size_t i = 0; i < book->command_count; i++)
		book->commands[i].took_ms = 3600000;
}

/* Its worker has another task by then: whoever goes on with it begins with what
 * is known. */
TEST(what_fails_in_the_queue_without_a_worker_has_failed)
{
	struct agent *agent;

	oversight_world_begin(CHECK_LATER OVERSIGHT_ON);
	agent = auto_world_turn_on("t1");
	auto_world_work("b.txt");
	floor_world_sh(
	    "echo m >m.txt; git add m.txt; git commit -qm meanwhile");
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	floor_world_settle();
	expect_an_hour();
	auto_world_task("b.md", "Second\n");
	auto_world_patrol();
	agent = auto_world_turn_on("t2");
	last(0); /* nobody knows yet */
	floor_world_sh("touch .llmc/go");
	auto_world_wait("sent_back t1; ");
	auto_world_work("c.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_turn_on("t1");
	floor_has(last(1), FAILED);
}

TEST(a_check_that_does_not_judge_says_nothing)
{
	struct agent *agent;

	oversight_world_begin(
	    "check_command = \"case $PWD in */checks/*) test ! -e b.txt;; "
	    "*) exit 75;; esac\"\n" OVERSIGHT_ON);
	agent = auto_world_turn(1);
	auto_world_work("b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(2);
	/* The queue has judged. */
	floor_has(last(1), FAILED);
	oversight_world_sh("echo 2 >c.txt");
	fake_session_turn_ends(agent->session, "Wait.");
	auto_world_turn(3);
	oversight_world_lacks(last(2), RESULT);
}

/* What the book knows of exactly this tree. A single failure may be a flake. */
TEST_ROWS(a_result_that_is_known_of_the_tree_counts, 4)
{
	static const struct {
		enum check_verdict verdict;
		int times;
		const char *want;
	} rows[] = {
		{ CHECK_PASSED, 1, PASSED },
		{ CHECK_FAILED, 2, FAILED },
		{ CHECK_FAILED, 1, NULL },
		{ CHECK_UNJUDGED, 1, NULL },
	};
	struct check_book *book;
	char key[CHECK_KEY_SIZE];
	const char *tree;

	oversight_world_begin("check_command = \"true\"\n" OVERSIGHT_ON);
	auto_world_turn(1);
	tree = floor_world_wt("auto-1",
	    "echo 1 >one.txt; git add one.txt; git write-tree; git reset -q");
	book = &auto_world.core->state.landings.checks;
	check_book_key("true", key);
	for (int i = 0; i < rows[_i].times; i++)
		check_book_note(book, tree, key, rows[_i].verdict, i + 1, 1, 0);
	oversight_world_sent_back(1);
	if (rows[_i].want != NULL)
		floor_has(last(1), rows[_i].want);
	else
		oversight_world_lacks(last(1), RESULT);
}

TEST(what_the_task_began_with_is_not_its_work)
{
	struct agent *agent;
	char key[CHECK_KEY_SIZE];

	oversight_world_begin("check_command = \"true\"\n" OVERSIGHT_ON);
	agent = auto_world_turn(1);
	check_book_key("true", key);
	check_book_note(&auto_world.core->state.landings.checks,
	    floor_world_sh("git rev-parse main^{tree}"), key, CHECK_PASSED, 1,
	    1, 0);
	fake_session_turn_ends(agent->session, "Which one do you want?");
	auto_world_turn(2);
	oversight_world_lacks(last(1), RESULT);
}
