/* SPDX-License-Identifier: ISC */

/* Pauses beside oversight: those of people and of budgets are of the worker,
 * and what it parks is no reason to hold one. */
#include "oversight-world.h"
#include "agent.h"

#define has floor_has

static const char *
pause_it(void)
{
	struct floor_call *call =
	    floor_world_call("worker.pause", "auto-1", "");

	ck_assert_ptr_null(floor_world_answer(call));
	return json_string_or(floor_call_result(call), "message", "");
}

/* As if the budget of the day was used up. */
static void
pause_at_budget(void)
{
	struct agent *agent = auto_world_agent();

	agent_move(agent, WORKER_PAUSED, "the budget of the day is used up");
	agent->worker->over_budget = true;
	persist_changed(auto_world.core);
}

const int unit_timeout = 120; /* seconds, each */

/* It was lost where a budget was the reason. */
TEST(a_note_reaches_a_worker_that_was_paused_at_a_budget)
{
	struct agent *agent;

	oversight_world_begin(OVERSIGHT_ON);
	agent = auto_world_turn(1);
	agent->worker->session.busy = false;
	pause_at_budget();
	has(oversight_world_resume("auto-1", ", \"note\": \"be quick\""),
	    "cleared: budget");
	agent = auto_world_turn(2);
	has(fake_session_prompt(agent->session), "A person says: be quick");
	has(fake_session_prompt(agent->session), "a budget was used up");
}

/* It was recorded as delivered, and never read. */
TEST(a_message_instead_of_a_parked_prompt_loses_no_redirection)
{
	struct agent *agent;
	const char *text;
	int count;

	agent = oversight_world_begin_turn(OVERSIGHT_ON);
	for (int n = 1; n <= 3; n++) {
		oversight_world_tool_fails(agent, n);
		if (n < 3)
			oversight_world_sent_back(n);
	}
	pause_it();
	fake_session_turn_ends(agent->session, "Again.");
	oversight_world_paused();
	has(agent->worker->session.pending, WARNING);
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 0);
	ck_assert_int_eq(agent_message(agent, "use two spaces"), 0);
	agent = auto_world_turn(4);
	text = fake_session_prompt(agent->session);
	has(text, WARNING);
	has(text, "use two spaces");
	floor_world_settle();
	oversight_world_recorded("intervention", &count);
	ck_assert_int_eq(count, 1);
}

/* The others are done; then nothing goes on before a person has looked. */
TEST_ROWS(a_run_until_empty_ends_beside_a_parked_task, 2)
{
	struct agent *agent;

	oversight_world_begin(OVERSIGHT_QUICK);
	oversight_world_get_parked();
	if (_i == 1)
		auto_world_task("b.md", "Another one\n");
	auto_world.mode->until_empty = true;
	life_patrol(auto_world.core);
	if (_i == 1) {
		agent = auto_world_turn_on("t2");
		auto_world_work("two.txt");
		fake_session_turn_ends(agent->session, "Done.");
	}
	floor_world_wait_stopped();
	ck_assert_int_eq(auto_world.core->exit_status, 1);
	if (_i == 1)
		auto_world_filed("t2 landed; ");
	/* The next run finds it as it was. */
	oversight_world_die();
	ck_assert_int_eq(
	    state_task(&auto_world.core->state, "t1")->step, TASK_PARKED);
}

TEST(what_waits_for_something_else_is_said)
{
	struct agent *agent;

	oversight_world_begin("accept = false\n" OVERSIGHT_ON);
	agent = auto_world_turn(1);
	agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	has(oversight_world_resume("auto-1", ""), "llmc review auto-1");
	ck_assert_int_eq(agent->worker->status, WORKER_NEEDS_REVIEW);
}
