/* SPDX-License-Identifier: ISC */

/* The life of a task: offered, taken, assigned, settled; across restarts, and
 * when something cannot be saved. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "auto-world.h"
#include "auto.h"
#include "emit.h"
#include "mem.h"
#include "persist.h"
#include "outcome.h"
#include "unit.h"

/* One idle worker, and nothing to do. */
static struct agent *
begin_idle(struct auto_world *world, const char *settings)
{
	auto_world_begin(world, settings);
	auto_world_live(world);
	auto_world_wait(world, "exhausted; ");
	floor_world_settle(&world->floor);
	auto_world_told(world, "exhausted; ");
	return auto_world_agent(world);
}

static bool
has_a_task(void *arg)
{
	return ((struct auto_world *)arg)->core->state.task_count > 0;
}

static bool
is_assigned(void *arg)
{
	const struct state *state = &((struct auto_world *)arg)->core->state;

	return state->tasks[0]->step == TASK_ASSIGNED;
}

static bool
is_waiting(void *arg)
{
	const struct state *state = &((struct auto_world *)arg)->core->state;

	return state->tasks[0]->step == TASK_WAITING;
}

static bool
is_unwritten_again(void *arg)
{
	return strstr(((struct auto_world *)arg)->told.data,
		   "unwritten; unwritten; ") != NULL;
}

/* A task in the state that is not saved yet. */
static struct task *
begin_unwritten(struct auto_world *world)
{
	begin_idle(world, NULL);
	world->floor.store_fails = true;
	auto_world_task(world, "a.md", "Do it\n");
	floor_world_wait(&world->floor, has_a_task, world);
	return world->core->state.tasks[0];
}

/* --- from its source to its outcome ---------------------------------- */

TEST(a_task_goes_its_way)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do it"));
	auto_world_folder(&world, "doing: a.md; ");
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait(&world, "task_finished t1 landed; ");
	auto_world_wait_done(&world);
	auto_world_wait(&world, "exhausted; ");
	auto_world_told(&world,
	    "task_assigned t1; task_completed t1 needs_review; "
	    "landing_queued t1; accept_success t1; "
	    "task_finished t1 landed; exhausted; ");
	auto_world_folder(&world, "done: a.md; ");
	auto_world_filed(&world, "t1 landed; ");
	ck_assert_uint_eq(world.mode->done, 1);
	ck_assert_str_eq(floor_world_sh(&world.floor, "cat b.txt"), "work");
	auto_world_end(&world);
}

TEST(a_task_without_a_change_is_done)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Look at it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	fake_session_turn_ends(agent->session, "It is fine as it is.");
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 no_changes; ");
	auto_world_folder(&world, "done: a.md; ");
	ck_assert_int_eq(agent->worker->status, WORKER_IDLE);
	ck_assert_ptr_null(agent->worker->task);
	auto_world_end(&world);
}

/* The attempts of a task are counted; the last one ends it. */
static const char leave_over[] = "echo 1 >.worktrees/auto-1/left.txt";

TEST(a_task_that_keeps_failing_ends)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, "max_attempts = 2\nmax_turns = 1\n");
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	floor_world_sh(&world.floor, leave_over);
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(&world, 2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "earlier attempt"));
	floor_world_sh(&world.floor, leave_over);
	auto_world_told(
	    &world, "task_assigned t1; task_retry t1; task_assigned t1; ");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 dead-letter; ");
	auto_world_folder(&world, "failed: a.md; failed: a.md.why; ");
	ck_assert_uint_eq(world.mode->failed, 1);
	auto_world_end(&world);
}

TEST(work_that_landed_elsewhere_is_done)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	emit(world.core,
	    &(struct event){ .kind = EVENT_WORK_LANDED_ELSEWHERE,
		.worker = agent->worker->name });
	agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	agent_move(agent, WORKER_IDLE, NULL);
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

TEST(a_run_until_empty_ends_by_itself)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, "max_attempts = 1\nmax_turns = 1\n");
	world.mode->until_empty = true;
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	floor_world_sh(&world.floor, leave_over);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_stopped(&world.floor);
	ck_assert_int_eq(world.core->exit_status, 1); /* one has failed */
	auto_world_filed(&world, "t1 failed; ");
	auto_world_end(&world);
}

/* --- across restarts ------------------------------------------------- */

