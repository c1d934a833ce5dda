/* SPDX-License-Identifier: ISC */

/* The facts of an iteration: words, attempts, costs. */
#include "oversight-world.h"
#include "book-history.h"
#include "oversight-floor.h"
#include "task.h"

static const char *
last(int count)
{
	const char *text;
	int recorded;

	text = oversight_world_recorded("iteration", &recorded);
	ck_assert_int_eq(recorded, count);
	return text;
}

/* --- words ----------------------------------------------------------- */

static void
turn_with_words(int n, const char *words)
{
	struct agent *agent = auto_world_turn(n);

	fake_session_turn_ends(agent->session, words);
	auto_world_turn(n + 1);
}

TEST(an_update_says_what_was_learned_and_what_blocks)
{
	const char *text;

	oversight_world_begin_turn(OVERSIGHT_ON);
	turn_with_words(1,
	    "A long story.\n\n```json\n{\"overseerUpdate\": {\"summary\": "
	    "\"The sums are right\", \"blockers\": [\"no key\", "
	    "\"no network\"]}}\n```\n");
	text = last(1);
	floor_has(text, "\"learnings\":\"The sums are right\"");
	floor_has(text, "\"blockers\":[\"no key\",\"no network\"]");
	/* Nothing is guessed from other text. */
	turn_with_words(2, "I am blocked by the network.");
	text = last(2);
	floor_has(text, "\"learnings\":\"I am blocked by the network.\"");
	oversight_world_lacks(text, "\"blockers\":[\"");
}

TEST(the_scope_is_that_of_the_task)
{
	struct agent *agent;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	turn_with_words(1, "One.");
	oversight_world_lacks(last(1), "\"scope\"");
	strv_add(&auto_task(agent)->launch.scope_paths, "src");
	oversight_world_sh("echo 2 >two.txt");
	turn_with_words(2, "Two.");
	floor_has(last(2), "\"scope\":[\"src\"]");
}

TEST(an_outage_is_no_error_of_the_work)
{
	const char *text;

	oversight_world_begin_turn(OVERSIGHT_ON);
	oversight_world_talk(auto_world_agent(),
	    "{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":"
	    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"API Error: 400 Overloaded\"}]}}\n");
	oversight_world_tool_fails(auto_world_agent(), 7);
	turn_with_words(1, "It works.");
	text = last(1);
	floor_has(text, "\"failureClass\"");
	oversight_world_lacks(text, "Overloaded");
}

/* --- attempts -------------------------------------------------------- */

TEST(iterations_are_counted_over_all_attempts)
{
	struct agent *agent;
	const char *text;

	tune("expected_iterations=9");
	oversight_world_begin("max_attempts = 3\nmax_turns = 2\n[oversight]\n"
			      "mode = \"act\"\n");
	agent = auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt; echo 1 >two.txt");
	oversight_world_sent_back(1);
	fake_session_turn_ends(agent->session, "Not done.");
	/* The attempt has failed; the next one begins without its files. */
	agent = auto_world_turn(3);
	floor_has(last(2), "\"number\":2");
	oversight_world_sh("test ! -e one.txt; echo 2 >two.txt");
	fake_session_turn_ends(agent->session, "Not done.");
	auto_world_turn(4);
	text = last(3);
	floor_has(text, "\"number\":3");
	floor_has(text, "\"maxIterations\":9");
	floor_has(text, "\"artifactsModified\":[\"two.txt\"]");
}

/* --- costs ----------------------------------------------------------- */

/* No price is known for this model. */
#define USED(id, tokens)                                    \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id \
	"\",\"model\":\"somebody-else-1\",\"content\":[{"   \
	"\"type\":\"text\",\"text\":\"x\"}],\"usage\":{"    \
	"\"input_tokens\":" tokens ",\"output_tokens\":7,"  \
	"\"cache_read_input_tokens\":5}}}"
#define COST(dollars, tokens, more)                                     \
	"{\"type\":\"cost-state\",\"totalCostUSD\":" dollars            \
	",\"modelUsage\":{\"somebody-else-1\":{\"inputTokens\":" tokens \
	",\"outputTokens\":" more ",\"cacheReadInputTokens\":" more "}}}"

