/* SPDX-License-Identifier: ISC */

/* Agents that others have asked for have workers of their own; those who asked
 * wait for them, whatever happens meanwhile. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "json.h"
#include "mem.h"
#include "persist.h"
#include "run-dir.h"
#include "task-run.h"
#include "family-world.h"
#include "unit.h"

static const struct worker *
worker(struct family_world *world, const char *name)
{
	return state_find(&world->world->core->state, name);
}

static struct task *
task(struct family_world *world, const char *id)
{
	return state_task(&world->world->core->state, id);
}

/* t1 is at work and has asked for t2, which is at work too. */
static void
begin(struct family_world *world, const char *more, const char *run)
{
	family_world_begin(world, more);
	family_world_turn(world, "t1");
	family_world_spawn(world, "t1", "S1", run);
	family_world_turn(world, "t2");
}

/* The turn of t1 ends, and it waits. */
static void
wait_for_others(struct family_world *world, const char *file)
{
	family_world_turn_ends(world, family_world_turn(world, "t1"), file);
	family_world_wait(world, "auto-1", WORKER_WAITING);
}

static void
has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s: not in %s", part, text);
}

static const char *
files(struct family_world *world)
{
	return floor_world_wt(
	    &world->world->floor, "auto-1", "ls *.txt | tr '\n' ' '");
}

/* t1 has its results: it ends, and so does the goal. */
static void
finish(struct family_world *world, const char *want)
{
	family_world_turn_ends(world, family_world_turn(world, "t1"), NULL);
	family_world_wait_filed(world, "t1");
	plan_world_is(&world->plan, "g", want);
}

/* --- waiting ---------------------------------------------------------- */

TEST(who_asked_waits_is_rebased_and_gets_the_results)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	ck_assert_str_eq(task(&world, "t2")->worker, "team-1");
	ck_assert_str_eq(task(&world, "t2")->run->parent, "t1");
	wait_for_others(&world, "a.txt");
	floor_world_settle(&world.world->floor);
	ck_assert_str_eq(worker(&world, "auto-1")->reason, "waits for S1 (t2)");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "b.txt");
	agent = family_world_turn(&world, "t1");
	has(fake_session_prompt(agent->session), "agent.completed:");
	has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	has(fake_session_prompt(agent->session), "\"outcome\": \"landed\"");
	ck_assert_str_eq(files(&world), "a.txt b.txt ");
	finish(&world, "completed; T1.1 done; S1 done; ");
	auto_world_filed(world.world, "t2 landed; t1 landed; ");
	family_world_end(&world);
}

/* Its row of the tree. */
static void
shown(struct family_world *world, size_t at, const char *status, int asks,
    const char *why)
{
	struct json_object *row = json_object_array_get_idx(
	    plan_world_must(&world->plan, "team.tree", "{}"), at);

	ck_assert_str_eq(json_string_or(row, "runStatus", ""), status);
	ck_assert_int_eq(json_int_or(row, "pendingRequestCount", -1), asks);
	ck_assert_str_eq(json_string_or(row, "blockedReason", ""), why);
}

/* The worker of this task asks; returns when that is stored. */
static struct floor_call *
ask(struct family_world *world, const char *id)
{
	struct floor_world *floor = &world->world->floor;
	cleanup_free char *socket =
	    run_dir_socket(&floor->workspace, task(world, id)->worker);
	struct floor_call *call = floor_world_ask_at(floor, socket,
	    "team.request_orchestrator", "{\"message\":\"A or B?\\nTell.\"}");

	floor_world_settle(floor);
	plan_world_settle(&world->plan);
	return call;
}

TEST(agents_know_whom_they_ask_and_the_tree_shows_that_they_wait)
{
	struct family_world world;

	begin(&world, NULL, ", \"parent_actor\": \"actor:task:t1\"");
	has(fake_session_prompt(family_world_turn(&world, "t2")->session),
	    "You work for actor:task:t1, which spawned you.");
	ck_assert_ptr_null(strstr(
	    fake_session_prompt(family_world_turn(&world, "t1")->session),
	    "You work for"));
	shown(&world, 0, "running", 0, "");
	shown(&world, 1, "running", 0, "");
	ask(&world, "t2");
	shown(&world, 0, "running", 0, "");
	shown(&world, 1, "blocked", 1, "waits for an answer of actor:task:t1");
	ask(&world, "t1");
	shown(&world, 0, "blocked", 1,
	    "waits for an answer of actor:system:person");
	family_world_end(&world);
}

