/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-node.h"
#include "view.h"

static struct json_object *
node_of(struct json_object *row, size_t i)
{
	return json_object_array_get_idx(
	    json_object_object_get(row, "nodes"), i);
}

static size_t
node_count(struct json_object *row)
{
	return json_object_array_length(json_object_object_get(row, "nodes"));
}

TEST(a_goal_shows_how_far_its_plan_is)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "P2");
	cleanup_json struct json_object *row = NULL;

	plan_world_set(plan, "T1.1", NODE_DONE);
	row = view_goal_row(plan, 100);
	ck_assert_str_eq(json_string_or(row, "id", ""), "goal_1");
	ck_assert_int_eq(json_int_or(row, "done", 0), 1);
	ck_assert_int_eq(json_int_or(row, "total", 0), 3);
	ck_assert_int_eq(json_int_or(row, "ready", 0), 2);
	ck_assert_uint_eq(node_count(row), 4);
	ck_assert_int_eq(json_int_or(row, "nodes_more", -1), 0);
	ck_assert_str_eq(json_string_or(node_of(row, 1), "id", ""), "T1.1");
	ck_assert_str_eq(json_string_or(node_of(row, 1), "parent", ""), "P1");
	ck_assert_str_eq(json_string_or(node_of(row, 1), "status", ""), "done");
	plan_free(plan);
}

TEST(nodes_that_find_no_room_are_counted)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2", "P2");
	cleanup_json struct json_object *row = view_goal_row(plan, 2);
	cleanup_json struct json_object *none = view_goal_row(plan, 0);

	ck_assert_uint_eq(node_count(row), 2);
	ck_assert_int_eq(json_int_or(row, "nodes_more", 0), 2);
	ck_assert_int_eq(json_int_or(row, "total", 0), 3);
	ck_assert_uint_eq(node_count(none), 0);
	ck_assert_int_eq(json_int_or(none, "nodes_more", 0), 4);
	plan_free(plan);
}

TEST(texts_of_nodes_are_cut)
{
	struct plan *plan = PLAN_WORLD("P1");
	cleanup_json struct json_object *row = NULL;
	cleanup_free char *words = xcalloc(1, 10001);

	memset(words, 'x', 10000);
	xstrset(&plan->nodes[0]->name, words);
	xstrset(&plan->nodes[0]->blocked_reason, words);
	row = view_goal_row(plan, 1);
	ck_assert_uint_eq(strlen(json_string_or(node_of(row, 0), "title", "")),
	    VIEW_TITLE_MAX);
	ck_assert_uint_lt(strlen(json_object_to_json_string(row)), 1024);
	plan_free(plan);
}

enum {
	CHANGE_STATUS,
	CHANGE_NAME,
	CHANGE_REASON,
	CHANGE_ORDER,
	CHANGE_PARENT,
	CHANGE_GOAL,
	CHANGE_TITLE,
	CHANGE_VERSION,
	CHANGE_WORKER,
	CHANGES
};

static void
change(struct plan *plan, int what)
{
	struct plan_node *node = plan_find(plan, "T1.1");

	if (what == CHANGE_STATUS)
		node->status = NODE_BLOCKED;
	else if (what == CHANGE_NAME)
		xstrset(&node->name, "other");
	else if (what == CHANGE_REASON)
		xstrset(&node->blocked_reason, "other");
	else if (what == CHANGE_ORDER)
		node->order += 5;
	else if (what == CHANGE_PARENT)
		xstrset(&node->parent_id, "P2");
	else if (what == CHANGE_GOAL)
		plan->goal->status = GOAL_PAUSED;
	else if (what == CHANGE_TITLE)
		xstrset(&plan->goal->title, "other");
	else if (what == CHANGE_VERSION)
		plan->goal->version++;
	else {
		plan_node_assign(node, "A_1", 1);
		xstrset(&node->work.worker, "auto-1");
	}
}

TEST_ROWS(whatever_a_row_shows_changes_its_mark, CHANGES)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "P2");
	uint64_t before = view_goal_mark(plan, 100);

	ck_assert_uint_ne(before, 0);
	ck_assert_uint_eq(view_goal_mark(plan, 100), before);
	ck_assert_uint_eq(view_goal_mark(plan, VIEW_NODES_MAX),
	    view_goal_mark(plan, VIEW_NODES_MAX + 1));
	ck_assert_uint_ne(view_goal_mark(plan, 99), before);
	change(plan, _i);
	ck_assert_uint_ne(view_goal_mark(plan, 100), before);
	plan_free(plan);
}
