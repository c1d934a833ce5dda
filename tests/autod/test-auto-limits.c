/* SPDX-License-Identifier: ISC */

/* What stops a worker, or all of them: budgets, silence, outages, a checkout in
 * the way, workers that cannot continue. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "backoff.h"
#include "clock.h"
#include "json.h"
#include "mem.h"
#include "serve.h"
#include "stalls.h"
#include "unit.h"

#define MINUTE_MS (60 * 1000)

static struct agent *
begin_turn(struct auto_world *world, const char *settings)
{
	struct agent *agent;

	auto_world_begin(world, settings);
	auto_world_task(world, "a.md", "Do it\n");
	auto_world_live(world);
	agent = auto_world_turn(world, 1);
	auto_world_told(world, "task_assigned t1; ");
	return agent;
}

/* --- budgets --------------------------------------------------------- */

static struct floor_call *
resume(struct auto_world *world, const char *worker)
{
	struct floor_call *call =
	    floor_world_call(&world->floor, "auto.resume", worker, "");

	floor_world_answer(&world->floor, call);
	return call;
}

/* It is parked with its work, and its worker does the next one. */
TEST(a_task_is_parked_at_its_budget)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "[budget]\ntask_tokens = 1000\n");
	const struct task *t = world.core->state.tasks[0];
	struct floor_call *call;

	auto_world_work(&world, "b.txt");
	floor_world_wt(&world.floor, "auto-1", "echo more >c.txt");
	auto_world_task(&world, "b.md", "Do more\n");
	fake_session_uses(agent->session, 999);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	fake_session_uses(agent->session, 1000);
	auto_world_turn(&world, 2);
	auto_world_told(
	    &world, "budget t1 task; task_parked t1; task_assigned t2; ");
	ck_assert_int_eq(t->step, TASK_PARKED);
	ck_assert_ptr_nonnull(strstr(t->reason, "llmc task retry t1"));
	ck_assert_ptr_nonnull(t->from);
	floor_world_sh(&world.floor,
	    "git cat-file -e refs/llmc/task/t1:b.txt && "
	    "git cat-file -e refs/llmc/task/t1:c.txt");

	ck_assert_int_eq(floor_call_code(resume(&world, "eve")), API_UNKNOWN);
	call = resume(&world, "t1");
	ck_assert_str_eq(json_string_or(floor_call_result(call), "message", ""),
	    "Continuing.");
	ck_assert_int_eq(t->step, TASK_WAITING);
	auto_world_work(&world, "d.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_turn(&world, 3);
	ck_assert_str_eq(agent->worker->task, "t1");
	ck_assert_int_eq(t->attempts, 1); /* it goes on */
	floor_world_wt(
	    &world.floor, "auto-1", "test -e b.txt && test -e c.txt");
	/* The same amount again. */
	fake_session_uses(agent->session, 1999);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(t->step, TASK_ASSIGNED);
	auto_world_end(&world);
}

/* Its work is what the branch had before. */
TEST(a_task_can_be_parked_in_the_middle_of_a_rebase)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "[budget]\ntask_tokens = 1000\n");
	const struct task *t = world.core->state.tasks[0];
	const char *work;

	auto_world_work(&world, "b.txt");
	work = floor_world_wt(&world.floor, "auto-1", "git rev-parse HEAD");
	floor_world_sh(&world.floor,
	    "echo theirs >b.txt; git add b.txt; git commit -qm theirs");
	floor_world_wt(
	    &world.floor, "auto-1", "! git rebase -q main >/dev/null 2>&1");
	fake_session_uses(agent->session, 1000);
	floor_world_wait_status(&world.floor, agent, WORKER_IDLE);
	ck_assert_int_eq(t->step, TASK_PARKED);
	ck_assert_ptr_nonnull(t->from);
	ck_assert_str_eq(t->from, work);
	ck_assert_int_eq(t->attempts, 1);
	auto_world_end(&world);
}

/* Finished work lands, whatever it cost; a task that would go on is parked. */
TEST(a_turn_too_many_is_not_begun)
{
	struct auto_world world;
	struct floor_call *call;
	struct agent *agent = begin_turn(
	    &world, "require_commit = true\n[budget]\ntask_turns = 1\n");

	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_status(&world.floor, agent, WORKER_IDLE);
	floor_world_settle(&world.floor);
	auto_world_told(&world, "budget t1 task; task_parked t1; exhausted; ");
	ck_assert_int_eq(fake_session_prompts(agent->session), 1);
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_PARKED);
	call = floor_world_ask(&world.floor, "task.retry", "{\"task\":\"t1\"}");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	auto_world_turn(&world, 2);
	ck_assert_int_eq(world.core->state.tasks[0]->attempts, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait(&world, "task_finished t1 landed; ");
	auto_world_end(&world);
}

