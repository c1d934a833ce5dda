/* SPDX-License-Identifier: ISC */

/* Nodes that are given to a worker that a person drives: what it is sent, and
 * what its work does to them when it lands or is taken back. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "clock.h"
#include "emit.h"
#include "mem.h"
#include "plan-book.h"
#include "plan-floor.h"
#include "plan-world.h"
#include "unit.h"

static struct plan_assignment *
assignment(struct plan_world *world)
{
	const struct plan_set *set = plan_floor_set(world->floor);

	ck_assert_uint_gt(set->assignment_count, 0);
	return set->assignments[set->assignment_count - 1];
}

/* --- eve --------------------------------------------------------------- */

static const char with_eve[] = "tick_every = \"100ms\"\n"
			       "allow_agents = [\"main\", \"eve\"]\n"
			       "allow_cross_agent = true\n";

static void
assign_to_eve(struct plan_world *world)
{
	struct plan_assignment *a =
	    plan_assignment_new("A_eve", "goal_a", "T1.1", clock_wall_ms());

	xstrset(&a->agent_id, "eve");
	xstrset(&a->worker, "eve");
	xstrset(&a->session_key, "worker:eve");
	plan_assignment_instruct(a, "Do it, eve.");
	ck_assert_int_eq(
	    plan_set_add_assignment(plan_floor_set(world->floor), a, NULL), 0);
	plan_book_record(world->floor, BOOK_ASSIGNMENT, "goal_a", "A_eve");
}

static bool
eve_has_it(void *arg)
{
	struct plan_world *world = arg;
	const struct agent *eve = fleet_find(world->world.floor.fleet, "eve");

	return eve != NULL && eve->op == NULL && eve->worker->session.busy &&
	    assignment(world)->dispatch_count > 0 &&
	    assignment(world)->dispatches[0].result == DISPATCH_ACCEPTED;
}

static void
begin_eve(struct plan_world *world)
{
	plan_world_begin(world, with_eve, NULL);
	floor_world_add(&world->world.floor, "eve", WORKER_OFFLINE)->retry_ms =
	    0;
	plan_world_goal(world, "goal_a", 1);
	assign_to_eve(world);
	plan_world_settle(world);
	plan_world_live(world);
}

TEST(a_worker_that_a_person_drives_gets_its_node_as_a_prompt)
{
	struct plan_world world;
	const struct agent *eve;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_ptr_nonnull(
	    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	plan_world_end(&world);
}

static bool
eve_is_done(void *arg)
{
	return plan_world_node(arg, "goal_a", "T1.1")->status == NODE_DONE;
}

TEST(work_of_such_a_worker_counts_when_a_person_accepts_it)
{
	struct plan_world world;
	struct agent *eve;
	const char *commit;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	floor_world_wt(&world.world.floor, "eve",
	    "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NEEDS_REVIEW);
	plan_world_is(&world, "goal_a", "active; T1.1 in_progress; ");
	ck_assert_ptr_null(floor_world_answer(&world.world.floor,
	    floor_world_call(&world.world.floor, "worker.accept", "eve", "")));
	floor_world_wait(&world.world.floor, eve_is_done, &world);
	plan_world_is(&world, "goal_a", "completed; T1.1 done; ");
	commit = plan_world_node(&world, "goal_a", "T1.1")->evidence.commits[0];
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "git rev-parse main"), commit);
	plan_world_end(&world);
}

static bool
is_accepted(void *arg)
{
	struct plan_world *world = arg;

	return world->floor->state == PLAN_OPEN &&
	    assignment(world)->dispatches[0].result == DISPATCH_ACCEPTED;
}

/* The daemon died after it gave the message to the worker, and before it
 * stored that. */
