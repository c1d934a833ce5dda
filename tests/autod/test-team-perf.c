/* SPDX-License-Identifier: ISC */

/* Every run that ends has one record, whenever the
 * daemon dies. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "book-history.h"
#include "agent.h"
#include "auto.h"
#include "json.h"
#include "outcome.h"
#include "task-run.h"
#include "team-world.h"
#include "unit.h"

static struct agent *
begin(struct team_world *w, const char *settings)
{
	team_world_begin(w, settings);
	auto_world_task(&w->world, "a.md", "Add the numbers\n");
	auto_world_live(&w->world);
	return auto_world_turn(&w->world, 1);
}

static void
on_attempt(struct json_object *record, void *arg)
{
	buf_addf(arg, "%s %s; ", json_string_or(record, "runId", ""),
	    json_string_or(record, "outcome", ""));
}

/* "t1-1 success; t1-2 failure; " */
static void
recorded(struct team_world *w, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;

	ck_assert_int_eq(book_read_attempts(w->world.core->book, 0,
			     clock_wall_ms(), on_attempt, &text, NULL),
	    0);
	ck_assert_str_eq(text.data, want);
}

static void
finish(struct team_world *w, struct agent *agent)
{
	auto_world_work(&w->world, "sum.c");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&w->world);
	floor_world_settle(&w->world.floor);
}

TEST(a_task_that_lands_has_a_record)
{
	struct team_world w;
	struct agent *agent = begin(&w, NULL);

	ck_assert_ptr_null(team_world_tool(&w, "auto-1", "report_completion",
	    "{\"summary\": \"Half of it\", \"status\": \"partial\"}"));
	finish(&w, agent);
	auto_world_filed(&w.world, "t1 landed; ");
	recorded(&w, "t1-1 partial; ");
	/* It is not in the task's record as well. */
	ck_assert_ptr_null(
	    strstr(auto_world_record(&w.world, "t1"), "\"ended\""));
	team_world_end(&w);
}

TEST(a_task_that_is_tried_again_has_two)
{
	struct team_world w;
	struct agent *agent = begin(&w, "max_attempts = 2\n");

	auto_task(agent)->run->timed_out = true;
	outcome_attempt_failed(w.world.mode, agent, "it took too long");
	agent = auto_world_turn(&w.world, 2);
	floor_world_settle(&w.world.floor);
	recorded(&w, "t1-1 timeout; ");
	ck_assert_ptr_null(auto_task(agent)->run->ended);
	outcome_attempt_failed(w.world.mode, agent, "no");
	auto_world_wait_done(&w.world);
	recorded(&w, "t1-1 timeout; t1-2 failure; ");
	team_world_end(&w);
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
		struct team_world w;
		struct agent *agent = begin(&w, "max_attempts = 2\n");
		int left = pass;

		floor_world_settle(&w.world.floor);
		outcome_attempt_failed(w.world.mode, agent, "no");
		floor_world_wait_closely(&w.world.floor, is_pass, &left);
		team_world_die(&w);
		/* What was not saved did not happen: the same run goes on. */
		agent = auto_world_agent(&w.world);
		if (auto_task(agent) != NULL &&
		    auto_task(agent)->attempts == 1 &&
		    auto_task(agent)->step == TASK_ASSIGNED)
			outcome_attempt_failed(w.world.mode, agent, "no");
		agent = auto_world_turn_on(&w.world, "t1");
		floor_world_settle(&w.world.floor);
		recorded(&w, "t1-1 failure; ");
		finish(&w, agent);
		recorded(&w, "t1-1 failure; t1-2 success; ");
		team_world_end(&w);
	}
}
