/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "plan-progress.h"

/* Two subtasks, and what their task is then. */
static const struct {
	enum node_status a, b, task;
} rows[] = {
	{ NODE_TODO, NODE_TODO, NODE_TODO },
	{ NODE_TODO, NODE_QUEUED, NODE_QUEUED },
	{ NODE_TODO, NODE_IN_PROGRESS, NODE_IN_PROGRESS },
	{ NODE_TODO, NODE_DONE, NODE_IN_PROGRESS },
	{ NODE_TODO, NODE_BLOCKED, NODE_TODO },
	{ NODE_TODO, NODE_CANCELLED, NODE_TODO },
	{ NODE_QUEUED, NODE_DONE, NODE_IN_PROGRESS },
	{ NODE_QUEUED, NODE_BLOCKED, NODE_QUEUED },
	{ NODE_IN_PROGRESS, NODE_BLOCKED, NODE_IN_PROGRESS },
	{ NODE_BLOCKED, NODE_BLOCKED, NODE_BLOCKED },
	{ NODE_BLOCKED, NODE_DONE, NODE_BLOCKED },
	{ NODE_BLOCKED, NODE_CANCELLED, NODE_BLOCKED },
	{ NODE_DONE, NODE_DONE, NODE_DONE },
	{ NODE_DONE, NODE_CANCELLED, NODE_DONE },
	{ NODE_CANCELLED, NODE_CANCELLED, NODE_CANCELLED },
};

TEST_ROWS(a_task_follows_from_its_subtasks, nitems(rows))
{
	for (int swap = 0; swap < 2; swap++) {
		struct plan *plan =
		    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2");

		plan_world_set(plan, swap ? "S1.1.2" : "S1.1.1", rows[_i].a);
		plan_world_set(plan, swap ? "S1.1.1" : "S1.1.2", rows[_i].b);
		ck_assert_int_eq(
		    plan_find(plan, "T1.1")->status, rows[_i].task);
		ck_assert_int_eq(plan_find(plan, "P1")->status, rows[_i].task);
		plan_free(plan);
	}
}

TEST(a_goal_is_completed_when_every_phase_is_done)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "P2", "T2.1");

	plan_world_set(plan, "S1.1.1", NODE_DONE);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 done, T1.1 done, S1.1.1 done, P2 todo, T2.1 todo");
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	plan_world_set(plan, "T2.1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert_int_eq(plan->goal->ended_ms, NOW);
	plan_free(plan);
}

TEST(a_cancelled_phase_does_not_keep_a_goal_open)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "P2", "T2.1");

	plan_world_set(plan, "T2.1", NODE_CANCELLED);
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	plan_world_set(plan, "T1.1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}

TEST(a_goal_of_which_all_was_cancelled_is_not_completed)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan *empty = plan_new(plan_goal_new("goal_2", "t", NOW));
	struct plan_changes changes = { 0 };

	plan_world_set(plan, "T1.1", NODE_CANCELLED);
	ck_assert_int_eq(plan_find(plan, "P1")->status, NODE_CANCELLED);
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	plan_rollup(empty, NOW, &changes);
	ck_assert_int_eq(empty->goal->status, GOAL_ACTIVE);
	ck_assert(!changes.goal);
	plan_free(plan);
	plan_free(empty);
}