TEST(a_cost_that_comes_late_is_counted_once)
{
	struct agent *agent;
	const char *text;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	oversight_world_talk(agent, USED("m1", "100"));
	oversight_world_sent_back(1);
	text = last(1);
	floor_has(text, "\"input\":100");
	floor_has(text, "\"output\":7");
	floor_has(text, "\"cacheRead\":5");
	oversight_world_lacks(text, "\"cost\":");
	/* Now Claude Code says what both turns have cost. */
	oversight_world_talk(agent, USED("m2", "50"));
	oversight_world_talk(agent, COST("0.75", "150", "14"));
	oversight_world_sent_back(2);
	text = last(2);
	floor_has(text, "\"input\":50");
	floor_has(text, "\"cost\":0.75");
	oversight_world_sent_back(3);
	text = last(3);
	floor_has(text, "\"input\":0");
	floor_has(text, "\"cost\":0.0");
	/* What is known only when it has landed is of the last turn. */
	oversight_world_sh("git add one.txt; git commit -qm 'add one'");
	agent = auto_world_turn(4);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(agent, WORKER_ACCEPTING);
	oversight_world_talk(agent, USED("m3", "50"));
	oversight_world_talk(agent, COST("1.00", "200", "21"));
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
	floor_has(last(4), "\"cost\":0.25");
}

/* $4 for a million tokens of input. */
#define ESTIMATED(id)                                                   \
	"{\"type\":\"assistant\",\"message\":{\"id\":\"" id             \
	"\",\"model\":\"claude-opus-5-5\",\"content\":[],\"usage\":{\"" \
	"input_tokens\":1000000}}}"
#define REPORTED(dollars, tokens)                            \
	"{\"type\":\"cost-state\",\"totalCostUSD\":" dollars \
	",\"modelUsage\":{\"claude-opus-5-5\":{\"inputTokens\":" tokens "}}}"

TEST(an_estimate_that_was_too_high_is_made_up_for)
{
	struct agent *agent;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	oversight_world_talk(agent, ESTIMATED("m1"));
	oversight_world_sent_back(1);
	floor_has(last(1), "\"cost\":4.0");
	oversight_world_talk(agent, REPORTED("1.0", "1000000"));
	oversight_world_sent_back(2);
	floor_has(last(2), "\"cost\":0.0");
	oversight_world_talk(agent, ESTIMATED("m2"));
	oversight_world_talk(agent, REPORTED("4.5", "2000000"));
	oversight_world_sent_back(3);
	floor_has(last(3), "\"cost\":0.5");
}

/* The daemon died after it had judged a turn, and before the next prompt. The
 * turn's end is seen again. */
TEST(a_turn_that_is_seen_again_after_a_death_is_not_another_one)
{
	struct agent *agent;
	const struct auto_mode *mode;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	oversight_world_talk(agent, USED("m1", "100"));
	oversight_world_sent_back(1);
	/* As the next daemon has it. */
	oversight_turn_clock(oversight_world.floor, "auto-1")->since_ms = 0;
	mode = auto_world.mode;
	mode->watch->seen(mode->watch_arg, agent, NULL, "I tried again.");
	mode->watch->held(mode->watch_arg, agent, "Go on.");
	last(1);
	/* But what it said since then is. */
	oversight_world_talk(agent, USED("m2", "1"));
	mode->watch->seen(mode->watch_arg, agent, NULL, "Once more.");
	mode->watch->held(mode->watch_arg, agent, "Go on.");
	floor_has(last(2), "Once more.");
}

/* A record a line. */
static void
file_tasks(char *lines)
{
	char *line;

	while ((line = strsep(&lines, "\n")) != NULL && *line != '\0') {
		cleanup_json struct json_object *json =
		    json_tokener_parse(line);
		struct task *task = NULL;

		ck_assert_int_eq(task_from_json(json, "", &task, NULL), 0);
		book_file_task(auto_world.core->book, task);
		task_free(task);
	}
}

/* Of landed tasks of the same kind only; and not of nineteen. */
TEST_ROWS(the_most_of_twenty_landed_tasks_is_the_estimate, 2)
{
	memset(&oversight_world, 0, sizeof oversight_world);
	buf_init(&oversight_world.transcript);
	auto_world_begin(OVERSIGHT_ON);
	oversight_world.floor = oversight_floor_new(auto_world.mode);
	for (int i = 1; i <= 19 + _i; i++) {
		cleanup_free char *lines = xasprintf(
		    "{\"id\":\"t10%d\",\"source\":\"folder\",\"outcome\":"
		    "\"landed\",\"cost\":%d0000}\n"
		    "{\"id\":\"t20%d\",\"source\":\"folder\",\"outcome\":"
		    "\"failed\",\"cost\":9000000}\n"
		    "{\"id\":\"t30%d\",\"source\":\"plan\",\"outcome\":"
		    "\"landed\",\"cost\":9000000}\n"
		    "{\"id\":\"t40%d\",\"source\":\"folder\",\"outcome\":"
		    "\"landed\",\"cost\":9000000,\"run\":{\"has_spawned\":"
		    "true}}\n"
		    "{\"id\":\"t50%d\",\"source\":\"folder\",\"outcome\":"
		    "\"landed\",\"cost\":9000000,\"run\":{\"mail_turns\":"
		    "2}}\n",
		    i, i, i, i, i, i);

		file_tasks(lines);
	}
	auto_world_task("a.md", "Make the numbers add up\n");
	auto_world_live();
	auto_world_turn(1);
	oversight_world_sh("echo 1 >one.txt");
	oversight_world_sent_back(1);
	if (_i > 0)
		floor_has(last(1), "\"estimatedCost\":0.2");
	else
		oversight_world_lacks(last(1), "estimatedCost");
}

