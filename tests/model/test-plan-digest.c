/* SPDX-License-Identifier: ISC */

/* All open goals in a few lines. */
#include "unit.h"
#include "plan-progress.h"
#include "plan.h"
#include "schema.h"

static struct plan_set set;

void
unit_after(void)
{
	plan_set_release(&set);
}

/* A goal of one phase with one node of that status. */
static struct plan *
add(const char *id, const char *title, enum node_status status)
{
	struct plan *plan = plan_new(plan_goal_new(id, title, 1));
	struct plan_node *phase =
	    plan_node_new(id, NODE_PHASE, "P1", "phase", 1);

	phase->status = status;
	ck_assert_int_eq(plan_attach(plan, phase, NULL), 0);
	ck_assert_int_eq(plan_set_add(&set, plan, NULL), 0);
	return plan;
}

static struct json_object *
digest(void)
{
	const struct schema_field shape = { .type = SCHEMA_OBJECT,
		.of = &plan_digest_shape };
	struct json_object *json = plan_digest(&set, NULL);
	struct err err = { 0 };

	ck_assert_msg(schema_check(&shape, json, "", &err) == 0, "%s", err.msg);
	return json;
}

TEST(it_counts_open_goals_and_their_nodes)
{
	cleanup_json struct json_object *json = NULL;

	add("goal_a", "A", NODE_DONE);
	add("goal_b", "B", NODE_BLOCKED)->goal->status = GOAL_PAUSED;
	add("goal_c", "C", NODE_DONE)->goal->status = GOAL_COMPLETED;
	json = digest();
	ck_assert_int_eq(json_int_or(json, "active", -1), 1);
	ck_assert_int_eq(json_int_or(json, "paused", -1), 1);
	ck_assert_int_eq(json_int_or(json, "done", -1), 1);
	ck_assert_int_eq(json_int_or(json, "total", -1), 2);
	ck_assert_int_eq(json_int_or(json, "blocked", -1), 1);
	ck_assert_uint_eq(
	    json_object_array_length(json_object_object_get(json, "goals")), 2);
}

TEST(only_a_goal_that_is_to_be_planned_says_so)
{
	cleanup_json struct json_object *json = NULL;
	struct plan *plan = plan_new(plan_goal_new("goal_b", "B", 1));
	struct json_object *goals;

	add("goal_a", "A", NODE_TODO);
	plan->goal->plan_wanted = true;
	ck_assert_int_eq(plan_set_add(&set, plan, NULL), 0);
	json = digest();
	goals = json_object_object_get(json, "goals");
	ck_assert_ptr_null(json_object_object_get(
	    json_object_array_get_idx(goals, 0), "planning"));
	ck_assert(json_bool_or(
	    json_object_array_get_idx(goals, 1), "planning", false));
}

TEST(it_is_bounded)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *goals, *first;
	char title[500];

	memset(title, 'x', sizeof title);
	title[sizeof title - 1] = '\0';
	for (int i = 0; i < PLAN_DIGEST_GOALS + 7; i++) {
		cleanup_free char *id = xasprintf("goal_%d", i);

		add(id, title, NODE_TODO);
	}
	json = digest();
	goals = json_object_object_get(json, "goals");
	ck_assert_uint_eq(json_object_array_length(goals), PLAN_DIGEST_GOALS);
	ck_assert_int_eq(json_int_or(json, "more", -1), 7);
	ck_assert_int_eq(
	    json_int_or(json, "active", -1), PLAN_DIGEST_GOALS + 7);
	first = json_object_array_get_idx(goals, 0);
	ck_assert_uint_le(
	    strlen(json_string_or(first, "title", "")), PLAN_DIGEST_TITLE);
}

TEST(goals_that_are_off_have_a_reason)
{
	cleanup_json struct json_object *json = plan_digest(NULL, "damaged");

	ck_assert_str_eq(json_string_or(json, "off", ""), "damaged");
	ck_assert_int_eq(json_int_or(json, "active", -1), 0);
}