TEST(it_waits_on_until_all_have_ended)
{
	struct family_world world;

	begin(&world, NULL, "");
	family_world_spawn(&world, "t1", "S2", "");
	family_world_turn(&world, "t3");
	ck_assert_str_eq(task(&world, "t3")->worker, "team-2");
	wait_for_others(&world, "a.txt");
	floor_world_settle(&world.world->floor);
	ck_assert_str_eq(
	    worker(&world, "auto-1")->reason, "waits for S1 (t2), S2 (t3)");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t3"), "b.txt");
	/* It has nothing to do with the first result, and waits again. */
	wait_for_others(&world, NULL);
	floor_world_settle(&world.world->floor);
	ck_assert_str_eq(worker(&world, "auto-1")->reason, "waits for S1 (t2)");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "c.txt");
	has(fake_session_prompt(family_world_turn(&world, "t1")->session),
	    "\"task_id\": \"t2\"");
	ck_assert_str_eq(files(&world), "a.txt b.txt c.txt ");
	finish(&world, "completed; T1.1 done; S1 done; S2 done; ");
	family_world_end(&world);
}

TEST(a_conflict_with_their_work_is_its_own_to_resolve)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	wait_for_others(&world, "same.txt");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "same.txt");
	family_world_wait(&world, "auto-1", WORKER_REBASING);
	agent = family_world_turn(&world, "t1");
	floor_world_wt(&world.world->floor, "auto-1",
	    "echo both >same.txt; git add same.txt; "
	    "GIT_EDITOR=true git rebase --continue >/dev/null 2>&1");
	fake_session_turn_ends(agent->session, "Resolved.");
	family_world_wait_filed(&world, "t2");
	family_world_wait_filed(&world, "t1");
	ck_assert_str_eq(
	    floor_world_sh(&world.world->floor, "cat same.txt"), "both");
	family_world_end(&world);
}

/* Whatever was going on, the next daemon goes on with it. */
TEST(a_daemon_that_dies_changes_nothing)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	wait_for_others(&world, "a.txt");
	floor_world_settle(&world.world->floor);
	family_world_die(&world);
	family_world_wait(&world, "auto-1", WORKER_WAITING);
	agent = family_world_turn(&world, "t2");
	family_world_turn_ends(&world, agent, "b.txt");
	family_world_wait(&world, "team-1", WORKER_ACCEPTING);
	family_world_die(&world);
	agent = family_world_turn(&world, "t1");
	has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	family_world_die(&world);
	ck_assert_str_eq(files(&world), "a.txt b.txt ");
	finish(&world, "completed; T1.1 done; S1 done; ");
	auto_world_filed(world.world, "t2 landed; t1 landed; ");
	family_world_end(&world);
}

TEST(a_person_may_pause_it_and_talk_to_it)
{
	struct family_world world;
	struct floor_call *call;
	struct agent *agent;

	begin(&world, NULL, "");
	wait_for_others(&world, "a.txt");
	call =
	    floor_world_call(&world.world->floor, "worker.pause", "auto-1", "");
	ck_assert_ptr_null(floor_world_answer(&world.world->floor, call));
	ck_assert_int_eq(worker(&world, "auto-1")->status, WORKER_PAUSED);
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "b.txt");
	family_world_wait_filed(&world, "t2");
	ck_assert_int_eq(worker(&world, "auto-1")->status, WORKER_PAUSED);
	ck_assert_str_eq(files(&world), "a.txt ");
	call = floor_world_ask(
	    &world.world->floor, "auto.resume", "{\"worker\": \"auto-1\"}");
	ck_assert_ptr_null(floor_world_answer(&world.world->floor, call));
	agent = family_world_turn(&world, "t1");
	has(fake_session_prompt(agent->session), "\"task_id\": \"t2\"");
	ck_assert_str_eq(files(&world), "a.txt b.txt ");
	finish(&world, "completed; T1.1 done; S1 done; ");
	family_world_end(&world);
}

/* --- ends -------------------------------------------------------------- */

TEST(one_that_fails_is_told_and_the_goal_goes_on_without_it)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, "max_attempts = 1\n", "");
	wait_for_others(&world, "a.txt");
	agent = family_world_turn(&world, "t2");
	for (int i = 0; i < 4; i++) {
		agent = family_world_turn(&world, "t2");
		fake_session_turn_ends(agent->session, "I cannot do this.");
	}
	agent = family_world_turn(&world, "t1");
	has(fake_session_prompt(agent->session), "\"outcome\": \"failed\"");
	finish(&world, "completed; T1.1 done; S1 cancelled; ");
	auto_world_filed(world.world, "t2 failed; t1 landed; ");
	family_world_end(&world);
}

static void
drop(struct family_world *world, const char *id)
{
	cleanup_free char *params = xasprintf("{\"task\": \"%s\"}", id);
	struct floor_call *call =
	    floor_world_ask(&world->world->floor, "task.drop", params);

	ck_assert_ptr_null(floor_world_answer(&world->world->floor, call));
}