TEST(everybody_pauses_at_the_budget_of_the_day)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "[budget]\nday_tokens = 1000\n");

	fake_session_uses(agent->session, 1000);
	auto_world_task(&world, "b.md", "Do more\n");
	auto_world_patrol(&world);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	auto_world_told(&world, "fleet_paused; budget t1 day; ");
	ck_assert_uint_eq(world.core->state.task_count, 1); /* none is taken */
	/* Until the next day. */
	world.core->state.today.day--;
	auto_world_patrol(&world);
	auto_world_turn(&world, 2);
	auto_world_told(&world, "fleet_resumed; ");
	ck_assert_ptr_null(world.core->state.paused);
	/* Or until a person resumes it. */
	fake_session_uses(agent->session, 2000);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	resume(&world, NULL);
	auto_world_turn(&world, 3);
	auto_world_end(&world);
}

/* The story: its work is checked while the budget is reached. */
TEST(who_cannot_be_paused_at_once_is_paused_later)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world,
	    "check_command = \"until test -e ../../go; do sleep 0.05; done; "
	    "false\"\nrequire_commit = true\n[budget]\nday_tokens = 1000\n");

	fake_session_turn_ends(agent->session, "Done.");
	ck_assert(agent_is_taken(agent));
	fake_session_uses(agent->session, 1000);
	auto_world_told(&world, "fleet_paused; ");
	floor_world_sh(&world.floor, ">.llmc/go");
	auto_world_turn(&world, 2);
	auto_world_patrol(&world);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	/* One that a person resumes works on, the fleet stays paused. */
	resume(&world, "auto-1");
	auto_world_turn(&world, 3);
	fake_session_uses(agent->session, 1100);
	auto_world_patrol(&world);
	ck_assert_int_eq(agent->worker->status, WORKER_WORKING);
	ck_assert_ptr_nonnull(world.core->state.paused);
	auto_world_end(&world);
}

/* The story: what is spent after midnight, before the next patrol, belongs to
 * the new day. */
TEST(a_new_day_begins_with_what_was_spent_in_it)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "[budget]\nday_tokens = 1000\n");

	fake_session_uses(agent->session, 1000);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	world.core->state.today.day--;
	fake_session_uses(agent->session, 1300);
	ck_assert_int_eq(world.core->state.today.tokens, 300);
	auto_world_patrol(&world);
	auto_world_turn(&world, 2);
	ck_assert_ptr_null(world.core->state.paused);
	/* And its budget holds. */
	fake_session_uses(agent->session, 2000);
	floor_world_settle(&world.floor);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	auto_world_end(&world);
}

/* The next day gives it its budget, but only a person resumes it. */
TEST(a_new_day_resumes_nobody_whom_a_person_stopped)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "[budget]\nday_tokens = 1000\n");
	struct floor_call *call;

	fake_session_uses(agent->session, 1000);
	floor_world_settle(&world.floor);
	call = floor_world_call(&world.floor, "worker.stop", "auto-1", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	world.core->state.today.day--;
	auto_world_patrol(&world);
	ck_assert_ptr_null(world.core->state.paused);
	ck_assert_int_eq(agent->worker->status, WORKER_PAUSED);
	resume(&world, "auto-1");
	auto_world_turn(&world, 2);
	ck_assert_str_eq(agent->worker->task, "t1");
	auto_world_end(&world);
}

/* After a restart the transcript is read from its beginning. */
TEST(what_was_used_is_counted_once)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world, NULL);

	fake_session_uses(agent->session, 700);
	fake_session_uses(agent->session, 700);
	ck_assert_int_eq(world.core->state.tasks[0]->tokens, 700);
	auto_world_restart(&world);
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	fake_session_uses(agent->session, 300);
	fake_session_uses(agent->session, 900);
	ck_assert_int_eq(world.core->state.tasks[0]->tokens, 900);
	ck_assert_int_eq(world.core->state.today.tokens, 900);
	auto_world_end(&world);
}

/* --- silence --------------------------------------------------------- */

static bool
is_silent(struct auto_world *world, struct agent *agent)
{
	struct session_life life = {
		.quiet_ms = 2 * MINUTE_MS,
		.process = true,
	};

	if (agent->stall_ms > 0)
		agent->stall_ms = clock_mono_ms() - 2 * MINUTE_MS;
	return stalls_silence(world->mode, agent, &life);
}

