/* SPDX-License-Identifier: ISC */

/* What limits an agent limits those that it asks for, also after it has ended;
 * and how many of them may be at work. */
#include <check.h>
#include <string.h>

#include "agent.h"
#include "json.h"
#include "launch-choice.h"
#include "mem.h"
#include "plan-text.h"
#include "run-dir.h"
#include "task-run.h"
#include "task.h"
#include "family-world.h"
#include "unit.h"

#define CODER "{\"role\":\"coder\",\"task\":\"Write it.\"}"

static struct task *
task(struct family_world *world, const char *id)
{
	return state_task(&world->world->core->state, id);
}

/* This worker asks for an agent; why it does not get it, NULL = it does. */
static const char *
asks(struct family_world *world, const char *worker, const char *agent)
{
	struct floor_world *floor = &world->world->floor;
	cleanup_free char *socket = run_dir_socket(&floor->workspace, worker);
	cleanup_free char *params = xasprintf(
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[%s]}", agent);
	struct floor_call *call =
	    floor_world_ask_at(floor, socket, "team.agent_spawn", params);
	const char *error = floor_world_answer(floor, call);

	ck_assert_msg(error == NULL, "%s", error);
	plan_world_settle(&world->plan);
	return json_string_or(floor_call_result(call), "reason", NULL);
}

static void
drop(struct family_world *world, const char *id)
{
	cleanup_free char *params = xasprintf("{\"task\":\"%s\"}", id);

	plan_world_must(&world->plan, "task.drop", params);
	family_world_wait_filed(world, id);
}

/* t1 asked for t2, and that for t3: all are at work. */
static void
begin(struct family_world *world, const char *more)
{
	family_world_begin(world, more);
	family_world_turn(world, "t1");
	ck_assert_pstr_eq(asks(world, "auto-1", CODER), NULL);
	family_world_turn(world, "t2");
	ck_assert_pstr_eq(asks(world, "team-1", CODER), NULL);
	family_world_turn(world, "t3");
	ck_assert_str_eq(task(world, "t3")->worker, "team-2");
}

/* --- confinement ------------------------------------------------------- */

static void
is_confined(struct family_world *world, const char *id, bool by_team)
{
	cleanup_launch_choice struct launch_choice choice = { 0 };

	launch_choice_make(
	    world->world->core->settings, task(world, id)->run, &choice);
	ck_assert_str_eq(launch_choice_mode(&choice, "acceptEdits"), "dontAsk");
	ck_assert_str_eq(launch_choice_mode(&choice, "plan"), "plan");
	ck_assert(plan_has(choice.deny, "WebFetch"));
	ck_assert(plan_has(choice.deny, "WebSearch") == by_team);
}

TEST(no_agent_below_another_may_do_what_its_worker_may_not)
{
	struct family_world world;

	begin(&world,
	    "[team]\non_parent_end = \"hand_over\"\n"
	    "[workers.auto-1]\npermission_mode = \"dontAsk\"\n"
	    "disallowed_tools = [\"WebFetch\"]\n"
	    "[workers.team-1]\ndisallowed_tools = [\"WebSearch\"]\n");
	is_confined(&world, "t2", false);
	is_confined(&world, "t3", true);
	drop(&world, "t2");
	drop(&world, "t1");
	is_confined(&world, "t3", true);
	floor_world_settle(&world.world->floor);
	family_world_die(&world);
	is_confined(&world, "t3", true);
	family_world_end(&world);
}

/* --- its place --------------------------------------------------------- */

TEST(one_that_was_handed_over_keeps_its_place_and_counts)
{
	struct family_world world;
	struct json_object *rows, *row;
	struct agent *agent;

	begin(&world,
	    "[team]\non_parent_end = \"hand_over\"\nmax_concurrent = 3\n");
	drop(&world, "t2");
	drop(&world, "t1");
	ck_assert_ptr_null(task(&world, "t3")->run->parent);
	ck_assert_str_eq(
	    asks(&world, "team-2", CODER), "all_requests_exceed_depth_limit");
	rows = plan_world_must(&world.plan, "team.tree", "{}");
	row =
	    json_object_array_get_idx(rows, json_object_array_length(rows) - 1);
	ck_assert_str_eq(json_string_or(row, "task", ""), "t3");
	ck_assert_str_eq(json_string_or(row, "role", ""), "coder");
	ck_assert_int_eq(json_int_or(row, "depth", 0), 3);
	ck_assert_str_eq(
	    json_string_or(row, "parent_actor_id", ""), ACTOR_OVERSEER);
	/* Another attempt is for the workers of teams too. */
	ck_assert(task_run_is_spawned(task(&world, "t3")));
	plan_world_goal(&world.plan, "h", 1);
	agent = family_world_turn(&world, "t4");
	ck_assert_str_eq(agent->worker->name, "auto-1");
	ck_assert_pstr_eq(asks(&world, "auto-1", CODER "," CODER), NULL);
	ck_assert_str_eq(asks(&world, "auto-1", CODER), "resource_exhausted");
	family_world_end(&world);
}

/* --- how many ---------------------------------------------------------- */

TEST(those_that_wait_for_others_do_not_count)
{
	struct family_world world;
	struct agent *agent;

	family_world_begin(&world, "[team]\nmax_concurrent = 1\n");
	family_world_turn(&world, "t1");
	ck_assert_pstr_eq(asks(&world, "auto-1", CODER), NULL);
	agent = family_world_turn(&world, "t2");
	ck_assert_str_eq(asks(&world, "auto-1", CODER), "resource_exhausted");
	/* It will wait itself; until then the other one does not begin. */
	ck_assert_pstr_eq(asks(&world, "team-1", CODER), NULL);
	ck_assert_str_eq(asks(&world, "team-1", CODER), "resource_exhausted");
	auto_world_patrol(world.world);
	floor_world_settle(&world.world->floor);
	ck_assert_ptr_null(state_find(&world.world->core->state, "team-2"));
	family_world_turn_ends(&world, agent, "b.txt");
	family_world_wait(&world, "team-1", WORKER_WAITING);
	agent = family_world_turn(&world, "t3");
	ck_assert_str_eq(asks(&world, "auto-1", CODER), "resource_exhausted");
	family_world_turn_ends(&world, agent, "c.txt");
	family_world_wait_filed(&world, "t3");
	family_world_end(&world);
}

TEST(whoever_waits_leaves_its_place_to_another)
{
	struct family_world world;

	begin(&world, "[team]\nmax_concurrent = 2\n");
	ck_assert_str_eq(asks(&world, "auto-1", CODER), "resource_exhausted");
	family_world_turn_ends(
	    &world, family_world_turn(&world, "t2"), "b.txt");
	family_world_wait(&world, "team-1", WORKER_WAITING);
	ck_assert_pstr_eq(asks(&world, "auto-1", CODER), NULL);
	family_world_turn(&world, "t4");
	family_world_end(&world);
}

TEST(one_that_has_ended_leaves_its_place_with_a_provider)
{
	struct family_world world;

	family_world_begin(
	    &world, "[team]\nprovider_limits = [\"anthropic=1\"]\n");
	family_world_turn(&world, "t1");
	ck_assert_pstr_eq(asks(&world, "auto-1", CODER), NULL);
	family_world_turn(&world, "t2");
	ck_assert_str_eq(asks(&world, "auto-1", CODER), "provider_limit");
	drop(&world, "t2");
	ck_assert_pstr_eq(asks(&world, "auto-1", CODER), NULL);
	family_world_end(&world);
}
