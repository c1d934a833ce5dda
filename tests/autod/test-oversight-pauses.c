/* SPDX-License-Identifier: ISC */

/* Why a worker is paused is a set, and only what may take a reason away does.
 */
#include <check.h>

#include "agent-message.h"
#include "agent.h"
#include "auto.h"
#include "hold.h"
#include "json.h"
#include "life.h"
#include "mem.h"
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

static struct worker *
worker(struct oversight_world *w)
{
	return auto_world_agent(&w->world)->worker;
}

START_TEST(a_person_adds_a_reason_and_resume_clears_both_and_says_so)
{
	struct oversight_world w;

	oversight_world_begin(&w, OVERSIGHT_ON);
	oversight_world_get_paused(&w);
	has(pause_it(&w), "is paused, and was already for: oversight");
	ck_assert_uint_eq(worker_holds(worker(&w)),
	    WORKER_HOLD_PERSON | WORKER_HOLD_OVERSIGHT);
	/* The next daemon has both. */
	oversight_world_die(&w);
	floor_world_settle(&w.world.floor);
	ck_assert_uint_eq(worker_holds(worker(&w)),
	    WORKER_HOLD_PERSON | WORKER_HOLD_OVERSIGHT);
	has(oversight_world_resume(&w, "auto-1", ""),
	    "cleared: person, oversight");
	ck_assert_uint_eq(worker_holds(worker(&w)), 0);
	auto_world_turn(&w.world, 1);
	oversight_world_end(&w);
}
END_TEST

START_TEST(resume_of_all_takes_the_other_reasons_and_leaves_oversight)
{
	struct oversight_world w;
	const char *text;

	oversight_world_begin(&w, OVERSIGHT_ON);
	oversight_world_get_paused(&w);
	pause_it(&w);
	text = oversight_world_resume(&w, NULL, "");
	has(text, "cleared: person");
	has(text, "auto-1 stays paused by oversight");
	has(text, "llmc resume auto-1");
	ck_assert_uint_eq(worker_holds(worker(&w)), WORKER_HOLD_OVERSIGHT);
	ck_assert_int_eq(worker(&w)->status, WORKER_PAUSED);
	oversight_world_end(&w);
}
END_TEST

/* As if the budget of the day was used up. */
static void
pause_at_budget(struct oversight_world *w)
{
	struct agent *agent = auto_world_agent(&w->world);

	agent_move(agent, WORKER_PAUSED, "the budget of the day is used up");
	agent->worker->over_budget = true;
	persist_changed(w->world.core);
}

START_TEST(oversight_adds_its_reason_to_that_of_a_budget)
{
	struct oversight_world w;
	struct agent *agent;
	const struct task *t;

	oversight_world_begin(&w, OVERSIGHT_ON);
	agent = auto_world_turn(&w.world, 1);
	t = auto_task(agent);
	agent->worker->session.busy = false;
	pause_at_budget(&w);
	ck_assert(hold_for_oversight(agent, "paused by oversight: x", NULL));
	ck_assert_uint_eq(worker_holds(agent->worker),
	    WORKER_HOLD_BUDGET | WORKER_HOLD_OVERSIGHT);
	/* The next day, or all of them, ends the one and not the other. */
	auto_world_patrol(&w.world);
	has(oversight_world_resume(&w, NULL, ""),
	    "cleared: budget (the same amount is granted once more)");
	ck_assert_uint_eq(worker_holds(agent->worker), WORKER_HOLD_OVERSIGHT);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	ck_assert(!agent->past_budget);
	ck_assert_int_ne(t->time_allowed_ms, 0);
	oversight_world_end(&w);
}
END_TEST

START_TEST(a_budget_is_granted_only_where_it_was_a_reason)
{
	struct oversight_world w;
	const struct agent *agent;

	oversight_world_begin(&w, OVERSIGHT_ON);
	oversight_world_get_paused(&w);
	agent = auto_world_agent(&w.world);
	oversight_world_resume(&w, "auto-1", "");
	ck_assert_int_eq(auto_task(agent)->time_allowed_ms, 0);
	ck_assert_int_eq(auto_task(agent)->turns_allowed, 0);
	ck_assert(!agent->past_budget);
	oversight_world_end(&w);
}
END_TEST

/* It was lost where a budget was the reason. */
START_TEST(a_note_reaches_a_worker_that_was_paused_at_a_budget)
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
END_TEST

/* It was recorded as delivered, and never read. */
START_TEST(a_message_instead_of_a_parked_prompt_loses_no_redirection)
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
END_TEST

/* Nothing goes on before a person has looked. */
START_TEST(a_run_until_empty_ends_when_its_last_worker_is_paused)
{
	struct oversight_world w;

	oversight_world_begin(&w, OVERSIGHT_ON);
	oversight_world_get_paused(&w);
	if (_i == 1)
		auto_world_task(&w.world, "b.md", "Another one\n");
	w.world.mode->until_empty = true;
	life_patrol(w.world.core);
	floor_world_wait_stopped(&w.world.floor);
	ck_assert_int_eq(w.world.core->exit_status, 1);
	/* The next run finds it as it was. */
	oversight_world_die(&w);
	ck_assert_uint_eq(worker_holds(worker(&w)), WORKER_HOLD_OVERSIGHT);
	ck_assert_str_eq(worker(&w)->task, "t1");
	oversight_world_end(&w);
}
END_TEST

START_TEST(what_waits_for_something_else_is_said)
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
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("oversight-pauses");
	TCase *loops = tcase_create("loops");

	unit_case(suite, "pauses",
	    (const TTest *const[]){
		a_person_adds_a_reason_and_resume_clears_both_and_says_so,
		resume_of_all_takes_the_other_reasons_and_leaves_oversight,
		oversight_adds_its_reason_to_that_of_a_budget,
		a_budget_is_granted_only_where_it_was_a_reason,
		a_note_reaches_a_worker_that_was_paused_at_a_budget,
		a_message_instead_of_a_parked_prompt_loses_no_redirection,
		what_waits_for_something_else_is_said, NULL });
	tcase_set_timeout(loops, 120);
	tcase_add_loop_test(
	    loops, a_run_until_empty_ends_when_its_last_worker_is_paused, 0, 2);
	suite_add_tcase(suite, loops);
	return suite;
}