TEST(whoever_ends_badly_takes_those_below_along)
{
	struct family_world world;

	begin(&world, NULL, "");
	family_world_spawn(&world, "t2", "S2", "");
	family_world_turn(&world, "t3");
	floor_world_wt(&world.world->floor, "team-2", "echo half >half.txt");
	drop(&world, "t1");
	family_world_wait_filed(&world, "t1");
	family_world_wait_filed(&world, "t2");
	family_world_wait_filed(&world, "t3");
	floor_world_settle(&world.world->floor);
	plan_world_is(&world.plan, "g",
	    "active; T1.1 blocked; S1 cancelled; S2 cancelled; ");
	has(floor_world_sh(
		&world.world->floor, "git for-each-ref --format='%(refname)'"),
	    "salvage/team-2");
	family_world_end(&world);
}

TEST(or_hands_them_to_whoever_is_above)
{
	struct family_world world;

	begin(&world, "[team]\non_parent_end = \"hand_over\"\n", "");
	family_world_spawn(&world, "t2", "S2", "");
	family_world_turn(&world, "t3");
	drop(&world, "t2");
	family_world_wait_filed(&world, "t2");
	ck_assert_str_eq(task(&world, "t3")->run->parent, "t1");
	ck_assert_str_eq(
	    task(&world, "t3")->run->parent_actor, "actor:task:t1");
	drop(&world, "t1");
	family_world_wait_filed(&world, "t1");
	ck_assert_ptr_null(task(&world, "t3")->run->parent);
	ck_assert_str_eq(task(&world, "t3")->run->parent_actor, ACTOR_OVERSEER);
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t3"), "c.txt");
	family_world_wait_filed(&world, "t3");
	auto_world_filed(world.world, "t2 aborted; t1 aborted; t3 landed; ");
	family_world_end(&world);
}

TEST(a_run_that_takes_too_long_has_failed)
{
	struct family_world world;
	struct task *filed;
	struct agent *agent;

	begin(&world, NULL, ", \"timeout_s\": 30");
	wait_for_others(&world, "a.txt");
	task(&world, "t2")->assigned_ms -= 29500;
	persist_changed(world.world->core);
	floor_world_settle(&world.world->floor);
	family_world_die(&world);
	agent = family_world_turn(&world, "t1");
	has(fake_session_prompt(agent->session), "timeout: ");
	family_world_wait_filed(&world, "t2");
	filed = family_world_filed(&world, "t2");
	ck_assert_int_eq(filed->outcome, OUTCOME_FAILED);
	ck_assert_int_eq(filed->attempts, 1);
	ck_assert(filed->run->timed_out);
	task_free(filed);
	finish(&world, "completed; T1.1 done; S1 cancelled; ");
	family_world_end(&world);
}

/* --- workers ----------------------------------------------------------- */

static bool
is_removed(void *arg)
{
	struct family_world *world = arg;

	return worker(world, "team-1") == NULL;
}

TEST(workers_that_nobody_needs_any_more_are_removed)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "b.txt");
	family_world_wait_filed(&world, "t2");
	family_world_wait(&world, "team-1", WORKER_IDLE);
	auto_world_patrol(world.world);
	floor_world_settle(&world.world->floor);
	agent = fleet_find(world.world->floor.fleet, "team-1");
	ck_assert_ptr_nonnull(agent);
	agent->worker->since_ms -= 61000;
	auto_world_patrol(world.world);
	floor_world_wait(&world.world->floor, is_removed, &world);
	ck_assert_ptr_nonnull(worker(&world, "auto-1"));
	family_world_end(&world);
}

TEST(a_session_with_other_settings_is_started_anew)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, NULL, "");
	agent = family_world_turn(&world, "t2");
	ck_assert_int_eq(fake_session_launches(agent->session), 1);
	family_world_turn_ends(&world, agent, "b.txt");
	family_world_wait_filed(&world, "t2");
	family_world_spawn(&world, "t1", "S2", ", \"model\": \"haiku\"");
	agent = family_world_turn(&world, "t3");
	ck_assert_str_eq(agent->worker->name, "team-1");
	ck_assert_int_eq(fake_session_launches(agent->session), 2);
	/* Nobody knows how the session of another daemon was started. */
	family_world_turn_ends(&world, agent, "c.txt");
	family_world_wait_filed(&world, "t3");
	family_world_wait(&world, "team-1", WORKER_IDLE);
	family_world_die(&world);
	family_world_spawn(&world, "t1", "S3", "");
	agent = family_world_turn(&world, "t4");
	ck_assert_int_gt(fake_session_launches(agent->session), 0);
	family_world_end(&world);
}

TEST(those_that_wait_do_not_count_against_the_limit)
{
	struct family_world world;
	struct agent *agent;

	begin(&world, "[team]\nmax_concurrent = 1\n", "");
	family_world_spawn(&world, "t2", "S2", "");
	auto_world_patrol(world.world);
	floor_world_settle(&world.world->floor);
	ck_assert_ptr_null(worker(&world, "team-2"));
	agent = family_world_turn(&world, "t2");
	family_world_turn_ends(&world, agent, "b.txt");
	family_world_wait(&world, "team-1", WORKER_WAITING);
	agent = family_world_turn(&world, "t3");
	ck_assert_str_eq(agent->worker->name, "team-2");
	family_world_end(&world);
}
