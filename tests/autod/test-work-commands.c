/* SPDX-License-Identifier: ISC */

/* The methods overseer.work.*, on a real store: each change is one version of
 * the plan, with its events. */
#include "plan-world.h"
#include "rpc.h"

/* No daemon of auto mode: nobody takes the nodes meanwhile. */
void
unit_before(void)
{
	plan_world_begin("allow_agents = [\"main\", \"eve\"]\n", NULL);
	floor_world_add("eve", WORKER_IDLE);
	floor_world_add("bob", WORKER_IDLE);
	plan_world_live();
	plan_world_goal("goal_a", 2);
	plan_world_plan("goal_a")->goal->status = GOAL_PAUSED;
}

#define must(method, params) plan_world_must(method, params)

/* And nothing was changed. */
static void
refused(const char *method, const char *params, int code, const char *words)
{
	const struct plan_goal *goal = plan_world_plan("goal_a")->goal;
	int64_t version = goal->version;

	plan_world_refused(method, params, code, words);
	ck_assert_int_eq(goal->version, version);
}

static void
update(const char *node, const char *more)
{
	cleanup_free char *params =
	    xasprintf("{\"node\":\"%s\",%s}", node, more);

	must("overseer.work.update", params);
}

TEST(done_needs_evidence_or_a_reason)
{
	const struct plan_node *node;
	int64_t before;

	refused("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"done\"}", API_E_TRANSITION,
	    "T1.1");
	before = plan_world_plan("goal_a")->goal->version;
	update("T1.1",
	    "\"status\":\"done\",\"reason\":\"seen\","
	    "\"evidence\":{\"commits\":[\"abc\"]}");
	node = plan_world_node("goal_a", "T1.1");
	ck_assert_int_eq(node->status, NODE_DONE);
	ck_assert_str_eq(node->evidence.commits[0], "abc");
	ck_assert_str_eq(node->override.reason, "seen");
	ck_assert_int_eq(plan_world_plan("goal_a")->goal->version, before + 1);
	ck_assert_int_eq(plan_world_events("work.done"), 1);
	refused("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"done\",\"reason\":\"x\"}",
	    API_E_CLOSED, "done already");
}

TEST(the_last_node_completes_the_goal)
{
	struct json_object *result;

	update("T1.1", "\"status\":\"done\",\"reason\":\"r\"");
	result = must("overseer.work.update",
	    "{\"node\":\"T1.2\",\"status\":\"done\",\"reason\":\"r\"}");
	ck_assert_str_eq(
	    json_string_or(result, "goal_status", ""), "completed");
	ck_assert_int_eq(plan_world_events("goal.completed"), 1);
	ck_assert_int_eq(plan_world_events("work.done"), 3);
}

TEST(a_node_is_blocked_for_a_reason_and_unblocked)
{
	refused("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"blocked\"}", API_E_REASON,
	    "say why");
	update("T1.1", "\"status\":\"blocked\",\"reason\":\"Bob\"");
	ck_assert_str_eq(
	    plan_world_node("goal_a", "T1.1")->blocked_reason, "Bob");
	update("T1.1", "\"status\":\"queued\"");
	refused("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"queued\"}", API_E_TRANSITION,
	    "not blocked");
	ck_assert_int_eq(plan_world_events("work.blocked"), 1);
}

TEST(a_node_has_a_priority_or_inherits_it)
{
	update("T1.1", "\"priority\":\"urgent\"");
	ck_assert_int_eq(
	    plan_world_node("goal_a", "T1.1")->priority, PRIORITY_URGENT);
	update("T1.1", "\"priority\":\"inherited\"");
	ck_assert_int_eq(
	    plan_world_node("goal_a", "T1.1")->priority, PRIORITY_COUNT);
	refused("overseer.work.update", "{\"node\":\"T1.1\"}",
	    RPC_INVALID_PARAMS, "status");
	refused("overseer.work.update",
	    "{\"node\":\"T1.1\",\"status\":\"cancelled\","
	    "\"priority\":\"low\"}",
	    RPC_INVALID_PARAMS, "either");
	ck_assert_int_eq(
	    plan_world_node("goal_a", "T1.1")->status, NODE_QUEUED);
}

