/* SPDX-License-Identifier: ISC */

/* The life of a task: offered, taken, assigned, settled; across restarts, and
 * when something cannot be saved. */
#include "auto-world.h"
#include "outcome.h"
#include "park.h"

/* One idle worker, and nothing to do. */
static struct agent *
begin_idle(const char *settings)
{
	auto_world_begin(settings);
	auto_world_live();
	auto_world_wait("exhausted; ");
	floor_world_settle();
	auto_world_told("exhausted; ");
	return auto_world_agent();
}

static bool
is_assigned(void *arg)
{
	const struct state *state = &((struct auto_world *)arg)->core->state;

	return state->tasks[0]->step == TASK_ASSIGNED;
}

static bool
is_unwritten_again(void *arg)
{
	return strstr(((struct auto_world *)arg)->told.data,
		   "unwritten; unwritten; ") != NULL;
}

/* A task in the state that is not saved yet. */
static struct task *
begin_unwritten(void)
{
	begin_idle(NULL);
	floor_world.store_fails = true;
	auto_world_task("a.md", "Do it\n");
	floor_world_until(auto_world.core->state.task_count > 0);
	return auto_world.core->state.tasks[0];
}

/* --- from its source to its outcome ---------------------------------- */

TEST(a_task_goes_its_way)
{
	struct agent *agent = auto_world_begin_turn(NULL, "Do it\n");

	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "Do it"));
	auto_world_folder("doing: a.md; ");
	auto_world_finish(agent, "b.txt");
	auto_world_wait("task_finished t1 landed; ");
	auto_world_wait_done();
	auto_world_wait("exhausted; ");
	auto_world_told("task_assigned t1; task_completed t1 needs_review; "
			"landing_queued t1; accept_success t1; "
			"task_finished t1 landed; exhausted; ");
	auto_world_folder("done: a.md; ");
	auto_world_filed("t1 landed; ");
	ck_assert_uint_eq(auto_world.mode->done, 1);
	ck_assert_str_eq(floor_world_sh("cat b.txt"), "work");
}

TEST(a_task_without_a_change_is_done)
{
	struct agent *agent = auto_world_begin_turn(NULL, "Look at it\n");

	fake_session_turn_ends(agent->session, "It is fine as it is.");
	auto_world_all_filed("t1 no_changes; ");
	auto_world_folder("done: a.md; ");
	ck_assert_int_eq(agent->worker->status, WORKER_IDLE);
	ck_assert_ptr_null(agent->worker->task);
}

/* The attempts of a task are counted; the last one ends it. */
static const char leave_over[] = "echo 1 >.worktrees/auto-1/left.txt";

TEST(a_task_that_keeps_failing_ends)
{
	struct agent *agent = auto_world_begin_turn(
	    "max_attempts = 2\nmax_turns = 1\n", "Do it\n");

	floor_world_sh(leave_over);
	fake_session_turn_ends(agent->session, "Done.");
	agent = auto_world_turn(2);
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(agent->session), "earlier attempt"));
	floor_world_sh(leave_over);
	auto_world_told("task_assigned t1; task_retry t1; task_assigned t1; ");
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_all_filed("t1 dead-letter; ");
	auto_world_folder("failed: a.md; failed: a.md.why; ");
	ck_assert_uint_eq(auto_world.mode->failed, 1);
}

TEST(a_task_that_keeps_failing_recovers_as_it_says)
{
	struct agent *agent;

	auto_world_begin("max_attempts = 1\nmax_turns = 1\n");
	auto_world_task("a.md", "Recovery: reassign\n\nDo it\n");
	auto_world_live();
	for (int attempt = 1; attempt <= 2; attempt++) {
		agent = auto_world_turn(attempt);
		ck_assert_ptr_null(
		    strstr(fake_session_prompt(agent->session), "Recovery:"));
		floor_world_sh(leave_over);
		fake_session_turn_ends(agent->session, "Done.");
	}
	floor_world_until(auto_world.core->state.tasks[0]->step == TASK_PARKED);
	ck_assert_str_eq(auto_world.core->state.tasks[0]->avoid, "auto-1");
	ck_assert_int_eq(auto_world.core->state.tasks[0]->ask, ASK_FAILURE);
	auto_world_filed("");
}

/* The person is faster than the operation, whether or not the daemon dies: it
 * goes on in the conversation in which it asked. */
