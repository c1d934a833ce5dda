/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-progress.h"
#include "plan.h"

/* The ready nodes of the set, in their order. */
static void
expect_all(const struct plan_set *set, const char *ids)
{
	cleanup_buf struct buf got = BUF_INIT;
	cleanup_free struct plan_ready *list = NULL;
	size_t count = plan_ready_list(set, &list);

	for (size_t i = 0; i < count; i++) {
		buf_addf(&got, "%s%s", i == 0 ? "" : " ", list[i].node->id);
		ck_assert(plan_node_ready(list[i].plan, list[i].node));
	}
	ck_assert_str_eq(got.data, ids);
}

static void
expect(struct plan *plan, const char *ids)
{
	struct plan_set set = { 0 };

	ck_assert_int_eq(plan_set_add(&set, plan, NULL), 0);
	expect_all(&set, ids);
	/* The plan stays the caller's. */
	free(set.plans);
	strmap_release(&set.by_goal);
}

TEST(leaves_whose_dependencies_are_done_are_ready)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2 S1.1.1",
	    "T1.2 T1.1", "P2 P1", "T2.1", "P3");

	expect(plan, "S1.1.1 P3");
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	expect(plan, "S1.1.2 P3");
	plan_world_set(plan, "S1.1.2", NODE_DONE);
	expect(plan, "T1.2 P3");
	plan_world_set(plan, "T1.2", NODE_DONE);
	expect(plan, "T2.1 P3");
	plan_free(plan);
}

TEST(only_what_nobody_has_or_ended_is_ready)
{
	struct plan *plan = PLAN_WORLD("P1", "P2", "P3", "P4", "P5", "P6");

	plan_world_set(plan, "P2", NODE_QUEUED);
	plan_world_set(plan, "P3", NODE_IN_PROGRESS);
	plan_world_set(plan, "P4", NODE_BLOCKED);
	plan_world_set(plan, "P5", NODE_DONE);
	plan_world_set(plan, "P6", NODE_CANCELLED);
	expect(plan, "P1 P2");
	plan_free(plan);
}

TEST(an_assigned_node_is_not_ready)
{
	struct plan_set set = { 0 };
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	struct plan_node *node = plan_find(plan, "T1.1");

	plan_set_add(&set, plan, NULL);
	plan_node_assign(node, "A_1", NOW);
	expect_all(&set, "T1.2");
	node->work.status = ASSIGNMENT_CANCELLED;
	expect_all(&set, "T1.1 T1.2");
	plan_set_release(&set);
}

TEST(only_active_goals_have_ready_nodes)
{
	struct plan *plan = PLAN_WORLD("P1");

	for (int i = 0; i < GOAL_STATUS_COUNT; i++) {
		plan->goal->status = (enum goal_status)i;
		expect(plan, i == GOAL_ACTIVE ? "P1" : "");
	}
	plan_free(plan);
}

TEST(a_more_urgent_node_comes_first)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2", "P2", "T2.1", "T2.2");

	plan_find(plan, "T1.1")->priority = PRIORITY_LOW;
	plan_find(plan, "P2")->priority = PRIORITY_HIGH;
	plan_find(plan, "T2.2")->priority = PRIORITY_URGENT;
	expect(plan, "T2.2 T2.1 T1.2 T1.1");
	plan_free(plan);
}

TEST(goals_of_one_priority_come_in_their_order)
{
	struct plan_set set = { 0 };
	struct plan *other = plan_new(plan_goal_new("goal_2", "t", NOW));

	plan_attach(
	    other, plan_node_new("goal_2", NODE_PHASE, "X1", "x", NOW), NULL);
	plan_set_add(&set, PLAN_WORLD("P1", "P2"), NULL);
	plan_set_add(&set, other, NULL);
	expect_all(&set, "P1 P2 X1");
	other->goal->priority = PRIORITY_HIGH;
	expect_all(&set, "X1 P1 P2");
	plan_set_release(&set);
}

TEST(an_overridden_parent_holds_back_what_is_below)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2");
	struct plan_node *task = plan_find(plan, "T1.1");

	task->status = NODE_BLOCKED;
	plan_override_set(&task->override, "person", "wait", NOW, NULL);
	expect(plan, "T1.2");
	task->status = NODE_DONE;
	expect(plan, "T1.2");
	plan_override_release(&task->override);
	expect(plan, "S1.1.1 T1.2");
	plan_free(plan);
}

TEST(ready_nodes_are_queued)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2 T1.1");
	struct plan_changes changes = { 0 };

	plan_ready_queue(plan, NOW + 1, &changes);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 queued, T1.1 queued, S1.1.1 queued, T1.2 todo");
	ck_assert_str_eq(plan_world_changes(&changes), "S1.1.1 T1.1 P1");
	plan_changes_release(&changes);
	plan_ready_queue(plan, NOW + 2, &changes);
	ck_assert_str_eq(plan_world_changes(&changes), "");
	plan_free(plan);
}
