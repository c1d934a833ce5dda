/* SPDX-License-Identifier: ISC */

/* How landings end, the queue, and their events. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "json.h"
#include "landing-item.h"
#include "landing-world.h"
#include "landing.h"
#include "mem.h"
#include "op-reset.h"
#include "serve.h"
#include "unit.h"

static void
assert_is(const struct agent *agent, enum worker_status status, bool accepted)
{
	ck_assert_str_eq(worker_status_name(agent->worker->status),
	    worker_status_name(status));
	ck_assert_int_eq(agent->worker->accepted, accepted);
	ck_assert_ptr_null(agent->op);
}

/* What is done in the worktree while the branch moves stays there, or it is
 * saved where the reset needs the place. */
static const struct late_row {
	const char *change;
	const char *where; /* "late" is found */
} late_rows[] = {
	{ "echo late >>b.txt", "git grep -h late" },
	{ "echo late >c.txt", "git grep -h late $S" },
	{ "echo late >d.txt; git add d.txt; git commit -qm late",
	    "git grep -h late $S" },
};

TEST_ROWS(late_work_is_saved, nitems(late_rows))
{
	cleanup_free char *where = NULL;
	struct landing_world world;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_meanwhile(&world, "c.txt", "three");
	landing_begin(world.landings, adam, NULL, false, NULL);
	landing_world_wait(&world, adam, "moving");
	floor_world_wt(&world.floor, "adam", late_rows[_i].change);
	floor_world_settle(&world.floor);
	landing_world_main(&world, "by adam,meanwhile,first,");
	where = xasprintf("S=$(git for-each-ref --format='%%(refname)' "
			  "refs/llmc/salvage/adam); %s",
	    late_rows[_i].where);
	ck_assert_str_eq(floor_world_wt(&world.floor, "adam", where), "late");
	ck_assert_str_eq(
	    floor_world_wt(&world.floor, "adam", "git rev-parse HEAD"),
	    floor_world_sh(&world.floor, "git rev-parse main"));
	landing_world_end(&world);
}

TEST(lands_as_one_commit)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	floor_world_wt(&world.floor, "adam",
	    "echo three >c.txt; git add c.txt; git commit -qm second; "
	    "echo left >d.txt");
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    floor_world_sh(&world.floor, "git rev-parse main"));
	landing_world_main(&world, "by adam,first,");
	ck_assert_str_eq(floor_world_sh(&world.floor, "cat b.txt c.txt d.txt"),
	    "two\nthree\nleft");
	ck_assert_str_eq(floor_world_wt(&world.floor, "adam",
			     "git rev-parse HEAD; git status --porcelain"),
	    floor_world_sh(&world.floor, "git rev-parse main"));
	assert_is(adam, WORKER_OFFLINE, false);
	landing_world_told(&world, "landed adam; ended adam landed; ");
	ck_assert(!landings_busy(world.landings));
	landing_world_end(&world);
}

TEST(nothing_is_left_to_land)
{
	struct landing_world world;
	struct floor_call *call;

	landing_world_begin(&world, NULL);
	landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_meanwhile(&world, "b.txt", "two");
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert(json_bool_or(
	    floor_call_result(call), "already_incorporated", false));
	landing_world_main(&world, "meanwhile,first,");
	landing_world_told(&world, "nothing of adam; ended adam landed; ");
	landing_world_end(&world);
}

TEST(a_branch_that_moves_is_followed)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	landing_world_wait(&world, adam, "moving");
	landing_world_meanwhile(&world, "c.txt", "three");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	landing_world_main(&world, "by adam,meanwhile,first,");
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

/* --- conflicts, a checkout in the way -------------------------------- */

TEST(a_conflict_is_resolved_by_its_worker)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "a.txt", "mine");
	landing_world_meanwhile(&world, "a.txt", "theirs");
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert(json_bool_or(
	    floor_call_result(call), "needs_conflict_resolution", false));
	/* The landing continues when the worker has finished. */
	assert_is(adam, WORKER_REBASING, true);
	ck_assert_int_eq(adam->worker->session.step != PROMPT_NONE, true);
	ck_assert_ptr_nonnull(strstr(adam->worker->session.pending, "a.txt"));
	landing_world_told(&world, "not landed adam; ended adam conflict; ");

	floor_world_wt(&world.floor, "adam",
	    "echo both >a.txt; git add a.txt; "
	    "GIT_EDITOR=true git rebase --continue >/dev/null 2>&1");
	adam->worker->session.step = PROMPT_NONE;
	agent_finish(adam, "");
	floor_world_wait_status(&world.floor, adam, WORKER_OFFLINE);
	floor_world_settle(&world.floor);
	assert_is(adam, WORKER_OFFLINE, false);
	landing_world_main(&world, "by adam,meanwhile,first,");
	ck_assert_str_eq(floor_world_sh(&world.floor, "cat a.txt"), "both");
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