TEST_ROWS(a_task_that_is_answered_while_it_is_parked_goes_on, 3)
{
	enum ask_kind ask = _i == 2 ? ASK_BLOCKED : ASK_QUESTION;
	const struct task *t;
	struct session_record *s;
	struct agent *agent = auto_world_begin_turn(NULL, "Do it\n");

	s = &agent->worker->session;
	xstrset(&s->id, "c1");
	xstrset(&s->transcript, "/c1.jsonl");
	s->history_ms = 7;
	xstrset(&auto_world.core->state.tasks[0]->last_words, "Tabs?");
	op_park_task(auto_world.mode, agent, ask, "it asks");
	floor_world_wait_step(agent, "commit");
	ck_assert_uint_eq(auto_world.core->state.ask_count, 1);
	floor_world_done(floor_world_ask(
	    "auto.resume", "{\"worker\": \"t1\", \"note\": \"Tabs.\"}"));
	ck_assert(auto_world.core->state.tasks[0]->answered);
	ck_assert_uint_eq(auto_world.core->state.ask_count, 0);
	if (_i == 1) {
		auto_world_reopen();
		auto_world_live();
	}
	auto_world_wait("task_resumed t1; ");
	t = auto_world.core->state.tasks[0];
	ck_assert_int_eq(t->last_words == NULL, ask == ASK_QUESTION);
	agent = auto_world_agent();
	floor_world_wait_step(agent, "reset");
	s = &agent->worker->session;
	s->history_ms = 0; /* of what it has done meanwhile */
	floor_world_until(
	    strstr(fake_session_prompt(agent->session), "says: Tabs.") != NULL);
	/* The fake session of another daemon may have another one. */
	if (_i != 1)
		ck_assert_int_eq(s->history_ms, 7);
	ck_assert(!t->answered);
}

static const struct {
	enum ask_kind ask;
	const char *step; /* then */
} asked_again[] = {
	{ ASK_QUESTION, "parked" }, { ASK_FAILURE, "parked" },
	{ ASK_BUDGET, "resumed" }, /* the same one: nothing was granted yet */
};

/* It could not be parked, and is to be parked for something else. */
TEST_ROWS(an_answer_is_for_what_was_asked, nitems(asked_again))
{
	cleanup_free char *event =
	    xasprintf("task_%s t1; ", asked_again[_i].step);
	struct agent *agent;
	struct task *t;

	agent = auto_world_begin_turn(NULL, "Do it\n");
	t = auto_world.core->state.tasks[0];
	t->ask = asked_again[_i].ask;
	task_answer(t, "Tabs.");
	op_park_task(auto_world.mode, agent, t->ask, "it asks");
	auto_world_wait(event);
	ck_assert_int_eq(
	    t->step == TASK_PARKED, asked_again[_i].ask != ASK_BUDGET);
	floor_world_settle();
	ck_assert_uint_eq(auto_world.core->state.ask_count,
	    asked_again[_i].ask != ASK_BUDGET);
}

/* Its question would be lost: what else a person is asked comes after it. */
TEST(a_task_that_asks_is_not_held_for_something_else)
{
	struct task *t;

	auto_world_begin_turn(NULL, "Do it\n");
	t = auto_world.core->state.tasks[0];
	t->ask = ASK_QUESTION;
	ck_assert_int_eq(
	    outcome_hold(auto_world.mode, t, "its issue has changed"), -EBUSY);
	ck_assert_int_eq(t->ask, ASK_QUESTION);
	t->ask = ASK_NONE;
	ck_assert_int_eq(
	    outcome_hold(auto_world.mode, t, "its issue has changed"), 0);
	floor_world_until(t->step == TASK_PARKED);
	ck_assert_int_eq(t->ask, ASK_APPROVAL);
}

TEST(work_that_landed_elsewhere_is_done)
{
	struct agent *agent = auto_world_begin_turn(NULL, "Do it\n");

	emit(auto_world.core,
	    &(struct event){ .kind = EVENT_WORK_LANDED_ELSEWHERE,
		.worker = agent->worker->name });
	agent_move(agent, WORKER_NEEDS_REVIEW, NULL);
	agent_move(agent, WORKER_IDLE, NULL);
	auto_world_all_filed("t1 landed; ");
}