/* More than twice the most of them: the session is told once, and goes on. */
TEST(work_far_beyond_its_kind_is_warned_of_once)
{
	int count;

	memset(&oversight_world, 0, sizeof oversight_world);
	buf_init(&oversight_world.transcript);
	auto_world_begin("");
	oversight_world.floor = oversight_floor_new(auto_world.mode);
	for (int i = 1; i <= 20; i++) {
		cleanup_free char *line = xasprintf(
		    "{\"id\":\"t10%d\",\"source\":\"folder\",\"outcome\":"
		    "\"landed\",\"cost\":4000000}\n",
		    i);

		file_tasks(line);
	}
	auto_world_task("a.md", "Make the numbers add up\n");
	auto_world_live();
	for (int n = 1; n <= 5; n++) {
		cleanup_free char *used = xasprintf(
		    "{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\","
		    "\"model\":\"claude-opus-5-5\",\"content\":[],\"usage\":"
		    "{\"input_tokens\":1000000}}}",
		    n);
		cleanup_free char *work = xasprintf("echo %d >%d.txt", n, n);
		const char *prompt;

		oversight_world_talk(auto_world_turn(n), used);
		oversight_world_sh(work);
		prompt = oversight_world_sent_back(n);
		if (n == 3)
			floor_has(prompt, "Resource burn");
		else
			oversight_world_lacks(prompt, "Resource burn");
	}
	floor_has(oversight_world_recorded("check", NULL), "\"costRatio\":5");
	floor_has(oversight_world_recorded("intervention", &count), "\"warn\"");
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t1")->step, TASK_ASSIGNED);
}

/* A parent is told the result of each child, which takes a turn. */
TEST_ROWS(who_waits_for_others_is_not_measured_by_turns, 2)
{
	struct task *t;

	tune("expected_iterations=1");
	oversight_world_begin(OVERSIGHT_ON);
	t = auto_task(auto_world_turn(1));
	if (_i == 0)
		t->attempt.has_spawned = true;
	else
		t->attempt.mail_turns = 1;
	oversight_world_sh("echo 1 >one.txt");
	for (int n = 1; n <= 6; n++)
		oversight_world_lacks(oversight_world_sent_back(n), "Resource");
	floor_has(last(6), "\"maxIterations\":1");
	oversight_world_lacks(
	    oversight_world_recorded("check", NULL), "resource_burn");
}

/* --- what is only logged ------------------------------------------------ */

#define has floor_has

static const char *const drift[] = {
	"Painted the banner of the landing page in a warmer orange.",
	"Chose another typeface for the headlines of the blog.",
	"Moved the photograph gallery below the fold.",
	"Translated the imprint into Portuguese.",
	"Rounded the corners of every button in the shop.",
};

/* A turn that says something else than its task: what it is told next. */
static const char *
say(int n, const char *words)
{
	struct agent *agent = auto_world_turn(n);

	fake_session_turn_ends(agent->session, words);
	agent = auto_world_turn(n + 1);
	return fake_session_prompt(agent->session);
}

static const char *
drifts(int n)
{
	return say(n, drift[(size_t)n % nitems(drift)]);
}

/* Whatever it says, for as long as it likes: a task that does not say how it
 * is judged has no words to drift away from. */
TEST(words_alone_say_nothing_of_a_task_without_a_scope)
{
	int count = 0;

	oversight_world_begin_turn(
	    OVERSIGHT_ON "thresholds = [\"stuck.sameErrorCount=32\"]\n");
	for (int n = 1; n <= 15; n++) {
		cleanup_free char *work = xasprintf("echo %d >one.txt", n);

		oversight_world_sh(work);
		oversight_world_lacks(drifts(n), "OVERSIGHT");
	}
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 0);
	has(oversight_world_recorded("check", NULL), "\"status\":\"healthy\"");
	ck_assert_str_eq(auto_world_agent()->worker->health, "healthy");
}

/* All five of them, known or not. */
TEST(each_check_has_the_five_metrics)
{
	static const char *const metrics[] = { "progressRate", "errorPatterns",
		"resourceUsage", "timeElapsedMs", "qualityTrajectory" };

	oversight_world_begin(OVERSIGHT_QUICK);
	oversight_world_get_parked();
	for (size_t i = 0; i < nitems(metrics); i++)
		has(oversight_world_recorded("check", NULL), metrics[i]);
}
