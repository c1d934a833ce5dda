/* SPDX-License-Identifier: ISC */

/* Long turns are looked at in parts, and told of what is found, in the middle
 * of them or by an interruption. */
#include "oversight-world.h"
#include "behaviour.h"
#include "book-history.h"
#include "book.h"
#include "thresholds.h"
#include "watched.h"

/* Warned at the second equal error, told to change its approach at the fourth.
 */
#define SETTINGS OVERSIGHT_ON "thresholds = [\"stuck.sameErrorCount=2\"]\n"

struct wanted {
	int count;
};

static bool
is_recorded(void *arg)
{
	const struct wanted *wanted = arg;
	int count;

	oversight_world_recorded("iteration", &count);
	return count >= wanted->count;
}

/* A part of the turn, with the same error as the others. */
static void
get_stuck_inside(struct agent *agent, int part)
{
	oversight_world_tool_fails(agent, part);
	fake_session_progresses(agent->session);
	floor_world_wait(is_recorded, &(struct wanted){ .count = part });
	floor_world_settle();
}

static void
get_stuck(struct agent *agent)
{
	for (int n = 1; n <= 4; n++)
		get_stuck_inside(agent, n);
}

static bool
waits(void)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_world.workspace, "auto-1");

	return run_dir_waits(socket);
}

/* A tool ends, and its hook waits: what it is told. */
static const char *
tool_ends(const struct agent *agent, const char *data)
{
	static int ids;
	cleanup_free char *params =
	    xasprintf("{\"event\": \"PostToolUse\", \"worker\": \"auto-1\", "
		      "\"generation\": %d, \"id\": \"h%d\", \"data\": %s}",
		(int)agent->worker->session.generation, ++ids, data);
	struct json_object *result = floor_world_result(
	    floor_world_ask_as("auto-1", "hook.event", params));

	floor_world_settle();
	return result != NULL ? json_object_get_string(result) : "";
}

/* Four parts of one turn with the same error: the next tool of the session
 * itself is told, once; and tests are not judged there. */
TEST(a_long_turn_is_looked_at_in_parts)
{
	struct agent *agent;
	int count;

	tune("slice_tools=4");
	agent = oversight_world_begin_turn(SETTINGS);
	for (int n = 1; n <= 4; n++) {
		ck_assert(n > 2 || !waits());
		oversight_world_tool_fails(agent, n);
		for (int i = 0; i < 4; i++) {
			oversight_world_recorded("iteration", &count);
			ck_assert_int_eq(count, n - 1);
			fake_session_progresses(agent->session);
		}
		floor_world_wait(is_recorded, &(struct wanted){ .count = n });
		floor_world_settle();
	}
	floor_has(oversight_world_recorded("iteration", NULL), "\"number\":4");
	oversight_world_lacks(
	    oversight_world_recorded("iteration", NULL), "testsPassing");
	ck_assert(waits());
	ck_assert_str_eq(tool_ends(agent, "{\"agent_id\": \"a1\"}"), "");
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 0);
	floor_has(tool_ends(agent, "{}"), REDIRECT);
	ck_assert(!waits());
	floor_has(oversight_world_recorded("intervention", &count),
	    "\"by\":\"context\"");
	ck_assert_int_eq(count, 1);
	ck_assert_str_eq(tool_ends(agent, "{}"), "");
	ck_assert_int_eq(fake_session_interrupts(agent->session), 0);
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	/* The rest of the turn is the last part. */
	oversight_world_sh("git add one.txt; git commit -qm 'add one'");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
	floor_has(oversight_world_recorded("iteration", NULL), "\"number\":5");
}

static bool
is_interrupted(void *arg)
{
	const struct agent *agent = arg;

	return fake_session_interrupts(agent->session) > 0;
}

/* It was told, and goes on as before: once more, and so that it must listen. */
TEST(a_redirection_that_does_not_help_interrupts)
{
	struct agent *agent;
	int count;

	tune("slice_tools=1");
	agent = oversight_world_begin_turn(SETTINGS);
	get_stuck(agent);
	floor_has(tool_ends(agent, "{}"), REDIRECT);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 0);
	get_stuck_inside(agent, 5);
	auto_world_turn(2);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 1);
	floor_has(fake_session_prompt(agent->session), REDIRECT);
	floor_has(fake_session_prompt(agent->session), "You were interrupted");
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 1); /* it is the same one */
}

static void
call_again(struct agent *agent, int n)
{
	cleanup_free char *call = xasprintf(
	    "{\"type\":\"assistant\",\"message\":{\"id\":\"m%d\",\"content\":"
	    "[{\"type\":\"tool_use\",\"id\":\"c%d\",\"name\":\"Bash\","
	    "\"input\":{\"command\":\"make test\"}}]}}",
	    n, n);
	cleanup_free char *answer =
	    xasprintf("{\"type\":\"user\",\"message\":{\"content\":[{\"type\":"
		      "\"tool_result\",\"tool_use_id\":\"c%d\",\"content\":"
		      "\"1 test failed in %d ms\"}]}}",
		n, n);

	oversight_world_talk(agent, call);
	oversight_world_talk(agent, answer);
	fake_session_progresses(agent->session);
}

/* The transcript says what was called and answered while the turn goes on:
 * thirty calls without news warn, sixty redirect, and no more than that. In the
 * first part a file was changed. */
