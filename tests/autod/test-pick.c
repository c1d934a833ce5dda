/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <string.h>

#include "agent.h"
#include "json.h"
#include "landing-item.h"
#include "landing-record.h"
#include "landing-world.h"
#include "landing.h"
#include "life.h"
#include "mem.h"
#include "serve.h"
#include "unit.h"
#include "worker-op.h"

/* A worker in the middle of its work: a commit and a change. */
static struct agent *
make_worker(struct landing_world *world, const char *name, const char *file)
{
	struct agent *agent = landing_world_work(world, name, file, "two");
	cleanup_free char *more = xasprintf("echo more >>%s", file);

	agent->worker->status = WORKER_PAUSED;
	floor_world_wt(&world->floor, name, more);
	return agent;
}

static struct floor_call *
pick(struct landing_world *world, const char *worker)
{
	return floor_world_call(&world->floor, "worker.pick", worker, "");
}

TEST(lands_what_is_there)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = make_worker(&world, "adam", "b.txt");
	landing_world_meanwhile(&world, "c.txt", "three");
	call = pick(&world, "adam");
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	ck_assert_str_eq(
	    json_string_or(floor_call_result(call), "commit_sha", ""),
	    floor_world_sh(&world.floor, "git rev-parse main"));
	landing_world_main(&world, "Work of adam, picked,meanwhile,first,");
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "cat b.txt"), "two\nmore");
	/* The worker and its worktree are unchanged. */
	ck_assert_int_eq(adam->worker->status, WORKER_PAUSED);
	ck_assert_ptr_null(adam->op);
	ck_assert_str_eq(floor_world_wt(&world.floor, "adam",
			     "git log -1 --format=%s; git status --porcelain"),
	    "by adam\n M b.txt");
	landing_world_told(&world, "landed adam; ");
	landing_world_end(&world);
}

TEST(what_cannot_be_picked)
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	floor_world_add(&world.floor, "eve", WORKER_OFFLINE);
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(&world.floor, pick(&world, "eve")),
		"nothing to pick"));
	make_worker(&world, "adam", "a.txt");
	landing_world_meanwhile(&world, "a.txt", "theirs");
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(&world.floor, pick(&world, "adam")),
		"it conflicts with main; its work is in refs/llmc/salvage/"));
	landing_world_main(&world, "meanwhile,first,");
	landing_world_end(&world);
}

/* What never lands is not picked either, committed or not. */
static const char *const forbidden_rows[] = {
	"mkdir .llmc; echo x >.llmc/t; git add -f .llmc; git commit -qm x",
	"mkdir .llmc; echo x >.llmc/t; git add -f .llmc",
	"mkdir -p .worktrees; echo x >.worktrees/t; git add -f .worktrees",
};

TEST_ROWS(what_never_lands, nitems(forbidden_rows))
{
	struct landing_world world;

	landing_world_begin(&world, NULL);
	make_worker(&world, "adam", "b.txt");
	floor_world_wt(&world.floor, "adam", forbidden_rows[_i]);
	ck_assert_ptr_nonnull(
	    strstr(floor_world_answer(&world.floor, pick(&world, "adam")),
		"adam must not land on main: ."));
	landing_world_main(&world, "first,");
	landing_world_end(&world);
}

/* A change of the judge, committed or not, is judged by the one on main. */
static const char *const judge_rows[] = {
	"echo true >judge; git add judge; git commit -qm judge",
	"echo true >judge",
};

TEST_ROWS(does_not_weaken_its_judge, nitems(judge_rows))
{
	struct landing_world world;
	const struct landing_record *record;
	struct floor_call *call;

	landing_world_begin(&world, "[auto]\nprotected_paths = [\"judge\"]\n");
	make_worker(&world, "adam", "b.txt");
	floor_world_wt(&world.floor, "adam", judge_rows[_i]);
	world.may_not_begin = true;
	call = pick(&world, "adam");
	landing_world_wait(&world, NULL, "queued");
	record = &world.floor.core->state.landings;
	ck_assert(record->items[0]->guarded);
	ck_assert(record->items[0]->approved);
	world.may_not_begin = false;
	landings_kick(world.landings);
	ck_assert_ptr_null(floor_world_answer(&world.floor, call));
	landing_world_end(&world);
}