TEST(a_task_survives_its_daemon)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	auto_world_reopen(&world);
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	ck_assert_str_eq(agent->worker->task, "t1");
	auto_world_work(&world, "b.txt");
	auto_world_restart(&world);
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	auto_world_wait(&world, "exhausted; ");
	auto_world_told(&world,
	    "task_assigned t1; task_completed t1 needs_review; "
	    "landing_queued t1; accept_success t1; task_finished t1 landed; "
	    "exhausted; ");
	auto_world_folder(&world, "done: a.md; ");
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

/* The daemon dies before the offer is saved: it was never taken. */
TEST(an_offer_that_was_not_written_is_made_again)
{
	struct auto_world world;

	begin_unwritten(&world);
	auto_world_reopen(&world);
	ck_assert_uint_eq(world.core->state.task_count, 0);
	world.floor.store_fails = false;
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	auto_world_folder(&world, "doing: a.md; ");
	auto_world_end(&world);
}

/* The daemon dies when the offer is saved but not taken. */
TEST(an_offer_that_was_written_is_taken)
{
	struct auto_world world;

	begin_unwritten(&world);
	world.floor.store_fails = false;
	ck_assert_int_eq(persist_flush(world.core, NULL), 0);
	auto_world_reopen(&world);
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_OFFERED);
	auto_world_folder(&world, "todo: a.md; ");
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	ck_assert_uint_eq(world.core->state.task_count, 1);
	auto_world_folder(&world, "doing: a.md; ");
	auto_world_end(&world);
}

/* The daemon dies when the outcome is saved but not reported. */
TEST(an_outcome_that_was_written_is_told)
{
	struct auto_world world;
	struct task *t;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	auto_world_turn(&world, 1);
	t = world.core->state.tasks[0];
	task_settle(t, OUTCOME_ABORTED, "enough", 1);
	ck_assert_int_eq(persist_flush(world.core, NULL), 0);
	auto_world_reopen(&world);
	world.mode->active = false; /* a daemon without --auto does this too */
	auto_world_live(&world);
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 aborted; ");
	auto_world_folder(&world, "failed: a.md; failed: a.md.why; ");
	auto_world_end(&world);
}

TEST(what_nobody_began_is_given_back)
{
	struct auto_world world;

	begin_unwritten(&world);
	xstrset(&world.core->state.paused, "wait");
	world.floor.store_fails = false;
	floor_world_wait(&world.floor, is_waiting, &world);
	auto_world_folder(&world, "doing: a.md; ");
	auto_world_restart(&world);
	ck_assert_uint_eq(world.core->state.task_count, 0);
	auto_world_folder(&world, "todo: a.md; ");
	auto_world_end(&world);
}

TEST(what_nobody_has_waits_again)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	xstrset(&agent->worker->task, NULL);
	auto_world_patrol(&world);
	auto_world_told(&world, "task_assigned t1; orphaned t1; ");
	ck_assert_int_eq(world.core->state.tasks[0]->step, TASK_WAITING);
	ck_assert_int_eq(world.core->state.tasks[0]->attempts, 0);
	/* And a worker whose task is gone loses it. */
	xstrset(&agent->worker->task, "t9");
	auto_world_patrol(&world);
	ck_assert_ptr_null(agent->worker->task);
	auto_world_end(&world);
}

/* --- when the state cannot be saved ---------------------------------- */

TEST(nothing_is_taken_that_is_not_written)
{
	struct auto_world world;
	const struct task *t = begin_unwritten(&world);

	floor_world_wait(&world.floor, is_unwritten_again, &world);
	ck_assert_int_eq(t->step, TASK_OFFERED);
	auto_world_folder(&world, "todo: a.md; ");
	ck_assert_ptr_null(auto_world_agent(&world)->worker->task);
	world.floor.store_fails = false;
	auto_world_turn(&world, 1);
	auto_world_folder(&world, "doing: a.md; ");
	auto_world_end(&world);
}

/* No task is assigned either. */
TEST(nothing_is_given_out_that_is_not_written)
{
	struct auto_world world;

	begin_unwritten(&world);
	world.floor.store_fails = false;
	floor_world_wait_closely(&world.floor, is_assigned, &world);
	world.floor.store_fails = true;
	buf_clear(&world.told);
	floor_world_wait(&world.floor, is_unwritten_again, &world);
	ck_assert_str_eq(
	    fake_session_prompt(auto_world_agent(&world)->session), "");
	world.floor.store_fails = false;
	auto_world_turn(&world, 1);
	auto_world_end(&world);
}