TEST(a_run_until_empty_ends_by_itself)
{
	struct agent *agent;

	auto_world_begin("max_attempts = 1\nmax_turns = 1\n");
	auto_world.mode->until_empty = true;
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	agent = auto_world_turn(1);
	floor_world_sh(leave_over);
	fake_session_turn_ends(agent->session, "Done.");
	floor_world_wait_stopped();
	ck_assert_int_eq(auto_world.core->exit_status, 1); /* one has failed */
	auto_world_filed("t1 failed; ");
}

/* --- across restarts ------------------------------------------------- */

TEST(a_task_survives_its_daemon)
{
	struct agent *agent;

	auto_world_begin_turn(NULL, "Do it\n");
	auto_world_reopen();
	auto_world_live();
	agent = auto_world_turn(1);
	ck_assert_str_eq(agent->worker->task, "t1");
	auto_world_work("b.txt");
	auto_world_restart();
	auto_world_live();
	agent = auto_world_turn(1);
	fake_session_turn_ends(agent->session, "Done.");
	auto_world_wait_done();
	auto_world_wait("exhausted; ");
	auto_world_told(
	    "task_assigned t1; task_completed t1 needs_review; "
	    "landing_queued t1; accept_success t1; task_finished t1 landed; "
	    "exhausted; ");
	auto_world_folder("done: a.md; ");
	auto_world_filed("t1 landed; ");
}

/* The daemon dies before the offer is saved: it was never taken. */
TEST(an_offer_that_was_not_written_is_made_again)
{
	begin_unwritten();
	auto_world_reopen();
	ck_assert_uint_eq(auto_world.core->state.task_count, 0);
	floor_world.store_fails = false;
	auto_world_live();
	auto_world_turn(1);
	auto_world_folder("doing: a.md; ");
}

/* The daemon dies when the offer is saved but not taken. */
TEST(an_offer_that_was_written_is_taken)
{
	begin_unwritten();
	floor_world.store_fails = false;
	ck_assert_int_eq(persist_flush(auto_world.core, NULL), 0);
	auto_world_reopen();
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_OFFERED);
	auto_world_folder("todo: a.md; ");
	auto_world_live();
	auto_world_turn(1);
	ck_assert_uint_eq(auto_world.core->state.task_count, 1);
	auto_world_folder("doing: a.md; ");
}

/* The daemon dies when the outcome is saved but not reported. */
TEST(an_outcome_that_was_written_is_told)
{
	struct task *t;

	auto_world_begin_turn(NULL, "Do it\n");
	t = auto_world.core->state.tasks[0];
	task_settle(t, OUTCOME_ABORTED, "enough", 1);
	ck_assert_int_eq(persist_flush(auto_world.core, NULL), 0);
	auto_world_reopen();
	auto_world.mode->active =
	    false; /* a daemon without --auto does this too */
	auto_world_live();
	auto_world_all_filed("t1 aborted; ");
	auto_world_folder("failed: a.md; failed: a.md.why; ");
}

/* One that had an attempt goes on where it was. */
TEST_ROWS(what_nobody_began_is_given_back, 2)
{
	struct task *t = begin_unwritten();

	xstrset(&auto_world.core->state.paused, "wait");
	floor_world.store_fails = false;
	floor_world_until(t->step == TASK_WAITING);
	auto_world_folder("doing: a.md; ");
	t->attempts = _i;
	auto_world_restart();
	ck_assert_uint_eq(auto_world.core->state.task_count, _i);
	auto_world_folder(_i == 0 ? "todo: a.md; " : "doing: a.md; ");
}

TEST(what_nobody_has_waits_again)
{
	struct agent *agent = auto_world_begin_turn(NULL, "Do it\n");

	xstrset(&agent->worker->task, NULL);
	auto_world_patrol();
	auto_world_told("task_assigned t1; orphaned t1; ");
	ck_assert_int_eq(auto_world.core->state.tasks[0]->step, TASK_WAITING);
	ck_assert_int_eq(auto_world.core->state.tasks[0]->attempts, 0);
	/* And a worker whose task is gone loses it. */
	xstrset(&agent->worker->task, "t9");
	auto_world_patrol();
	ck_assert_ptr_null(agent->worker->task);
}

/* --- when the state cannot be saved ---------------------------------- */

TEST(nothing_is_taken_that_is_not_written)
{
	const struct task *t = begin_unwritten();

	floor_world_wait(is_unwritten_again, &auto_world);
	ck_assert_int_eq(t->step, TASK_OFFERED);
	auto_world_folder("todo: a.md; ");
	ck_assert_ptr_null(auto_world_agent()->worker->task);
	floor_world.store_fails = false;
	auto_world_turn(1);
	auto_world_folder("doing: a.md; ");
}

