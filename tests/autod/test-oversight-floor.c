/* SPDX-License-Identifier: ISC */

/* From the detection to the stopped worker: turns are recorded, judged, and
 * something is done about them. */
#include "oversight-world.h"

TEST(every_turn_is_recorded_with_its_facts)
{
	struct agent *agent;
	const char *text;
	int count;

	oversight_world_begin("check_command = \"true\"\n" OVERSIGHT_ON);
	agent = auto_world_turn(1);
	oversight_world_tool_fails(agent, 12);
	oversight_world_talk(agent,
	    "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"model\":"
	    "\"claude-opus-4-5\",\"usage\":{\"input_tokens\":10,"
	    "\"output_tokens\":20},\"content\":[]}}");
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_lacks(oversight_world_sent_back(1), "OVERSIGHT");
	text = oversight_world_recorded("iteration", &count);
	ck_assert_int_eq(count, 1);
	floor_has(text, "\"number\":1");
	floor_has(text, "\"durationMs\":");
	floor_has(text, "\"artifactsModified\":[\"one.txt\"]");
	floor_has(
	    text, "\"one.txt\":\"d00491fd7e5bb6fa28c517a0bb32b8b506539d4d\"");
	floor_has(text, "\"treeHash\":\"");
	floor_has(text, "undefined reference to add");
	floor_has(text, "\"learnings\":\"I tried again.\"");
	floor_has(text, "Make the numbers add up");
	floor_has(text, "\"tokens\":");
	floor_has(text, "\"cost\":0.0");
	oversight_world_lacks(text, "testsPassing");
	floor_has(
	    oversight_world_recorded("check", NULL), "\"status\":\"healthy\"");
	/* The next one has what is new, and the result of its check. */
	oversight_world_sh(
	    "git add one.txt; git commit -qm 'add one'; echo 2 >two.txt; "
	    "git add two.txt; git commit -qm 'add two'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
	text = oversight_world_recorded("iteration", &count);
	ck_assert_int_eq(count, 2);
	floor_has(text, "\"number\":2");
	floor_has(text, "\"artifactsModified\":[\"two.txt\"]");
	floor_has(text, "\"testsPassing\":true");
	oversight_world_lacks(text, "undefined reference");
}

TEST(nothing_is_recorded_where_nobody_wants_it)
{
	oversight_world_begin("max_turns = 50\n[oversight]\nmode = \"off\"\n");
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_sent_back(1);
	ck_assert_str_eq(floor_world_sh("ls .llmc | grep iter; true"), "");
}

/* --- stuck ----------------------------------------------------------- */

/* The same error, and nothing else, up to turn `last`. */
static const char *
get_stuck(int first, int last)
{
	const char *prompt = "";

	for (int n = first; n <= last; n++) {
		oversight_world_tool_fails(auto_world_turn(n), 10 + n);
		prompt = oversight_world_sent_back(n);
	}
	return prompt;
}

static const struct task *
task(void)
{
	return state_task(&auto_world.core->state, "t1");
}

/* The end of a turn was judged: the next one has begun, or the task is parked.
 */
struct next {
	int iterations;
};

static bool
is_next(void *arg)
{
	const struct next *next = arg;
	const struct task *t = task();
	const struct agent *agent = auto_world_agent();
	int count;

	if (t == NULL || agent->op != NULL ||
	    (t->step != TASK_PARKED &&
		(t->step != TASK_ASSIGNED || !agent->worker->session.busy ||
		    agent->worker->session.step != PROMPT_NONE)))
		return false;
	oversight_world_recorded("iteration", &count);
	return count >= next->iterations;
}

#define DEATHS (getenv("UNIT_WHOLE") != NULL ? 13 : 5)

/* The twelve turns of a task that meets the same failure in each, with the
 * settings that nobody has changed: a step every three, and the daemon may die
 * before any of them. */
TEST_ROWS(the_same_failure_climbs_the_ladder, DEATHS)
{
	static const struct {
		const char *told; /* by the prompt of the next turn */
		const char *level;
	} steps[] = {
		[3] = { WARNING, "warn" },
		[6] = { REDIRECT, "redirect" },
		[9] = { "Another session has worked on this task", "restart" },
		[12] = { NULL, "pause" },
	};
	struct agent *agent;

	oversight_world_begin("");
	for (int n = 1; n <= 12; n++) {
		struct next next = { n };
		cleanup_free char *level = NULL;

		auto_world_turn_on("t1");
		oversight_world_sh("echo 1 >one.txt");
		if (n == _i * 12 / (DEATHS - 1))
			oversight_world_die();
		agent = auto_world_turn_on("t1");
		oversight_world_tool_fails(agent, 10 + n);
		fake_session_turn_ends(agent->session, "I tried again.");
		floor_world_wait(is_next, &next);
		if (steps[n].level == NULL)
			continue;
		level = xasprintf("\"level\":\"%s\"", steps[n].level);
		floor_world_settle();
		floor_has(
		    oversight_world_recorded("intervention", NULL), level);
		if (steps[n].told != NULL)
			floor_has(
			    fake_session_prompt(auto_world_agent()->session),
			    steps[n].told);
	}
	ck_assert_int_eq(task()->step, TASK_PARKED);
	ck_assert_int_eq(task()->attempts, 1);
	floor_has(task()->reason, "stopped by oversight: Stuck");
	floor_has(task()->reason, "llmc resume t1 --note TEXT");
}

TEST(what_is_only_observed_is_recorded_and_not_done)
{
	int count = 0;

	oversight_world_begin(
	    "max_turns = 50\n[oversight]\nmode = \"observe\"\n");
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_lacks(get_stuck(1, 13), "OVERSIGHT");
	ck_assert_int_eq(task()->step, TASK_ASSIGNED);
	ck_assert_int_eq(task()->attempts, 1);
	floor_has(oversight_world_recorded("intervention", &count),
	    "\"level\":\"pause\"");
	ck_assert_int_eq(count, 4);
	floor_has(oversight_world_recorded("intervention", NULL),
	    "\"by\":\"observe\"");
}

TEST(a_parked_task_frees_its_worker)
{
	oversight_world_begin(OVERSIGHT_QUICK);
	oversight_world_get_parked();
	floor_has(task()->reason, "stopped by oversight: Stuck");
	floor_has(task()->reason, "llmc task iterations t1");
	/* Its work is kept, and the attempt goes on from it. */
	ck_assert_ptr_nonnull(task()->from);
	ck_assert_int_eq(task()->attempts, 1);
	floor_has(
	    oversight_world_recorded("check", NULL), "\"status\":\"paused\"");
	ck_assert_uint_eq(worker_holds(auto_world_agent()->worker), 0);
	auto_world_task("b.md", "Another one\n");
	auto_world_turn_on("t2");
}

TEST(a_person_lets_a_parked_task_go_on_with_a_word)
{
	struct agent *agent;

	oversight_world_begin(OVERSIGHT_QUICK);
	oversight_world_get_parked();
	ck_assert_int_eq(task()->step, TASK_PARKED);
	floor_has(oversight_world_resume("t1", ", \"note\": \"use libsum\""),
	    "Continuing.");
	agent = auto_world_turn_on("t1");
	floor_has(
	    fake_session_prompt(agent->session), "A person says: use libsum");
	floor_has(fake_session_prompt(agent->session), "stopped by oversight");
	auto_world_turn(fake_session_prompts(agent->session));
	/* It has its work, and lands. */
	oversight_world_sh("test -e one.txt; echo 2 >two.txt; "
			   "git add .; git commit -qm 'add two'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
}

/* What a person has seen is not told again, whatever dies. */
TEST_ROWS(a_person_who_lets_it_go_on_has_silenced_that_kind, 2)
{
	struct agent *agent;
	int count = 0, first;

	oversight_world_begin(OVERSIGHT_QUICK);
	oversight_world_get_parked();
	if (_i == 1)
		oversight_world_die();
	ck_assert_int_eq(task()->step, TASK_PARKED);
	oversight_world_resume(_i == 0 ? "t1" : NULL, "");
	agent = auto_world_turn_on("t1");
	first = fake_session_prompts(agent->session);
	oversight_world_sh("echo 2 >two.txt");
	for (int n = 0; n < 8; n++) {
		if (_i == 1 && n == 4) {
			oversight_world_die();
			first = 1 - n;
		}
		agent = auto_world_turn(first + n);
		fake_session_turn_ends(agent->session, "Again.");
		agent = auto_world_turn(first + n + 1);
		oversight_world_lacks(
		    fake_session_prompt(agent->session), "OVERSIGHT");
	}
	oversight_world_recorded("iteration", &count);
	ck_assert_int_ge(count, 12);
	floor_has(
	    oversight_world_recorded("check", NULL), "\"status\":\"warning\"");
}

/* What the last daemon had seen counts for this one. */
TEST(iterations_are_replayed_after_a_death)
{
	struct agent *agent;

	oversight_world_begin_turn(OVERSIGHT_ON);
	oversight_world_lacks(get_stuck(1, 2), "OVERSIGHT");
	oversight_world_die();
	agent = auto_world_turn(1);
	oversight_world_tool_fails(agent, 77);
	floor_has(oversight_world_sent_back(1), WARNING);
}

/* --- idle ------------------------------------------------------------ */

#define WORDS                                                                     \
	"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\"" \
	":[{\"type\":\"text\",\"text\":\"It is all done.\"}]}}"

/* Ten turns in which the agent only says that it is done: what it has left is
 * committed and checked, and lands, or a person is asked. */
TEST_ROWS(work_of_who_only_talks_is_checked_as_it_is, 2)
{
	struct agent *agent;

	oversight_world_begin(_i == 0 ?
		"check_command = \"true\"\n" :
		"check_command = \"test ! -e one.txt\"\n");
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	for (int n = 1; n <= 10; n++) {
		oversight_world_talk(auto_world_turn(n), WORDS);
		oversight_world_lacks(oversight_world_sent_back(n), REDIRECT);
	}
	floor_has(oversight_world_recorded("intervention", NULL),
	    "\"level\":\"check\"");
	agent = auto_world_turn(11);
	oversight_world_talk(agent, WORDS);
	fake_session_turn_ends(agent->session, "It is done.");
	if (_i == 0) {
		auto_world_wait_done();
		auto_world_filed("t1 landed; ");
		return;
	}
	oversight_world_parked();
	floor_has(task()->reason, "turns with words only");
	ck_assert_int_eq(task()->attempts, 1);
}

/* --- burn ------------------------------------------------------------ */

#define BURN         \
	OVERSIGHT_ON \
	"thresholds = [\"resource.iterationMultiplier=1\"]\n"

TEST(a_task_that_burns_is_warned_once)
{
	tune("expected_iterations=2");
	oversight_world_begin(BURN);
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_lacks(oversight_world_sent_back(1), "OVERSIGHT");
	oversight_world_lacks(oversight_world_sent_back(2), "OVERSIGHT");
	floor_has(oversight_world_sent_back(3), "Resource burn");
	oversight_world_lacks(oversight_world_sent_back(4), "OVERSIGHT");
	oversight_world_lacks(oversight_world_sent_back(5), "OVERSIGHT");
	ck_assert_int_eq(task()->step, TASK_ASSIGNED);
}

/* Whether oversight is on or not. */
TEST_ROWS(a_person_aborts_a_task, 2)
{
	static const char *const settings[] = { "max_turns = 9\n",
		OVERSIGHT_ON };
	struct agent *agent;
	struct floor_call *call;
	const char *text;

	oversight_world_begin(settings[_i]);
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	call = floor_world_ask(
	    "task.abort", "{\"task\": \"auto-2\", \"reason\": \"x\"}");
	floor_has(floor_world_answer(call), "llmc task list");
	call = floor_world_ask(
	    "task.abort", "{\"task\": \"auto-1\", \"reason\": \"wrong way\"}");
	ck_assert_ptr_null(floor_world_answer(call));
	auto_world_wait_done();
	auto_world_filed("t1 aborted; ");
	floor_world_wait_status(agent, WORKER_IDLE);
	text = floor_world_sh("tr -d '\\n' <.llmc/aborted/t1/abort.json");
	floor_has(text, "\"a person\"");
	floor_has(text, "wrong way");
	ck_assert_str_eq(
	    floor_world_sh(
		"git show \"$(git for-each-ref --format='%(refname)' "
		"refs/llmc/salvage | head -1)\":one.txt"),
	    "1");
}

/* --- regression ------------------------------------------------------ */

#define TESTS                                                         \
	OVERSIGHT_ON "test_command = 'if test -e red.txt; then echo " \
		     "total: 51%; exit 1; fi; echo total: 80%'\n"

/* The tests fail in the second turn, and they cover less. */
static struct agent *
regress(void)
{
	struct agent *agent = auto_world_turn(1);

	oversight_world_sh("echo 1 >one.txt");
	oversight_world_lacks(oversight_world_sent_back(1), "OVERSIGHT");
	floor_has(oversight_world_recorded("iteration", NULL),
	    "\"testsPassing\":true");
	oversight_world_sh("echo 1 >red.txt");
	floor_has(oversight_world_sent_back(2), "Regression");
	return agent;
}

/* It is put right before the next look. */
TEST(a_regression_that_is_repaired_lands)
{
	struct agent *agent;

	oversight_world_begin(TESTS);
	agent = regress();
	oversight_world_sh(
	    "rm red.txt; git add one.txt; git commit -qm 'add one'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
	floor_has(oversight_world_recorded("outcome", NULL),
	    "\"outcome\":\"improved\"");
}