TEST(too_many_conflicts_are_for_a_person)
{
	struct landing_world world;
	struct agent *adam;

	landing_world_begin(&world, "max_conflicts = 1");
	adam = landing_world_work(&world, "adam", "a.txt", "mine");
	adam->worker->conflicts = 1;
	landing_world_meanwhile(&world, "a.txt", "theirs");
	ck_assert_ptr_nonnull(
	    strstr(landing_world_accept(&world, "adam"), "resolve them by"));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	ck_assert_ptr_nonnull(strstr(adam->worker->reason, "resolve them by"));
	landing_world_main(&world, "meanwhile,first,");
	/* No unfinished rebase is left. */
	ck_assert_str_eq(
	    floor_world_wt(&world.floor, "adam", "git log -1 --format=%s"),
	    "by adam");
	ck_assert_str_eq(
	    floor_world_wt(&world.floor, "adam", "git branch --show-current"),
	    "llmc/adam");
	landing_world_told(&world, "not landed adam; ended adam stuck; ");
	landing_world_end(&world);
}

TEST(a_dirty_checkout_is_waited_for)
{
	struct landing_world world;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "a.txt", "mine");
	floor_world_sh(&world.floor, "echo dirt >a.txt");
	ck_assert_ptr_nonnull(strstr(
	    landing_world_accept(&world, "adam"), "your checkout of main is"));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	landing_world_told(&world, "not landed adam; ended adam failed; ");
	floor_world_sh(&world.floor, "git checkout -q a.txt");
	ck_assert_ptr_null(landing_world_accept(&world, "adam"));
	landing_world_main(&world, "by adam,first,");
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

/* --- the queue ------------------------------------------------------- */

/* While they wait they do not hold their workers; then they land together. */
TEST(in_their_order)
{
	struct landing_world world;
	struct floor_call *first, *second;
	struct agent *adam, *eve;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	eve = landing_world_work(&world, "eve", "c.txt", "three");
	world.may_not_begin = true;
	first = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_wait_status(&world.floor, adam, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	second = floor_world_call(&world.floor, "worker.accept", "eve", "");
	floor_world_wait_status(&world.floor, eve, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	assert_is(eve, WORKER_ACCEPTING, true);
	world.may_not_begin = false;
	landings_kick(world.landings);
	ck_assert_ptr_null(floor_world_answer(&world.floor, first));
	ck_assert_ptr_null(floor_world_answer(&world.floor, second));
	landing_world_main(&world, "by eve,by adam,first,");
	landing_world_end(&world);
}

TEST(a_policy_says_no_then_yes)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	world.may_not_begin = true;
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_wait_status(&world.floor, adam, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	assert_is(adam, WORKER_ACCEPTING, true);
	ck_assert(landings_busy(world.landings));
	ck_assert(!floor_call_is_answered(call));
	landings_kick(world.landings); /* still not allowed */
	floor_world_settle(&world.floor);
	ck_assert(!floor_call_is_answered(call));
	world.may_not_begin = false;
	landings_kick(world.landings);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

TEST(a_waiting_one_loses_its_worker)
{
	struct landing_world world;
	struct floor_call *accept, *reset;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	world.may_not_begin = true;
	accept = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_wait_status(&world.floor, adam, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	reset = floor_world_call(&world.floor, "worker.reset", "adam", "");
	ck_assert_str_eq(floor_world_answer(&world.floor, accept),
	    "the landing is cancelled: its worker was reset");
	ck_assert_ptr_null(floor_world_answer(&world.floor, reset));
	landing_world_told(&world, "ended adam cancelled; ");
	ck_assert(!landings_busy(world.landings));
	ck_assert_int_ne(adam->worker->status, WORKER_ACCEPTING);
	ck_assert_int_eq(adam->worker->accepted, false);
	world.may_not_begin = false;
	landings_kick(world.landings);
	floor_world_settle(&world.floor);
	landing_world_main(&world, "first,");
	landing_world_told(&world, "");
	landing_world_end(&world);
}

TEST(two_commands_for_one_worker)
{
	struct landing_world world;
	struct floor_call *first, *second, *third;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	first = floor_world_call(&world.floor, "worker.accept", "adam", "");
	second = floor_world_call(&world.floor, "worker.accept", "adam", "");
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, second));
	ck_assert(floor_call_code(second) == API_STATUS ||
	    floor_call_code(second) == API_BUSY);
	floor_world_wait_step(&world.floor, adam, "freeze");
	second = floor_world_call(&world.floor, "worker.reset", "adam", "");
	third = floor_world_call(&world.floor, "worker.pick", "adam", "");
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, second));
	ck_assert_int_eq(floor_call_code(second), API_BUSY);
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, third));
	ck_assert_int_eq(floor_call_code(third), API_BUSY);
	ck_assert_ptr_null(floor_world_answer(&world.floor, first));
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