TEST(nodes_are_added_split_moved_merged_and_cancelled)
{
	struct json_object *result = must("overseer.work.add",
	    "{\"parent\":\"P1\",\"name\":\"New\",\"acceptance\":[\"a\"],"
	    "\"depends_on\":[\"T1.1\"],\"place\":1}");

	ck_assert_str_eq(json_string_or(result, "node", ""), "T1.3");
	ck_assert_uint_eq(plan_world_node("goal_a", "T1.3")->place, 0);
	result = must(
	    "overseer.work.add", "{\"goal\":\"goal_a\",\"name\":\"A phase\"}");
	ck_assert_str_eq(json_string_or(result, "node", ""), "P2");
	must("overseer.work.move", "{\"node\":\"T1.3\",\"parent\":\"P2\"}");
	ck_assert_str_eq(plan_world_node("goal_a", "T1.3")->parent_id, "P2");
	must("overseer.work.split",
	    "{\"node\":\"T1.3\",\"names\":[\"a\",\"b\"]}");
	ck_assert_uint_eq(plan_world_node("goal_a", "T1.3")->child_count, 2);
	must("overseer.work.merge", "{\"nodes\":[\"S1.3.1\",\"S1.3.2\"]}");
	must("overseer.work.update",
	    "{\"node\":\"P2\",\"status\":\"cancelled\"}");
	ck_assert_int_eq(
	    plan_world_node("goal_a", "S1.3.1")->status, NODE_CANCELLED);
	ck_assert_int_eq(plan_world_events("plan.created"), 1);
	ck_assert_int_eq(plan_world_events("plan.updated"), 5);
}

TEST(what_the_rules_refuse_changes_nothing)
{
	refused("overseer.work.show", "{\"node\":\"T9\"}", API_E_UNKNOWN,
	    "llmc goal node list");
	refused("overseer.work.show", "{\"goal\":\"zzz\",\"node\":\"T1.1\"}",
	    API_E_UNKNOWN, "no goal zzz");
	refused("overseer.work.add", "{\"name\":\"x\"}", RPC_INVALID_PARAMS,
	    "params.goal");
	refused("overseer.work.add",
	    "{\"parent\":\"P1\",\"name\":\"x\",\"id\":\"T1.1\"}", API_E_EXISTS,
	    "T1.1");
	refused("overseer.work.move", "{\"node\":\"P1\",\"parent\":\"T1.1\"}",
	    API_E_LEVEL, "P1");
	refused("overseer.work.merge", "{\"nodes\":[\"T1.1\",\"P1\"]}",
	    API_E_CHILDREN, "P1");
	refused("overseer.work.split", "{\"node\":\"P1\",\"names\":[\"a\"]}",
	    API_E_CHILDREN, "P1");
}

TEST(a_node_goes_to_an_allowed_worker_that_a_person_drives)
{
	const struct plan_work *a;

	refused("overseer.work.assign",
	    "{\"node\":\"T1.1\",\"worker\":\"nobody\"}", API_E_UNKNOWN,
	    "no worker nobody");
	refused("overseer.work.assign",
	    "{\"node\":\"T1.1\",\"worker\":\"bob\"}", API_FAILED,
	    "add it to plan.allow_agents, such as: llmc config set "
	    "plan.allow_agents '[\"main\", \"bob\"]'");
	refused("overseer.work.assign", "{\"node\":\"P1\",\"worker\":\"eve\"}",
	    API_E_CHILDREN, "P1 has nodes below it; assign one of them");
	must("overseer.work.assign",
	    "{\"node\":\"T1.1\",\"worker\":\"eve\","
	    "\"recovery\":\"reassign\"}");
	a = &plan_world_node("goal_a", "T1.1")->work;
	ck_assert_ptr_nonnull(a->id);
	ck_assert_str_eq(a->worker, "eve");
	ck_assert_int_eq(a->status, ASSIGNMENT_QUEUED);
	ck_assert_int_eq(a->recovery_policy, RECOVERY_REASSIGN);
	ck_assert_int_eq(plan_world_events("assignment.queued"), 1);
	refused("overseer.work.assign",
	    "{\"node\":\"T1.1\",\"worker\":\"eve\"}", API_E_ASSIGNED, "eve");
}

TEST(nodes_are_listed_and_shown)
{
	struct json_object *result = must("overseer.work.list", "{}");

	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(result, "nodes")),
	    2);
	result =
	    must("overseer.work.list", "{\"goal\":\"goal_a\",\"all\":true}");
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(result, "nodes")),
	    3);
	result = must("overseer.work.show", "{\"node\":\"T1.2\"}");
	ck_assert_str_eq(json_string_or(result, "note", ""), "waits for T1.1");
}
