/* SPDX-License-Identifier: ISC */

/* Every run that ends has one record, whenever the
 * daemon dies. */
#include "team-world.h"
#include "book-history.h"
#include "outcome.h"

static struct agent *
begin(const char *settings)
{
	team_world_begin(settings);
	auto_world_task("a.md", "Add the numbers\n");
	auto_world_live();
	return auto_world_turn(1);
}

static void
on_attempt(struct json_object *record, void *arg)
{
	buf_addf(arg, "%s %s; ", json_string_or(record, "runId", ""),
	    json_string_or(record, "outcome", ""));
}

/* "t1-1 success; t1-2 failure; " */
static void
recorded(const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(book_read_attempts(auto_world.core->book, 0,
			     clock_wall_ms(), on_attempt, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, want);
}

static void
finish(struct agent *agent)
{
	auto_world_work("sum.c");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	floor_world_settle();
}

TEST(a_task_that_lands_has_a_record)
{
	struct agent *agent = begin(NULL);

	ck_assert_ptr_null(team_world_tool("auto-1", "report_completion",
	    "{\"summary\": \"Half of it\", \"status\": \"partial\"}"));
	finish(agent);
	auto_world_filed("t1 landed; ");
	recorded("t1-1 partial; ");
	/* It is not in the task's record as well. */
	ck_assert_ptr_null(strstr(auto_world_record("t1"), "\"ended\""));
}

TEST(a_task_that_is_tried_again_has_two)
{
	struct agent *agent = begin("max_attempts = 2\n");

	auto_task(agent)->attempt.timed_out = true;
	outcome_attempt_failed(auto_world.mode, agent, "it took too long");
	agent = auto_world_turn(2);
	floor_world_settle();
	recorded("t1-1 timeout; ");
	ck_assert_ptr_null(auto_task(agent)->attempt.ended);
	outcome_attempt_failed(auto_world.mode, agent, "no");
	auto_world_wait_done();
	recorded("t1-1 timeout; t1-2 failure; ");
}

/* The daemon dies n passes of the loop after the attempt has ended. */
static bool
is_pass(void *arg)
{
	int *left = arg;

	return (*left)-- <= 0;
}

TEST(a_daemon_that_dies_writes_it_neither_twice_nor_never)
{
	for (int pass = 0; pass < 12; pass++) {
		struct agent *agent = begin("max_attempts = 2\n");
		int left = pass;

		floor_world_settle();
		outcome_attempt_failed(auto_world.mode, agent, "no");
		floor_world_wait_closely(is_pass, &left);
		team_world_die();
		/* What was not saved did not happen: the same run goes on. */
		agent = auto_world_agent();
		if (auto_task(agent) != NULL &&
		    auto_task(agent)->attempts == 1 &&
		    auto_task(agent)->step == TASK_ASSIGNED)
			outcome_attempt_failed(auto_world.mode, agent, "no");
		agent = auto_world_turn_on("t1");
		floor_world_settle();
		recorded("t1-1 failure; ");
		finish(agent);
		recorded("t1-1 failure; t1-2 success; ");
		team_world_end();
	}
}