/* --- commands -------------------------------------------------------- */

TEST(only_finished_work_is_accepted)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	adam->worker->status = WORKER_PAUSED;
	adam->worker->before = WORKER_WORKING;
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	ck_assert_ptr_nonnull(strstr(floor_world_answer(&world.floor, call),
	    "only finished work can be accepted"));
	ck_assert_int_eq(floor_call_code(call), API_STATUS);
	call = floor_world_call(&world.floor, "worker.rebase", "adam", "");
	ck_assert_ptr_nonnull(strstr(floor_world_answer(&world.floor, call),
	    "only finished work can be rebased"));
	call = floor_world_call(&world.floor, "worker.review", "adam", "");
	ck_assert_ptr_nonnull(strstr(
	    floor_world_answer(&world.floor, call), "nothing to review yet"));
	call = floor_world_call(
	    &world.floor, "worker.review", "adam", ",\"force\":true");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_str_eq(world.floor.core->state.last_reviewed, "adam");
	call = floor_world_call(
	    &world.floor, "worker.accept", "adam", ",\"force\":true");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	landing_world_told(&world, "landed adam; ended adam landed; ");
	landing_world_end(&world);
}

/* It was not accepted: there are no events of a landing. */
TEST(a_rebase_is_no_landing)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	landing_world_meanwhile(&world, "c.txt", "three");
	call = floor_world_call(&world.floor, "worker.review", "adam", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	assert_is(adam, WORKER_NEEDS_REVIEW, false);
	ck_assert_str_eq(
	    floor_world_wt(&world.floor, "adam", "git log --format=%s,"),
	    "by adam,\nmeanwhile,\nfirst,");

	landing_world_meanwhile(&world, "b.txt", "theirs");
	call = floor_world_call(&world.floor, "worker.rebase", "adam", "");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "status", ""), "rebasing");
	assert_is(adam, WORKER_REBASING, false);
	landing_world_told(&world, "");
	landing_world_main(&world, "meanwhile,meanwhile,first,");
	landing_world_end(&world);
}

/* The title is for people, and part of the state; the commit keeps its own. */
TEST(a_long_title_is_cut)
{
	struct landing_world world;
	struct floor_call *call;

	landing_world_begin(&world, NULL);
	landing_world_work(&world, "adam", "b.txt", "mine");
	floor_world_wt(&world.floor, "adam",
	    "git commit -q --amend -m \"$(printf '%0300d' 0)\"");
	world.may_not_begin = true;
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	landing_world_wait(&world, NULL, "queued");
	ck_assert_uint_eq(
	    strlen(world.floor.core->state.landings.items[0]->title), 200);
	world.may_not_begin = false;
	landings_kick(world.landings);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_uint_eq(
	    strlen(floor_world_sh(&world.floor, "git log -1 --format=%s main")),
	    300);
	landing_world_end(&world);
}

/* A person is told of the files, and where the work is. */
TEST(a_conflict_without_a_worker)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;
	cleanup_free char *want = NULL;
	const char *error;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "mine");
	want = xasprintf("it conflicts with main: b.txt; its commit is %.12s",
	    floor_world_wt(&world.floor, "adam", "git rev-parse HEAD"));
	call = floor_world_call(&world.floor, "worker.accept", "adam", "");
	landing_world_wait(&world, adam, "moving");
	world.floor.store_held = true;
	op_reset(adam, NULL);
	landing_world_meanwhile(&world, "b.txt", "theirs");
	floor_world_store_answer(&world.floor);
	error = floor_world_answer(&world.floor, call);
	ck_assert_ptr_nonnull(error);
	ck_assert_str_eq(error, want);
	landing_world_told(
	    &world, "not landed nobody; ended nobody conflict; ");
	landing_world_end(&world);
}