TEST(somebody_else_is_faster)
{
	struct auto_world world;

	begin_unwritten(&world);
	floor_world_sh(&world.floor, "rm .llmc/tasks/todo/a.md");
	world.floor.store_fails = false;
	auto_world_wait_done(&world);
	auto_world_wait(&world, "taken_elsewhere t1; ");
	auto_world_end(&world);
}

/* A failing subscriber does not affect the others. */
TEST(auto_log_cannot_be_written)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, NULL);
	floor_world_sh(&world.floor, "mkdir .llmc/logs/auto.log");
	auto_world_task(&world, "a.md", "Do it\n");
	auto_world_live(&world);
	agent = auto_world_turn(&world, 1);
	auto_world_work(&world, "b.txt");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done(&world);
	auto_world_filed(&world, "t1 landed; ");
	auto_world_end(&world);
}

TEST(a_task_that_cannot_be_used_is_told_once)
{
	struct auto_world world;

	auto_world_begin(&world, NULL);
	floor_world_sh(
	    &world.floor, "printf '\\377\\376' >.llmc/tasks/todo/bad.md");
	auto_world_live(&world);
	auto_world_wait(&world, "exhausted; ");
	auto_world_patrol(&world);
	auto_world_patrol(&world);
	auto_world_told(&world, "quarantine; exhausted; ");
	auto_world_end(&world);
}

/* --- the same failure again and again ------------------------------- */

static const struct {
	const char *script; /* removes the cause; NULL: a person resumes */
} causes[] = { { NULL }, { "git config core.hooksPath elsewhere" } };

/* Something outside of the tasks is wrong: it must not use up all of them. */
TEST_ROWS(what_fails_task_after_task_stops_the_giving_out, nitems(causes))
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, "max_attempts = 1\n");
	for (int i = 1; i <= 5; i++) {
		cleanup_free char *name = xasprintf("%d.md", i);

		auto_world_task(&world, name, "Do it\n");
	}
	auto_world_live(&world);
	for (int i = 1; i <= 3; i++) {
		cleanup_free char *id = xasprintf("t%d", i);
		cleanup_free char *why =
		    xasprintf("the commit hook refused commit %d", i);

		agent = auto_world_turn_on(&world, id);
		outcome_attempt_failed(world.mode, agent, why);
		floor_world_settle(&world.floor);
	}
	auto_world_wait(&world, "intake_stopped");
	auto_world_filed(&world, "t1 failed; t2 failed; ");
	ck_assert_ptr_nonnull(
	    strstr(world.core->state.paused, "(t1, t2, t3): the commit hook "));
	ck_assert_ptr_nonnull(
	    strstr(world.core->state.paused, "then: llmc resume"));
	auto_world_patrol(&world);
	ck_assert_ptr_nonnull(world.core->state.paused);
	if (causes[_i].script == NULL) {
		ck_assert_ptr_null(floor_world_answer(&world.floor,
		    floor_world_ask(&world.floor, "auto.resume", "{}")));
	} else {
		floor_world_sh(&world.floor, causes[_i].script);
		auto_world_patrol(&world);
		ck_assert_ptr_nonnull(
		    strstr(world.told.data, "hooks_changed; "));
	}
	ck_assert_ptr_null(world.core->state.paused);
	agent = auto_world_turn_on(&world, "t3");
	auto_world_end(&world);
}

/* One that lands in between shows that the tasks are to blame. */
TEST(failures_between_landings_are_of_their_tasks)
{
	struct auto_world world;
	struct agent *agent;

	auto_world_begin(&world, "max_attempts = 1\n");
	for (int i = 1; i <= 4; i++) {
		cleanup_free char *name = xasprintf("%d.md", i);

		auto_world_task(&world, name, "Do it\n");
	}
	auto_world_live(&world);
	for (int i = 1; i <= 4; i++) {
		cleanup_free char *id = xasprintf("t%d", i);

		agent = auto_world_turn_on(&world, id);
		if (i == 3) {
			auto_world_work(&world, "b.txt");
			fake_session_turn_ends(agent->session, "Done.");
		} else {
			outcome_attempt_failed(world.mode, agent, "too hard");
		}
	}
	auto_world_wait_done(&world);
	auto_world_filed(
	    &world, "t1 failed; t2 failed; t3 landed; t4 failed; ");
	auto_world_end(&world);
}