TEST(a_message_that_the_worker_has_is_not_sent_again)
{
	struct plan_world world;
	struct agent *eve;

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	fake_session_turn_ends(eve->session, "Nothing to do.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NO_CHANGES);
	plan_world_settle(&world);
	assignment(&world)->dispatches[0].result = DISPATCH_PENDING;
	plan_book_record(world.floor, BOOK_ASSIGNMENT, "goal_a", "A_eve");
	plan_world_settle(&world);
	floor_world_settle(&world.world.floor);
	plan_world_reopen(&world);
	plan_world_live(&world);
	floor_world_wait(&world.world.floor, is_accepted, &world);
	floor_world_settle(&world.world.floor);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	ck_assert_int_eq(eve->worker->status, WORKER_NO_CHANGES);
	plan_world_end(&world);
}

struct death {
	struct plan_world *world;
	int left; /* passes since the dispatch was decided */
};

static bool
is_time_to_die(void *arg)
{
	struct death *death = arg;
	const struct plan_assignment *a = assignment(death->world);

	return a->dispatch_count > 0 && death->left-- <= 0;
}

/* _i passes after the decision: before it is stored, stored but not sent,
 * given to the session, submitted. */
TEST_ROWS(killed_around_a_dispatch_it_is_sent_once, 12)
{
	struct plan_world world;
	struct death death = { &world, _i };
	const struct plan_assignment *a;
	const struct agent *eve;
	int given;

	begin_eve(&world);
	floor_world_wait_closely(&world.world.floor, is_time_to_die, &death);
	eve = fleet_find(world.world.floor.fleet, "eve");
	given = fake_session_prompts(eve->session);
	plan_world_reopen(&world);
	plan_world_live(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	plan_world_settle(&world);
	a = assignment(&world);
	eve = fleet_find(world.world.floor.fleet, "eve");
	ck_assert_uint_eq(a->dispatch_count, 1);
	/* A slow machine gets as far as the turn before the death. */
	if (given == 0 || fake_session_prompts(eve->session) > 0) {
		ck_assert_int_eq(fake_session_prompts(eve->session), 1);
		ck_assert_ptr_nonnull(
		    strstr(fake_session_prompt(eve->session), "Do it, eve."));
	}
	ck_assert_int_eq(plan_world_events(&world, "dispatch.ended"), 1);
	plan_world_end(&world);
}

static void
move_goal(struct plan_world *world, enum goal_status to)
{
	struct plan *plan = plan_world_plan(world, "goal_a");

	ck_assert_int_eq(
	    plan_goal_move(plan->goal, to, NULL, NULL, clock_wall_ms(), NULL),
	    0);
	plan_book_record(world->floor, BOOK_GOAL, "goal_a", "goal_a");
	plan_floor_changed(world->floor);
}

static bool
eve_is_idle(void *arg)
{
	struct plan_world *world = arg;
	const struct agent *eve = fleet_find(world->world.floor.fleet, "eve");

	return eve->worker->status == WORKER_IDLE && eve->op == NULL;
}

struct mover {
	struct plan_world *world;
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
	move_goal(mover->world, mover->to);
}

static bool
has_moved(void *arg)
{
	return ((const struct mover *)arg)->moved;
}

/* A message is decided, and the goal moves before it is sent. */
static const struct agent *
move_before_eve_has_it(struct plan_world *world, enum goal_status to)
{
	struct mover mover = { world, to, false };
	const struct agent *eve;

	begin_eve(world);
	emit_subscribe(world->world.core, on_action, &mover);
	floor_world_wait(&world->world.floor, has_moved, &mover);
	emit_unsubscribe(world->world.core, on_action, &mover);
	floor_world_wait(&world->world.floor, eve_is_idle, world);
	plan_world_settle(world);
	floor_world_settle(&world->world.floor);
	eve = fleet_find(world->world.floor.fleet, "eve");
	ck_assert_int_eq(fake_session_prompts(eve->session), 0);
	return eve;
}

static bool
is_cancelled(void *arg)
{
	return assignment(arg)->status == ASSIGNMENT_CANCELLED;
}

TEST(a_message_for_a_goal_that_was_cancelled_is_not_sent)
{
	struct plan_world world;

	move_before_eve_has_it(&world, GOAL_CANCELLED);
	ck_assert_int_eq(
	    assignment(&world)->dispatches[0].result, DISPATCH_ERROR);
	floor_world_wait(&world.world.floor, is_cancelled, &world);
	plan_world_end(&world);
}

TEST(a_message_for_a_goal_that_is_paused_is_sent_when_it_goes_on)
{
	struct plan_world world;
	const struct agent *eve;

	eve = move_before_eve_has_it(&world, GOAL_PAUSED);
	ck_assert_int_eq(
	    assignment(&world)->dispatches[0].result, DISPATCH_PENDING);
	move_goal(&world, GOAL_ACTIVE);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	ck_assert_int_eq(fake_session_prompts(eve->session), 1);
	plan_world_end(&world);
}

/* --- its work ---------------------------------------------------------- */

/* The person's accept, or pick; returns the worker. */
static struct agent *
eve_works(struct plan_world *world)
{
	struct agent *eve;

	begin_eve(world);
	floor_world_wait(&world->world.floor, eve_has_it, world);
	eve = fleet_find(world->world.floor.fleet, "eve");
	floor_world_wt(&world->world.floor, "eve",
	    "echo e >e.txt; git add e.txt; git commit -qm 'add e.txt'");
	return eve;
}

static void
accept(struct plan_world *world, const char *method)
{
	ck_assert_ptr_null(floor_world_answer(&world->world.floor,
	    floor_world_call(&world->world.floor, method, "eve", "")));
}

TEST(an_accept_that_changes_nothing_finishes_its_node)
{
	struct plan_world world;
	struct agent *eve = eve_works(&world);
	const struct plan_node *node;

	floor_world_sh(&world.world.floor,
	    "echo e >e.txt; git add e.txt; git commit -qm 'the same'");
	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(&world.world.floor, eve, WORKER_NEEDS_REVIEW);
	accept(&world, "worker.accept");
	floor_world_wait(&world.world.floor, eve_is_done, &world);
	node = plan_world_node(&world, "goal_a", "T1.1");
	ck_assert_str_eq(
	    floor_world_sh(&world.world.floor, "git rev-parse main"),
	    node->evidence.commits[0]);
	ck_assert_ptr_nonnull(
	    strstr(node->evidence.external_refs[0], "had it already"));
	plan_world_end(&world);
}

static bool
is_reopened(void *arg)
{
	struct plan_world *world = arg;
	const struct plan *plan = world->floor->state == PLAN_OPEN ?
	    plan_world_plan(world, "goal_a") :
	    NULL;

	return plan != NULL && plan->goal->status == GOAL_ACTIVE;
}

static void
revert(struct plan_world *world, const char *commit)
{
	cleanup_free char *params = xasprintf("{\"commit\": \"%s\"}", commit);

	ck_assert_ptr_null(floor_world_answer(&world->world.floor,
	    floor_world_ask(&world->world.floor, "landing.revert", params)));
}

/* Returns the commit; the goal is completed, and another daemon runs. */
static char *
eve_completes(struct plan_world *world, const char *method)
{
	struct agent *eve = eve_works(world);
	char *commit;

	fake_session_turn_ends(eve->session, "Done.");
	floor_world_wait_status(&world->world.floor, eve, WORKER_NEEDS_REVIEW);
	accept(world, method);
	floor_world_wait(&world->world.floor, eve_is_done, world);
	plan_world_is(world, "goal_a", "completed; T1.1 done; ");
	commit = xstrdup(
	    plan_world_node(world, "goal_a", "T1.1")->evidence.commits[0]);
	plan_world_settle(world);
	floor_world_settle(&world->world.floor);
	plan_world_reopen(world);
	plan_world_live(world);
	ck_assert_ptr_null(plan_world_plan(world, "goal_a"));
	return commit;
}

static const char *const methods[] = { "worker.accept", "worker.pick" };

TEST_ROWS(a_revert_opens_a_goal_that_has_ended, nitems(methods))
{
	struct plan_world world;
	cleanup_free char *commit = eve_completes(&world, methods[_i]);

	revert(&world, commit);
	floor_world_wait(&world.world.floor, is_reopened, &world);
	ck_assert_int_eq(plan_world_events(&world, "goal.active"), 1);
	ck_assert_int_eq(plan_world_events(&world, "work.queued"), 1);
	plan_world_end(&world);
}

/* --- words ------------------------------------------------------------- */

struct talker {
	struct plan_world *world;
	bool works; /* before it talks */
	int replies;
};

/* She answers every message with another update, and is overdue at once. */
static bool
talks_until_told(void *arg)
{
	struct talker *talker = arg;
	struct plan_world *world = talker->world;
	struct agent *eve = fleet_find(world->world.floor.fleet, "eve");
	cleanup_free char *words = NULL;
	struct plan_assignment *a = assignment(world);

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
	    plan_assignment_last(a)->result != DISPATCH_PENDING) {
		a->last_dispatch_ms -= 1000 * 1000;
		a->last_activity_ms = a->expected_update_ms = 1;
		a->backoff_until_ms = 0;
	}
	return false;
}

static int
talk(bool works)
{
	struct plan_world world;
	struct talker talker = { .world = &world, .works = works };

	begin_eve(&world);
	floor_world_wait(&world.world.floor, eve_has_it, &world);
	floor_world_wait_closely(&world.world.floor, talks_until_told, &talker);
	ck_assert_int_eq(
	    plan_world_events(&world, "work.update"), talker.replies);
	ck_assert_int_eq(plan_world_events(&world, "assignment.escalated"), 1);
	plan_world_is(&world, "goal_a", "active; T1.1 blocked; ");
	plan_world_end(&world);
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