TEST(calls_without_news_are_told_in_the_turn)
{
	static const char *const told[] = { "", WARNING, REDIRECT, "", "" };
	struct agent *agent = oversight_world_begin_turn("");
	const char *text;
	int count;

	for (size_t part = 0; part < nitems(told); part++) {
		for (int i = 1; i <= 30; i++)
			call_again(agent, (int)part * 30 + i);
		floor_world_wait(
		    is_recorded, &(struct wanted){ .count = (int)part + 1 });
		floor_world_settle();
		text = tool_ends(agent, "{}");
		if (told[part][0] == '\0') {
			ck_assert_str_eq(text, "");
			continue;
		}
		floor_has(text, told[part]);
		floor_has(text, "make test: 30 times");
	}
	text = oversight_world_recorded("iteration", &count);
	floor_has(text, "\"calls\":[[");
	floor_has(text, "\"part\":true");
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 2);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	ck_assert_int_eq(fake_session_launches(agent->session), 1);
}

/* It has ended by itself when Escape comes, with work that could land. */
TEST(a_turn_that_ends_while_it_is_interrupted_goes_on)
{
	struct agent *agent;

	tune("slice_tools=1");
	oversight_world_begin(SETTINGS);
	agent = auto_world_turn(1);
	oversight_world_sh(
	    "echo 1 >one.txt; git add one.txt; git commit -qm 'add one'");
	get_stuck(agent);
	floor_has(tool_ends(agent, "{}"), REDIRECT);
	floor_world.store_held = true;
	oversight_world_tool_fails(agent, 5);
	fake_session_progresses(agent->session);
	floor_world_wait(is_interrupted, agent);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_store_answer();
	auto_world_turn(2);
	floor_world_settle();
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	floor_has(fake_session_prompt(agent->session), REDIRECT);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_filed("t1 landed; ");
}

/* No tool of its own ends after it. */
TEST(a_turn_without_tools_is_interrupted_after_a_slice)
{
	struct agent *agent;

	tune("slice_tools=1 slice=2000");
	agent = oversight_world_begin_turn(SETTINGS);
	get_stuck(agent);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 0);
	oversight_world_tool_fails(agent, 5); /* of a subagent */
	while (fake_session_interrupts(agent->session) == 0)
		auto_world_patrol();
	auto_world_turn(2);
	floor_has(fake_session_prompt(agent->session), REDIRECT);
}

/* The next one says it, if the first died before it was said. */
TEST(what_is_due_in_a_turn_survives_the_daemon)
{
	struct agent *agent;

	tune("slice_tools=1");
	agent = oversight_world_begin_turn(SETTINGS);
	get_stuck(agent);
	ck_assert(waits());
	oversight_world_die();
	agent = auto_world_turn(1);
	floor_world_until(!waits());
	floor_has(fake_session_prompt(agent->session), REDIRECT);
}

/* In the middle of a turn, too. */
TEST(a_turn_is_ended_for_a_pause)
{
	struct agent *agent;

	tune("slice_tools=1");
	agent = oversight_world_begin_turn(OVERSIGHT_QUICK);
	get_stuck_inside(agent, 1);
	floor_has(tool_ends(agent, "{}"), WARNING);
	get_stuck_inside(agent, 2);
	floor_has(tool_ends(agent, "{}"), REDIRECT);
	get_stuck_inside(agent, 3); /* a fresh session */
	agent = auto_world_turn(2);
	get_stuck_inside(agent, 4);
	oversight_world_parked();
	floor_has(state_task(&auto_world.core->state, "t1")->reason,
	    "stopped by oversight: Stuck");
}

/* --- the file -------------------------------------------------------- */

static bool
count_turn(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	(void)task;
	(void)seq;
	(void)record;
	(*(int *)arg)++;
	return true;
}

/* What is old is forgotten, and the rest is enough. */
TEST(a_long_history_is_bounded_and_goes_on_after_a_death)
{
	const struct progress_policy policy = { 0 };
	struct thresholds thresholds;
	struct book *book = NULL;
	struct watched *w;
	char words[4001];
	int count = 0;

	memset(words, 'w', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	ck_assert_int_eq(book_open(unit_path("llmc.db"), &book, NULL), 0);
	ck_assert_int_eq(book_history_open(book, NULL), 0);
	thresholds_init(&thresholds, PROFILE_DEFAULT);
	w = watched_new(book, "t1", &thresholds);
	for (int i = 1; i <= 1500; i++) {
		struct iteration *it = iteration_new(i);

		it->learnings = xstrdup(words);
		it->tree = xstrdup("0123456789012345678901234567890123456789");
		iteration_add_error(it, "it is broken");
		it->errors_known = true;
		watched_begin(w, "adam", it);
		if (i < 1500)
			watched_judge(w, "adam", &policy);
	}
	ck_assert_int_eq(
	    book_read_turns(book, "t1", 0, count_turn, &count, NULL), 0);
	ck_assert_int_gt(count, 100);
	ck_assert_int_le(count, 1100);
	watched_free(w);
	w = watched_new(book, "t1", &thresholds);
	ck_assert_int_eq(w->count, 1499);
	ck_assert_ptr_nonnull(w->open);
	ck_assert_int_ne(
	    behaviour_severity(w->behaviour, DETECTION_STUCK), SEVERITY_NONE);
	watched_judge(w, "adam", &policy);
	ck_assert_int_eq(w->count, 1500);
	watched_free(w);
	book_close(book);
}
