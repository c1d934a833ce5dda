/* SPDX-License-Identifier: ISC */

/* What limits an agent limits those that it asks for, also after it has ended;
 * and how many of them may be at work. */
#include "family-world.h"
#include "outcome.h"
#include "work-record.h"
#include "agent-card.h"

#define CODER "{\"role\":\"coder\",\"task\":\"Write it.\"}"

/* This worker asks for an agent; why it does not get it, NULL = it does. */
static const char *
asks(const char *worker, const char *agent)
{
	cleanup_free char *params = xasprintf(
	    "{\"spawn_reason\":\"x\",\"requested_subagents\":[%s]}", agent);
	struct json_object *answer =
	    floor_world_result(mail_world_ask(worker, "agent_spawn", params));

	plan_world_settle();
	return json_string_or(answer, "reason", NULL);
}

/* It ends well, in spite of those that work for it. */
static void
end_well(const char *id)
{
	struct agent *agent = auto_world_turn_on(id);

	outcome_settle(
	    auto_world.mode, auto_world_of(id), OUTCOME_NO_CHANGES, NULL);
	auto_clear_worker(agent);
	auto_world_wait_step(id, -1);
}

/* t1 asked for t2, and that for t3: all are at work. */
static void
begin(const char *more)
{
	family_world_begin(more);
	auto_world_turn_on("t1");
	ck_assert_pstr_eq(asks("auto-1", CODER), NULL);
	auto_world_turn_on("t2");
	ck_assert_pstr_eq(asks("team-1", CODER), NULL);
	auto_world_turn_on("t3");
	ck_assert_str_eq(auto_world_of("t3")->worker, "team-2");
}

/* --- confinement ------------------------------------------------------- */

static void
is_confined(const char *id, bool by_team)
{
	cleanup_launch_choice struct launch_choice choice = { 0 };

	launch_choice_make(
	    auto_world.core->settings, &auto_world_of(id)->launch, &choice);
	ck_assert_str_eq(launch_choice_mode(&choice, "acceptEdits"), "dontAsk");
	ck_assert_str_eq(launch_choice_mode(&choice, "plan"), "plan");
	ck_assert(plan_has(choice.deny, "WebFetch"));
	ck_assert(plan_has(choice.deny, "WebSearch") == by_team);
}

TEST(no_agent_below_another_may_do_what_its_worker_may_not)
{
	begin("[workers.auto-1]\npermission_mode = \"dontAsk\"\n"
	      "disallowed_tools = [\"WebFetch\"]\n"
	      "[workers.team-1]\ndisallowed_tools = [\"WebSearch\"]\n");
	is_confined("t2", false);
	is_confined("t3", true);
	end_well("t2");
	end_well("t1");
	is_confined("t3", true);
	floor_world_settle();
	mail_world_die();
	is_confined("t3", true);
}

/* --- its place --------------------------------------------------------- */

TEST(one_that_was_handed_over_keeps_its_place_and_counts)
{
	struct json_object *rows, *row;
	struct agent *agent;

	begin("[team]\nmax_concurrent = 3\n");
	end_well("t2");
	end_well("t1");
	ck_assert_ptr_null(auto_world_of("t3")->launch.parent);
	ck_assert_str_eq(
	    asks("team-2", CODER), "all_requests_exceed_depth_limit");
	rows = plan_world_must("team.tree", "{}");
	row =
	    json_object_array_get_idx(rows, json_object_array_length(rows) - 1);
	ck_assert_str_eq(json_string_or(row, "task", ""), "t3");
	ck_assert_str_eq(json_string_or(row, "role", ""), "coder");
	ck_assert_int_eq(json_int_or(row, "depth", 0), 3);
	ck_assert_str_eq(
	    json_string_or(row, "parent_actor_id", ""), ACTOR_OVERSEER);
	/* Another attempt is for the workers of teams too. */
	ck_assert(task_is_spawned(auto_world_of("t3")));
	plan_world_goal("h", 1);
	agent = auto_world_turn_on("t4");
	ck_assert_str_eq(agent->worker->name, "auto-1");
	ck_assert_pstr_eq(asks("auto-1", CODER "," CODER), NULL);
	ck_assert_str_eq(asks("auto-1", CODER), "resource_exhausted");
}

/* --- how many ---------------------------------------------------------- */

TEST(those_that_wait_for_others_do_not_count)
{
	struct agent *agent;

	family_world_begin("[team]\nmax_concurrent = 1\n");
	auto_world_turn_on("t1");
	ck_assert_pstr_eq(asks("auto-1", CODER), NULL);
	agent = auto_world_turn_on("t2");
	ck_assert_str_eq(asks("auto-1", CODER), "resource_exhausted");
	/* It will wait itself; until then the other one does not begin. */
	ck_assert_pstr_eq(asks("team-1", CODER), NULL);
	ck_assert_str_eq(asks("team-1", CODER), "resource_exhausted");
	auto_world_patrol();
	floor_world_settle();
	ck_assert_ptr_null(state_find(&auto_world.core->state, "team-2"));
	family_world_turn_ends(agent, "b.txt");
	family_world_wait("team-1", WORKER_WAITING);
	agent = auto_world_turn_on("t3");
	ck_assert_str_eq(asks("auto-1", CODER), "resource_exhausted");
	family_world_turn_ends(agent, "c.txt");
	auto_world_wait_step("t3", -1);
}

TEST(whoever_waits_leaves_its_place_to_another)
{
	begin("[team]\nmax_concurrent = 2\n");
	ck_assert_str_eq(asks("auto-1", CODER), "resource_exhausted");
	family_world_turn_ends(auto_world_turn_on("t2"), "b.txt");
	family_world_wait("team-1", WORKER_WAITING);
	ck_assert_pstr_eq(asks("auto-1", CODER), NULL);
	auto_world_turn_on("t4");
}