TEST(a_phase_without_tasks_is_a_leaf)
{
	struct plan *plan = PLAN_WORLD("P1");

	plan_world_set(plan, "P1", NODE_IN_PROGRESS);
	ck_assert_int_eq(plan_find(plan, "P1")->status, NODE_IN_PROGRESS);
	plan_world_set(plan, "P1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}

TEST(a_revert_opens_all_above_again)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2");
	struct plan_changes changes = { 0 };
	struct plan_node *node = plan_find(plan, "S1.1.1");

	plan_world_set(plan, "S1.1.1", NODE_DONE);
	plan_world_set(plan, "S1.1.2", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	ck_assert_int_eq(
	    plan_node_move(node, &(struct plan_node_move){ .to = NODE_QUEUED },
		NOW + 1, NULL),
	    0);
	plan_changed(&changes, node);
	plan_rollup_from(plan, node, NOW + 1, &changes);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 in_progress, S1.1.1 queued, S1.1.2 done");
	ck_assert_str_eq(plan_world_changes(&changes), "S1.1.1 T1.1 P1 goal");
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	ck_assert_int_eq(plan->goal->ended_ms, 0);
	ck_assert_int_eq(plan_find(plan, "T1.1")->ended_ms, 0);
	plan_changes_release(&changes);
	plan_free(plan);
}

TEST(an_overridden_task_stays_what_it_is)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2");
	struct plan_node *task = plan_find(plan, "T1.1");

	ck_assert_int_eq(plan_node_move(task,
			     &(struct plan_node_move){ .to = NODE_DONE,
				 .actor = "person",
				 .override_reason = "good enough" },
			     NOW, NULL),
	    0);
	plan_world_set(plan, "S1.1.1", NODE_IN_PROGRESS);
	ck_assert_int_eq(task->status, NODE_DONE);
	ck_assert_str_eq(task->override.actor, "person");
	ck_assert_str_eq(task->override.reason, "good enough");
	ck_assert_int_eq(plan_find(plan, "P1")->status, NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}

TEST(a_goal_completed_by_a_person_stays_completed)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");

	ck_assert_int_eq(plan_goal_move(plan->goal, GOAL_COMPLETED, "person",
			     "enough", NOW, NULL),
	    0);
	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}

TEST(ended_goals_stay_ended)
{
	struct plan *plan = PLAN_WORLD("P1");

	plan_goal_move(plan->goal, GOAL_CANCELLED, NULL, NULL, NOW, NULL);
	plan_world_set(plan, "P1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_CANCELLED);
	plan_goal_move(plan->goal, GOAL_ARCHIVED, NULL, NULL, NOW, NULL);
	plan_world_set(plan, "P1", NODE_QUEUED);
	ck_assert_int_eq(plan->goal->status, GOAL_ARCHIVED);
	plan_free(plan);
}

TEST(a_paused_goal_is_completed_by_its_last_turn)
{
	struct plan *plan = PLAN_WORLD("P1");

	plan_goal_move(plan->goal, GOAL_PAUSED, NULL, NULL, NOW, NULL);
	plan_world_set(plan, "P1", NODE_IN_PROGRESS);
	ck_assert_int_eq(plan->goal->status, GOAL_PAUSED);
	plan_world_set(plan, "P1", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}

TEST(a_blocked_parent_names_the_child_and_its_reason)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2");

	plan_world_set(plan, "S1.1.1", NODE_DONE);
	plan_world_set(plan, "S1.1.2", NODE_BLOCKED);
	ck_assert_str_eq(
	    plan_find(plan, "P1")->blocked_reason, "S1.1.2: a reason");
	plan_world_set(plan, "S1.1.2", NODE_QUEUED);
	ck_assert_ptr_null(plan_find(plan, "P1")->blocked_reason);
	plan_free(plan);
}

TEST(rolling_up_twice_changes_nothing_more)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "T1.2", "P2", "T2.1");
	struct plan_changes changes = { 0 };

	plan_find(plan, "S1.1.1")->status = NODE_DONE;
	plan_find(plan, "S1.1.2")->status = NODE_BLOCKED;
	plan_find(plan, "T2.1")->status = NODE_QUEUED;
	plan_rollup(plan, NOW, &changes);
	ck_assert_str_eq(plan_world_changes(&changes), "T1.1 P1 P2");
	plan_changes_release(&changes);
	plan_rollup(plan, NOW + 1, &changes);
	ck_assert_str_eq(plan_world_changes(&changes), "");
	plan_free(plan);
}

TEST(a_goal_for_agents_ends_with_the_last_of_them)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");

	plan_goal_set_delegated(plan->goal, "t17");
	ck_assert_str_eq(plan_goal_delegated(plan->goal), "t17");
	plan_world_set(plan, "T1.1", NODE_CANCELLED);
	ck_assert_int_eq(plan->goal->status, GOAL_ACTIVE);
	plan_world_set(plan, "T1.2", NODE_CANCELLED);
	ck_assert_int_eq(plan->goal->status, GOAL_CANCELLED);
	plan_free(plan);
	plan = PLAN_WORLD("P1", "T1.1", "T1.2");
	plan_goal_set_delegated(plan->goal, "t17");
	plan_world_set(plan, "T1.1", NODE_CANCELLED);
	plan_world_set(plan, "T1.2", NODE_DONE);
	ck_assert_int_eq(plan->goal->status, GOAL_COMPLETED);
	plan_free(plan);
}
