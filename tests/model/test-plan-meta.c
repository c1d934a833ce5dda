/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "plan-goal.h"

#define ULID "01KB0000000000000000000000"

TEST(a_plan_has_one_id_in_all_its_versions)
{
	struct plan_goal *goal = plan_goal_new("goal_" ULID, "t", 5);
	struct plan_goal *other = plan_goal_new("G-1", "t", 1793000000000);
	char id[ID_ULID_SIZE], again[ID_ULID_SIZE];

	plan_meta_plan_id(goal, id);
	ck_assert_str_eq(id, ULID);
	plan_meta_plan_id(other, id);
	ck_assert(id_ulid_valid(id));
	plan_goal_revise(other, "person", "what", NULL, 9);
	plan_meta_plan_id(other, again);
	ck_assert_str_eq(id, again);
	plan_goal_free(goal);
	plan_goal_free(other);
}

TEST(every_field_of_the_contract_is_there)
{
	struct plan_goal *goal = plan_goal_new("goal_" ULID, "t", 5);
	cleanup_json struct json_object *first = NULL, *later = NULL;

	goal->priority = PRIORITY_URGENT;
	first = plan_meta_json(goal,
	    &(struct plan_meta){
		.version = 1, .actor = "person", .root = "/r" });
	ck_assert_str_eq(json_string_or(first, "epic_id", ""), "goal_" ULID);
	ck_assert_str_eq(json_string_or(first, "plan_id", ""), ULID);
	ck_assert_int_eq(json_int_or(first, "version", 0), 1);
	ck_assert_str_eq(json_string_or(first, "source", ""), "human");
	ck_assert_str_eq(json_string_or(first, "reason", ""), "initial_create");
	ck_assert_uint_eq(
	    strlen(json_string_or(first, "workspace_id", "")), 16);
	ck_assert_str_eq(json_string_or(first, "priority", ""), "high");
	ck_assert(!json_object_object_get_ex(first, "trace_id", NULL));
	goal->priority = PRIORITY_LOW;
	later = plan_meta_json(goal,
	    &(struct plan_meta){ .version = 2,
		.actor = "adam",
		.reason = "guard_violation",
		.trace_id = "r1" });
	ck_assert_str_eq(json_string_or(later, "source", ""), "agent");
	ck_assert_str_eq(
	    json_string_or(later, "reason", ""), "guard_violation");
	ck_assert_str_eq(json_string_or(later, "trace_id", ""), "r1");
	ck_assert_str_eq(json_string_or(later, "priority", ""), "low");
	plan_goal_free(goal);
}

TEST(the_source_follows_from_the_actor)
{
	static const struct {
		const char *actor, *source;
	} cases[] = {
		{ "person", "human" },
		{ "actor:system:person", "human" },
		{ "planner", "overseer" },
		{ "overseer", "overseer" },
		{ "landing", "overseer" },
		{ "actor:system:overseer", "overseer" },
		{ NULL, "overseer" },
		{ "team-1", "agent" },
		{ "actor:team:backend:coder-1", "agent" },
	};

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_str_eq(
		    plan_meta_source(cases[i].actor), cases[i].source);
}