TEST(a_silent_worker_is_interrupted_restarted_given_up)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "worker_stall_timeout = \"1m\"\n");

	ck_assert(is_silent(&world, agent));
	auto_world_turn(&world, 2);
	ck_assert_int_eq(fake_session_interrupts(agent->session), 1);
	auto_world_told(&world, "stall t1 redirect; ");
	ck_assert(is_silent(&world, agent));
	auto_world_turn(&world, 3);
	ck_assert_int_eq(fake_session_launches(agent->session), 2);
	auto_world_told(&world, "stall t1 restart; ");
	ck_assert(is_silent(&world, agent));
	auto_world_turn(&world, 4);
	auto_world_told(&world,
	    "stall t1 retry; given_up t1; task_retry t1; task_assigned t1; ");
	auto_world_end(&world);
}

static bool
is_parked(void *arg)
{
	const struct auto_world *world = arg;
	const struct task *t = state_task(&world->core->state, "t1");

	return t != NULL && t->step == TASK_PARKED;
}

TEST(silence_in_the_last_attempt_is_for_a_person)
{
	struct auto_world world;
	struct agent *agent = begin_turn(
	    &world, "max_attempts = 1\nworker_stall_timeout = \"1m\"\n");

	is_silent(&world, agent);
	auto_world_turn(&world, 2);
	is_silent(&world, agent);
	auto_world_turn(&world, 3);
	is_silent(&world, agent);
	floor_world_wait(&world.floor, is_parked, &world);
	ck_assert_str_eq(
	    state_task(&world.core->state, "t1")->reason, "no sign of life");
	auto_world_end(&world);
}

/* After Escape it runs one tool, then hangs in the same way as before. */
TEST(a_tool_between_two_silences_does_not_end_the_stages)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "worker_stall_timeout = \"1m\"\n");

	is_silent(&world, agent);
	auto_world_turn(&world, 2);
	fake_session_progresses(agent->session);
	is_silent(&world, agent);
	auto_world_turn(&world, 3);
	fake_session_progresses(agent->session);
	is_silent(&world, agent);
	auto_world_turn(&world, 4);
	auto_world_told(&world,
	    "stall t1 redirect; stall t1 restart; stall t1 retry; "
	    "given_up t1; task_retry t1; task_assigned t1; ");
	ck_assert_int_eq(agent->worker->stalls, 0);
	auto_world_end(&world);
}

TEST(the_end_of_a_turn_ends_the_suspicion)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "worker_stall_timeout = \"1m\"\n");

	is_silent(&world, agent);
	auto_world_turn(&world, 2);
	ck_assert_int_eq(agent->worker->stalls, 1);
	fake_session_turn_ends(agent->session, "What shall I do?");
	auto_world_turn(&world, 3);
	ck_assert_int_eq(agent->worker->stalls, 0);
	is_silent(&world, agent);
	auto_world_turn(&world, 4);
	auto_world_told(
	    &world, "stall t1 redirect; sent_back t1; stall t1 redirect; ");
	/* Without a task the fleet judges it. */
	xstrset(&agent->worker->task, NULL);
	ck_assert(!is_silent(&world, agent));
	auto_world_end(&world);
}

/* What the overseer is told in the heartbeat. */
TEST(signs_of_life_are_published)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "worker_stall_timeout = \"1m\"\n");

	fake_session_is_quiet(agent->session, 5 * MINUTE_MS);
	ck_assert_int_gt(stalls_sign_ms(world.mode), 0);
	ck_assert_int_le(
	    stalls_sign_ms(world.mode), clock_mono_ms() - 5 * MINUTE_MS);
	/* What is done about the silence counts too. */
	is_silent(&world, agent);
	ck_assert_int_gt(
	    stalls_sign_ms(world.mode), clock_mono_ms() - MINUTE_MS);
	/* A worker without a task says nothing about those with one. */
	xstrset(&agent->worker->task, NULL);
	ck_assert_int_eq(stalls_sign_ms(world.mode), 0);
	auto_world_end(&world);
}

/* --- outages --------------------------------------------------------- */

TEST(an_outage_is_waited_for_but_not_for_ever)
{
	struct auto_world world;
	struct agent *agent =
	    begin_turn(&world, "outage_limit = \"1h\"\nmax_attempts = 1\n");
	int64_t now = clock_wall_ms() / 1000;

	outage_limited(world.mode, agent, false, "limit", 0);
	ck_assert_int_eq(world.core->state.outage_since_unix, 0);
	outage_limited(world.mode, agent, true, "503", 0);
	ck_assert_int_ge(world.core->state.outage_since_unix, now);
	/* The end of a turn ends the outage. */
	fake_session_turn_ends(agent->session, "Shall I go on?");
	auto_world_turn(&world, 2);
	ck_assert_int_eq(world.core->state.outage_since_unix, 0);
	auto_world_told(&world, "sent_back t1; ");
	outage_limited(world.mode, agent, true, "503", 0);
	world.core->state.outage_since_unix -= 3601;
	outage_limited(world.mode, agent, true, "503", 0);
	auto_world_fails(&world, "outage");
	auto_world_end(&world);
}

