/* SPDX-License-Identifier: ISC */

/* Nodes that are given to a worker that a person drives: what it is sent, and
 * what its work does to them when it lands or is taken back. */
#include "plan-world.h"
#include "plan-floor.h"
#include "tune.h"

static struct plan_work *
assignment(void)
{
	return &plan_world_worked()->work;
}

/* --- eve --------------------------------------------------------------- */

static const char with_eve[] = "allow_agents = [\"main\", \"eve\"]\n";

static void
assign_to_eve(void)
{
	struct plan_node *node = plan_world_node("goal_a", "T1.1");

	plan_node_assign(node, "A_eve", clock_wall_ms());
	xstrset(&node->work.worker, "eve");
	plan_node_instruct(node, "Do it, eve.");
	plan_apply_work(plan_world.floor, node);
}

static bool
eve_has_it(void *arg)
{
	const struct agent *eve = fleet_find(floor_world.fleet, "eve");

	(void)arg;
	return eve != NULL && eve->op == NULL && eve->worker->session.busy &&
	    assignment()->dispatch_count > 0 &&
	    assignment()->dispatches[0].result == DISPATCH_ACCEPTED;
}

static void
begin_eve(void)
{
	tune("plan_tick=100");
	plan_world_begin(with_eve, NULL);
	floor_world_add("eve", WORKER_OFFLINE)->retry_ms = 0;
	plan_world_goal("goal_a", 1);
	assign_to_eve();
	plan_world_settle();
	plan_world_live();
}

/* And she has it. */
static struct agent *
begin_with_eve(void)
{
	begin_eve();
	floor_world_wait(eve_has_it, &plan_world);
	return fleet_find(floor_world.fleet, "eve");
}

TEST(a_worker_that_a_person_drives_gets_its_node_as_a_prompt)
{
	const struct agent *eve;

	eve = begin_with_eve();
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
}

static bool
eve_is_done(void *arg)
{
	(void)arg;
	return plan_world_node("goal_a", "T1.1")->status == NODE_DONE;
}

TEST(work_of_such_a_worker_counts_when_a_person_accepts_it)
{
	struct agent *eve;
	const char *commit;

	eve = begin_with_eve();
	floor_world_wt(
	    "eve", "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(eve, WORKER_NEEDS_REVIEW);
	plan_world_is("goal_a", "active; T1.1 in_progress; ");
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_call("worker.accept", "eve", "")));
	floor_world_wait(eve_is_done, &plan_world);
	plan_world_is("goal_a", "completed; T1.1 done; ");
	commit = plan_world_node("goal_a", "T1.1")->evidence.commits[0];
	ck_assert_str_eq(floor_world_sh("git rev-parse main"), commit);
}

static bool
is_accepted(void *arg)
{
	(void)arg;
	return plan_world.floor->state == PLAN_OPEN &&
	    assignment()->dispatches[0].result == DISPATCH_ACCEPTED;
}

/* The daemon died after it gave the message to the worker, and before it
 * stored that. */
