/* SPDX-License-Identifier: ISC */

/* Pauses beside oversight: those of people and of budgets are of the worker,
 * and what it parks is no reason to hold one. */
#include <check.h>

#include "agent-message.h"
#include "agent.h"
#include "auto.h"
#include "json.h"
#include "life.h"
#include "oversight-world.h"
#include "persist.h"
#include "unit.h"

#define has oversight_world_has

static const char *
pause_it(struct oversight_world *w)
{
	struct floor_call *call =
	    floor_world_call(&w->world.floor, "worker.pause", "auto-1", "");

	ck_assert_ptr_null(floor_world_answer(&w->world.floor, call));
	return json_string_or(floor_call_result(call), "message", "");
}

/* As if the budget of the day was used up. */
static void
pause_at_budget(struct oversight_world *w)
{
	struct agent *agent = auto_world_agent(&w->world);

	agent_move(agent, WORKER_PAUSED, "the budget of the day is used up");
	agent->worker->over_budget = true;
	persist_changed(w->world.core);
}

const int unit_timeout = 120; /* seconds, each */

/* It was lost where a budget was the reason. */
TEST(a_note_reaches_a_worker_that_was_paused_at_a_budget)
{
	struct oversight_world w;
	struct agent *agent;

	oversight_world_begin(&w, OVERSIGHT_ON);
	agent = auto_world_turn(&w.world, 1);
	agent->worker->session.busy = false;
	pause_at_budget(&w);
	has(oversight_world_resume(&w, "auto-1", ", \"note\": \"be quick\""),
	    "cleared: budget");
	agent = auto_world_turn(&w.world, 2);
	has(fake_session_prompt(agent->session), "A person says: be quick");
	has(fake_session_prompt(agent->session), "a budget was used up");
	oversight_world_end(&w);
}

/* It was recorded as delivered, and never read. */
TEST(a_message_instead_of_a_parked_prompt_loses_no_redirection)
{
	struct oversight_world w;
	struct agent *agent;
	const char *text;
	int count;

	oversight_world_begin(&w, OVERSIGHT_ON);
	agent = auto_world_turn(&w.world, 1);
	oversight_world_sh(&w, "echo 1 >one.txt");
	for (int n = 1; n <= 3; n++) {
		oversight_world_tool_fails(&w, agent, n);
		if (n < 3)
			oversight_world_sent_back(&w, n);
	}
	pause_it(&w);
	fake_session_turn_ends(agent->session, "Again.");
	oversight_world_paused(&w);
	has(agent->worker->session.pending, REDIRECT);
	oversight_world_recorded(&w, "intervention", &count);
	ck_assert_int_eq(count, 0);
	ck_assert_int_eq(agent_message(agent, "use two spaces"), 0);
	agent = auto_world_turn(&w.world, 4);
	text = fake_session_prompt(agent->session);
	has(text, REDIRECT);
	has(text, "use two spaces");
	floor_world_settle(&w.world.floor);
	oversight_world_recorded(&w, "intervention", &count);
	ck_assert_int_eq(count, 1);
	oversight_world_end(&w);
}

/* The others are done; then nothing goes on before a person has looked. */
TEST_ROWS(a_run_until_empty_ends_beside_a_parked_task, 2)
{
	struct oversight_world w;
	struct agent *agent;

	oversight_world_begin(&w, OVERSIGHT_PAUSES);
	oversight_world_get_parked(&w);
	if (_i == 1)
		auto_world_task(&w.world, "b.md", "Another one\n");
	w.world.mode->until_empty = true;
	life_patrol(w.world.core);
	if (_i == 1) {
		agent = auto_world_turn_on(&w.world, "t2");
		auto_world_work(&w.world, "two.txt");
		fake_session_turn_ends(agent->session, "Done.");
	}
	floor_world_wait_stopped(&w.world.floor);
	ck_assert_int_eq(w.world.core->exit_status, 1);
	if (_i == 1)
		auto_world_filed(&w.world, "t2 landed; ");
	/* The next run finds it as it was. */
	oversight_world_die(&w);
	ck_assert_int_eq(
	    state_task(&w.world.core->state, "t1")->step, TASK_PARKED);
	oversight_world_end(&w);
}

TEST(what_waits_for_something_else_is_said)
{
	struct oversight_world w;
	struct agent *agent;

	oversight_world_begin(&w, "accept = false\n" OVERSIGHT_ON);
	agent = auto_world_turn(&w.world, 1);
	agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	has(oversight_world_resume(&w, "auto-1", ""), "llmc review auto-1");
	ck_assert_int_eq(agent->worker->status, WORKER_NEEDS_REVIEW);
	oversight_world_end(&w);
}