/* --- landings that have to wait -------------------------------------- */

static struct agent *
begin_dirty(struct auto_world *world, int tries)
{
	struct agent *agent = begin_turn(world, NULL);

	world->core->state.source_repo_dirty_retry_count = tries;
	floor_world_sh(&world->floor, "echo mine >a.txt");
	auto_world_work(world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	return agent;
}

TEST(a_checkout_in_the_way_is_waited_for)
{
	struct auto_world world;
	struct agent *agent = begin_dirty(&world, 0);

	auto_world_wait(&world, "waiting; ");
	floor_world_settle(&world.floor);
	auto_world_told(&world,
	    "task_completed t1 needs_review; landing_queued t1; waiting; ");
	ck_assert_int_eq(agent->worker->status, WORKER_ACCEPTING);
	ck_assert_int_eq(world.core->state.source_repo_dirty_retry_count, 1);
	/* Nothing is tried before the wait is over, */
	auto_world_patrol(&world);
	auto_world_told(&world, "");
	/* but what the user does about it is noticed. */
	floor_world_sh(&world.floor, "git checkout -q a.txt");
	auto_world_wait(&world, "task_finished t1 landed; ");
	ck_assert_int_eq(world.core->state.source_repo_dirty_retry_count, 0);
	auto_world_end(&world);
}

TEST(a_checkout_is_not_waited_for_for_ever)
{
	struct auto_world world;

	begin_dirty(&world, backoff_dirty.tries_max);
	auto_world_fails(&world, "dirty_checkout");
	auto_world_end(&world);
}

TEST(conflicts_that_stay_are_a_failure)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world, NULL);

	agent->worker->conflicts = 1000;
	floor_world_sh(&world.floor,
	    "echo theirs >b.txt; git add b.txt; "
	    "git commit -qm theirs");
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_fails(&world, "conflicts");
	auto_world_end(&world);
}

/* --- workers --------------------------------------------------------- */

TEST(a_worker_in_error_is_a_failure_and_repaired)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world, NULL);

	agent_move(agent, WORKER_ERROR, "it is broken");
	auto_world_fails(&world, "worker_error");
	auto_world_told(&world, "failure t1 worker_error worker; ");
	auto_world_reopen(&world);
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_told(&world, "task_retry t1; task_assigned t1; ");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "it is broken"));
	auto_world_end(&world);
}

/* Not before: auto mode has begun by then. */
TEST(a_worker_is_repaired_when_its_remains_are_gone)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world, NULL);

	agent_move(agent, WORKER_ERROR, "it is broken");
	auto_world_fails(&world, "worker_error");
	auto_world_told(&world, "failure t1 worker_error worker; ");
	auto_world_reopen(&world);
	fake_session_leave_remains(1500); /* more than fleet.c waits */
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	auto_world_told(&world, "task_retry t1; task_assigned t1; ");
	auto_world_end(&world);
	fake_session_leave_remains(0);
}

/* A pause of the worker is not the fault of its task. */
TEST(a_paused_worker_is_repaired)
{
	struct auto_world world;
	struct agent *agent = begin_turn(&world, NULL);

	agent_move(agent, WORKER_PAUSED, "a dialog");
	auto_world_restart(&world);
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	ck_assert_int_eq(world.core->state.tasks[0]->attempts, 1);
	auto_world_told(&world, "task_assigned t1; ");
	auto_world_end(&world);
}

TEST(a_worker_that_is_reset_gives_its_task_back)
{
	struct auto_world world;
	struct floor_call *call;

	begin_turn(&world, NULL);
	call = floor_world_call(&world.floor, "worker.reset", "auto-1", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	auto_world_turn(&world, 2);
	ck_assert_int_eq(world.core->state.tasks[0]->attempts, 1);
	auto_world_told(&world, "task_assigned t1; ");
	auto_world_end(&world);
}

/* What the overseer does about a stall: a task that always stalls is not tried
 * for ever. */
TEST(an_attempt_that_is_said_to_have_failed_counts)
{
	struct auto_world world;
	struct floor_call *call;

	begin_turn(&world, "max_attempts = 2\n");
	for (int turn = 2; turn <= 3; turn++) {
		call = floor_world_call(&world.floor, "worker.reset", "auto-1",
		    ",\"failed\":\"no progress\"");
		ck_assert_ptr_null(floor_world_answer(&world.floor, call));
		if (turn == 2)
			auto_world_turn(&world, turn);
	}
	auto_world_wait(&world, "exhausted; ");
	auto_world_told(&world,
	    "task_retry t1; task_assigned t1; task_finished t1 dead-letter; "
	    "exhausted; ");
	auto_world_end(&world);
}