TEST(a_message_that_the_worker_has_is_not_sent_again)
{
	struct agent *eve;

	eve = begin_with_eve();
	fake_session_turn_ends(eve->session, "Nothing to do.");
	floor_world_wait_status(eve, WORKER_NO_CHANGES);
	plan_world_settle();
	assignment()->dispatches[0].result = DISPATCH_PENDING;
	plan_apply_work(plan_world.floor, plan_world_worked());
	plan_world_settle();
	floor_world_settle();
	plan_world_die();
	floor_world_wait(is_accepted, &plan_world);
	floor_world_settle();
	eve = fleet_find(floor_world.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	ck_assert_int_eq(eve->worker->status, WORKER_NO_CHANGES);
}

struct death {
	int left; /* passes since the dispatch was decided */
};

static bool
is_time_to_die(void *arg)
{
	struct death *death = arg;
	const struct plan_work *a = assignment();

	return a->dispatch_count > 0 && death->left-- <= 0;
}

/* _i passes after the decision: before it is stored, stored but not sent,
 * given to the session, submitted. */
TEST_ROWS(killed_around_a_dispatch_it_is_sent_once, 12)
{
	struct death death = { _i };
	const struct plan_work *a;
	const struct agent *eve;
	int given;

	begin_eve();
	floor_world_wait_closely(is_time_to_die, &death);
	eve = fleet_find(floor_world.fleet, "eve");
	given = fake_session_prompts(eve->session);
	plan_world_die();
	floor_world_wait(eve_has_it, &plan_world);
	plan_world_settle();
	a = assignment();
	eve = fleet_find(floor_world.fleet, "eve");
	ck_assert_uint_eq(a->dispatch_count, 1);
	/* A slow machine gets as far as the turn before the death. */
	if (given == 0 || fake_session_prompts(eve->session) > 0) {
		ck_assert_int_eq(fake_session_prompts(eve->session), 1);
		ck_assert_ptr_nonnull(
		    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	}
	ck_assert_int_eq(plan_world_events("dispatch.ended"), 1);
}

static void
move_goal(enum goal_status to)
{
	struct plan *plan = plan_world_plan("goal_a");

	ck_assert_int_eq(
	    plan_goal_move(plan->goal, to, NULL, NULL, clock_wall_ms(), NULL),
	    0);
	plan_book_record(plan_world.floor, BOOK_GOAL, "goal_a", "goal_a");
	plan_floor_changed(plan_world.floor);
}

static bool
eve_is_idle(void *arg)
{
	const struct agent *eve = fleet_find(floor_world.fleet, "eve");

	(void)arg;
	return eve->worker->status == WORKER_IDLE && eve->op == NULL;
}

struct mover {
	enum goal_status to;
	bool moved;
};

static void
on_action(const struct event *event, void *arg)
{
	struct mover *mover = arg;

	if (event->kind != EVENT_ACTION || mover->moved)
		return;
	mover->moved = true;
	move_goal(mover->to);
}

static bool
has_moved(void *arg)
{
	return ((const struct mover *)arg)->moved;
}

/* A message is decided, and the goal moves before it is sent. */
static const struct agent *
move_before_eve_has_it(enum goal_status to)
{
	struct mover mover = { to, false };
	const struct agent *eve;

	begin_eve();
	emit_subscribe(auto_world.core, on_action, &mover);
	floor_world_wait(has_moved, &mover);
	emit_unsubscribe(auto_world.core, on_action, &mover);
	floor_world_wait(eve_is_idle, &plan_world);
	plan_world_settle();
	floor_world_settle();
	eve = fleet_find(floor_world.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	return eve;
}

static bool
is_cancelled(void *arg)
{
	(void)arg;
	return assignment()->status == ASSIGNMENT_CANCELLED;
}

TEST(a_message_for_a_goal_that_was_cancelled_is_not_sent)
{
	move_before_eve_has_it(GOAL_CANCELLED);
	ck_assert_int_eq(assignment()->dispatches[0].result, DISPATCH_ERROR);
	floor_world_wait(is_cancelled, &plan_world);
}

TEST(a_message_for_a_goal_that_is_paused_is_sent_when_it_goes_on)
{
	const struct agent *eve;

	eve = move_before_eve_has_it(GOAL_PAUSED);
	ck_assert_int_eq(assignment()->dispatches[0].result, DISPATCH_PENDING);
	move_goal(GOAL_ACTIVE);
	floor_world_wait(eve_has_it, &plan_world);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
}

/* --- its work ---------------------------------------------------------- */

/* The person's accept, or pick; returns the worker. */
static struct agent *
eve_works(void)
{
	struct agent *eve;

	eve = begin_with_eve();
	floor_world_wt(
	    "eve", "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	return eve;
}

static void
accept(const char *method)
{
	ck_assert_ptr_null(
	    floor_world_answer(floor_world_call(method, "eve", "")));
}

TEST(an_accept_that_changes_nothing_finishes_its_node)
{
	struct agent *eve = eve_works();
	const struct plan_node *node;

	floor_world_sh(
	    "echo e >e.txt; git add e.txt; git commit -qm 'the same'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(eve, WORKER_NEEDS_REVIEW);
	accept("worker.accept");
	floor_world_wait(eve_is_done, &plan_world);
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_str_eq(
	    floor_world_sh("git rev-parse main"), node->evidence.commits[0]);
	ck_assert_ptr_nonnull(
	    strstr(node->evidence.external_refs[0], "had it already"));
}

static bool
is_reopened(void *arg)
{
	const struct plan *plan = plan_world.floor->state == PLAN_OPEN ?
	    plan_world_plan("goal_a") :
	    NULL;

	(void)arg;
	return plan != NULL && plan->goal->status == GOAL_ACTIVE;
}

static void
revert(const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\": \"%s\"}", commit);

	ck_assert_ptr_null(
	    floor_world_answer(floor_world_ask("landing.revert", params)));
}

/* Returns the commit; the goal is completed, and another daemon runs. */
static char *
eve_completes(const char *method)
{
	struct agent *eve = eve_works();
	char *commit;

	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(eve, WORKER_NEEDS_REVIEW);
	accept(method);
	floor_world_wait(eve_is_done, &plan_world);
	plan_world_is("goal_a", "completed; T1.1 done; ");
	commit =
	    xstrdup(plan_world_node("goal_a", "T1.1")->evidence.commits[0]);
	plan_world_settle();
	floor_world_settle();
	plan_world_die();
	ck_assert_ptr_null(plan_world_plan("goal_a"));
	return commit;
}

static const char *const methods[] = { "worker.accept", "worker.pick" };

TEST_ROWS(a_revert_opens_a_goal_that_has_ended, nitems(methods))
{
	cleanup_free char *commit = eve_completes(methods[_i]);

	revert(commit);
	floor_world_wait(is_reopened, &plan_world);
	ck_assert_int_eq(plan_world_events("goal.active"), 1);
	ck_assert_int_eq(plan_world_events("work.queued"), 1);
}

/* --- words ------------------------------------------------------------- */

struct talker {
	bool works; /* before it talks */
	int replies;
};

/* She answers every message with another update, and is overdue at once. */
static bool
talks_until_told(void *arg)
{
	struct talker *talker = arg;
	struct agent *eve = fleet_find(floor_world.fleet, "eve");
	cleanup_free char *words = NULL;
	struct plan_work *a = assignment();

	if (a->status == ASSIGNMENT_BLOCKED)
		return true;
	if (eve->op != NULL)
		return false;
	if (eve->worker->session.busy) {
		if (talker->works)
			fake_session_progresses(eve->session);
		words = xasprintf("```json\n{\"overseerUpdate\": {\"status\": "
				  "\"in_progress\", \"summary\": \"Part %d\"}}"
				  "\n```\n",
		    ++talker->replies);
		fake_session_turn_ends(eve->session, words);
		fake_session_is_quiet(eve->session, (int64_t)3600 * 1000);
	} else if (eve->worker->status == WORKER_NO_CHANGES &&
	    plan_node_last_dispatch(plan_world_worked())->result !=
		DISPATCH_PENDING) {
		a->last_dispatch_ms -= 1000 * 1000;
		a->last_activity_ms = a->expected_update_ms = 1;
		a->backoff_until_ms = 0;
	}
	return false;
}

static int
talk(bool works)
{
	struct talker talker = { .works = works };

	begin_eve();
	floor_world_wait(eve_has_it, &plan_world);
	floor_world_wait_closely(talks_until_told, &talker);
	ck_assert_int_eq(plan_world_events("work.update"), talker.replies);
	ck_assert_int_eq(plan_world_events("assignment.escalated"), 1);
	plan_world_is("goal_a", "active; T1.1 blocked; ");
	plan_world_end();
	return talker.replies;
}

/* max_retries is 2. */
TEST(words_do_not_begin_the_retries_anew)
{
	ck_assert_int_eq(talk(false), 3);
}

TEST(work_begins_the_retries_anew_but_not_for_ever)
{
	int replies = talk(true);

	ck_assert_int_gt(replies, 3);
	ck_assert_int_le(replies, 10);
}