/* A commit that comes after the person has looked. */
TEST(lands_what_was_shown)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;
	cleanup_free char *seen = NULL;
	const char *error;

	landing_world_begin(&world, NULL);
	adam = make_worker(&world, "adam", "b.txt");
	seen = xasprintf(",\"commit\":\"%s\"",
	    floor_world_wt(&world.floor, "adam", "git rev-parse HEAD"));
	call = floor_world_call(&world.floor, "worker.pick", "adam", seen);
	floor_world_wait_step(&world.floor, adam, "look");
	floor_world_wt(&world.floor, "adam", "git commit -qam later");
	error = floor_world_answer(&world.floor, call);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(
	    strstr(error, "is not what you were shown") != NULL, "%s", error);
	landing_world_main(&world, "first,");
	landing_world_end(&world);
}

/* Both start from the same commit; the queue puts one on top of the other. */
TEST(two_at_once)
{
	struct landing_world world;
	struct floor_call *calls[2];

	landing_world_begin(&world, NULL);
	make_worker(&world, "adam", "b.txt");
	make_worker(&world, "eve", "c.txt");
	calls[0] = pick(&world, "adam");
	calls[1] = pick(&world, "eve");
	for (size_t i = 0; i < 2; i++)
		ck_assert_ptr_null(floor_world_answer(&world.floor, calls[i]));
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "git rev-list --count main"), "3");
	landing_world_end(&world);
}

TEST(two_of_one_worker)
{
	struct landing_world world;
	struct floor_call *first, *second;

	landing_world_begin(&world, NULL);
	make_worker(&world, "adam", "b.txt");
	first = pick(&world, "adam");
	second = pick(&world, "adam");
	ck_assert_ptr_nonnull(floor_world_answer(&world.floor, second));
	ck_assert_int_eq(floor_call_code(second), API_BUSY);
	ck_assert_ptr_null(floor_world_answer(&world.floor, first));
	landing_world_end(&world);
}

/* A landing waits while its worker is being picked. */
TEST(a_landing_waits_for_it)
{
	struct landing_world world;
	struct floor_call *accept, *picked;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = landing_world_work(&world, "adam", "b.txt", "two");
	world.may_not_begin = true;
	accept = floor_world_call(&world.floor, "worker.accept", "adam", "");
	floor_world_wait_status(&world.floor, adam, WORKER_ACCEPTING);
	floor_world_settle(&world.floor);
	picked = pick(&world, "adam");
	floor_world_wait_step(&world.floor, adam, "look");
	world.may_not_begin = false;
	landings_kick(world.landings);
	ck_assert_ptr_null(floor_world_answer(&world.floor, picked));
	ck_assert_ptr_null(floor_world_answer(&world.floor, accept));
	landing_world_end(&world);
}

static const char *const steps[] = { "look", "salvage", "look-again" };

TEST_ROWS(cancelled_at_each_step, nitems(steps))
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = make_worker(&world, "adam", "b.txt");
	call = pick(&world, "adam");
	floor_world_wait_step(&world.floor, adam, steps[_i]);
	operation_cancel(&adam->op->op, "enough");
	ck_assert_str_eq(floor_world_answer(&world.floor, call), "enough");
	ck_assert_str_eq(
	    floor_world_sh(&world.floor, "git rev-list --count main"), "1");
	ck_assert_ptr_null(adam->op);
	landing_world_end(&world);
}

TEST(a_daemon_that_stops)
{
	struct landing_world world;
	struct floor_call *call;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = make_worker(&world, "adam", "b.txt");
	call = pick(&world, "adam");
	floor_world_wait_step(&world.floor, adam, "salvage");
	life_stop(world.floor.core, "the test", false);
	floor_world_wait_stopped(&world.floor);
	ck_assert_str_eq(
	    floor_world_answer(&world.floor, call), "the daemon is stopping");
	ck_assert_ptr_null(adam->op);
	landing_world_end(&world);
}

/* A daemon that dies drops everything. */
TEST(a_daemon_that_dies)
{
	struct landing_world world;
	struct agent *adam;

	landing_world_begin(&world, NULL);
	adam = make_worker(&world, "adam", "b.txt");
	pick(&world, "adam");
	floor_world_wait_step(&world.floor, adam, "salvage");
	landing_world_end(&world);
}