/* No task is assigned either. */
TEST(nothing_is_given_out_that_is_not_written)
{
	begin_unwritten();
	floor_world.store_fails = false;
	floor_world_wait_closely(is_assigned, &auto_world);
	floor_world.store_fails = true;
	buf_clear(&auto_world.told);
	floor_world_wait(is_unwritten_again, &auto_world);
	ck_assert_str_eq(fake_session_prompt(auto_world_agent()->session), "");
	floor_world.store_fails = false;
	auto_world_turn(1);
}

TEST(somebody_else_is_faster)
{
	begin_unwritten();
	floor_world_sh("rm .llmc/tasks/todo/a.md");
	floor_world.store_fails = false;
	auto_world_wait_done();
	auto_world_wait("taken_elsewhere t1; ");
}

/* A failing subscriber does not affect the others. */
TEST(auto_log_cannot_be_written)
{
	struct agent *agent;

	auto_world_begin(NULL);
	floor_world_sh("mkdir .llmc/logs/auto.log");
	auto_world_task("a.md", "Do it\n");
	auto_world_live();
	agent = auto_world_turn(1);
	auto_world_finish(agent, "b.txt");
	auto_world_all_filed("t1 landed; ");
}

TEST(a_task_that_cannot_be_used_is_told_once)
{
	auto_world_begin(NULL);
	floor_world_sh("printf '\\377\\376' >.llmc/tasks/todo/bad.md");
	auto_world_live();
	auto_world_wait("exhausted; ");
	auto_world_patrol();
	auto_world_patrol();
	auto_world_told("quarantine; exhausted; ");
}

/* --- the same failure again and again ------------------------------- */

static const struct {
	const char *script; /* removes the cause; NULL: a person resumes */
} causes[] = { { NULL }, { "git config core.hooksPath elsewhere" } };

/* Something outside of the tasks is wrong: it must not use up all of them. */
TEST_ROWS(what_fails_task_after_task_stops_the_giving_out, nitems(causes))
{
	struct agent *agent;

	auto_world_begin("max_attempts = 1\n");
	for (int i = 1; i <= 5; i++) {
		cleanup_free char *name = xasprintf("%d.md", i);

		auto_world_task(name, "Do it\n");
	}
	auto_world_live();
	for (int i = 1; i <= 3; i++) {
		cleanup_free char *id = xasprintf("t%d", i);
		cleanup_free char *why =
		    xasprintf("the commit hook refused commit %d", i);

		agent = auto_world_turn_on(id);
		outcome_attempt_failed(auto_world.mode, agent, why);
		floor_world_settle();
	}
	auto_world_wait("intake_stopped");
	auto_world_filed("t1 failed; t2 failed; ");
	ck_assert_ptr_nonnull(strstr(
	    auto_world.core->state.paused, "(t1, t2, t3): the commit hook "));
	ck_assert_ptr_nonnull(
	    strstr(auto_world.core->state.paused, "then: llmc resume"));
	auto_world_patrol();
	ck_assert_ptr_nonnull(auto_world.core->state.paused);
	if (causes[_i].script == NULL) {
		floor_world_done(floor_world_ask("auto.resume", "{}"));
	} else {
		floor_world_sh(causes[_i].script);
		auto_world_patrol();
		ck_assert_ptr_nonnull(
		    strstr(auto_world.told.data, "hooks_changed; "));
	}
	ck_assert_ptr_null(auto_world.core->state.paused);
	agent = auto_world_turn_on("t3");
}

/* One that lands in between shows that the tasks are to blame. */
TEST(failures_between_landings_are_of_their_tasks)
{
	struct agent *agent;

	auto_world_begin("max_attempts = 1\n");
	for (int i = 1; i <= 4; i++) {
		cleanup_free char *name = xasprintf("%d.md", i);

		auto_world_task(name, "Do it\n");
	}
	auto_world_live();
	for (int i = 1; i <= 4; i++) {
		cleanup_free char *id = xasprintf("t%d", i);

		agent = auto_world_turn_on(id);
		if (i == 3) {
			auto_world_finish(agent, "b.txt");
		} else {
			outcome_attempt_failed(
			    auto_world.mode, agent, "too hard");
		}
	}
	auto_world_all_filed("t1 failed; t2 failed; t3 landed; t4 failed; ");
}
