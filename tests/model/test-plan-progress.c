/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-progress.h"
#include "plan.h"
#include "table.h"

/* --- plan deps --------------------------------------------------------- */

/* Checks, and frees the plan. */
static void
expect_deps(struct plan *plan, const char *words)
{
	struct err err = { 0 };
	int r = plan_deps_check(plan, NULL, &err);

	if (words == NULL) {
		ck_assert_msg(r == 0, "%s", err.msg);
	} else {
		ck_assert_int_eq(r, API_E_CYCLE);
		ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
	}
	plan_free(plan);
}

TEST(a_plan_without_cycles_passes)
{
	expect_deps(PLAN_WORLD("P1"), NULL);
	expect_deps(
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "P2 P1", "T2.1 T1.1"), NULL);
	expect_deps(
	    PLAN_WORLD("P1", "T1.1 S1.2.1", "S1.1.1", "T1.2", "S1.2.1"), NULL);
}

TEST(a_cycle_is_named)
{
	expect_deps(
	    PLAN_WORLD("P1", "T1.1 T1.2", "T1.2 T1.1"), "T1.1 -> T1.2 -> T1.1");
	expect_deps(PLAN_WORLD("P1 P1"), "P1 -> P1");
}

TEST(a_node_cannot_wait_for_what_waits_for_it)
{
	/* Its parent; its child; a node whose phase waits for its own. */
	expect_deps(PLAN_WORLD("P1", "T1.1 P1"), "P1 -> T1.1");
	expect_deps(
	    PLAN_WORLD("P1", "T1.1 S1.1.1", "S1.1.1"), "T1.1 -> S1.1.1");
	expect_deps(PLAN_WORLD("P1", "T1.1 T2.1", "P2 P1", "T2.1"), "T2.1");
	/* S1.1.1 inherits what T1.1 waits for. */
	expect_deps(
	    PLAN_WORLD("P1", "T1.1 T1.2", "S1.1.1", "T1.2", "S1.2.1 S1.1.1"),
	    "S1.1.1");
}

TEST(unknown_dependencies_are_no_cycle)
{
	expect_deps(PLAN_WORLD("P1 P9"), NULL);
}

TEST(nodes_taken_as_one_show_the_cycle_of_a_merge)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1 T1.2", "T1.2 T1.3", "T1.3", "T1.4 T1.3");
	struct plan_node *outside[] = { plan_find(plan, "T1.1"),
		plan_find(plan, "T1.3"), NULL };
	struct plan_node *inside[] = { plan_find(plan, "T1.2"),
		plan_find(plan, "T1.3"), NULL };
	struct plan_node *all[] = { plan_find(plan, "T1.3"),
		plan_find(plan, "T1.2"), plan_find(plan, "T1.1"),
		plan_find(plan, "T1.4"), NULL };

	ck_assert_int_eq(plan_deps_check(plan, outside, NULL), API_E_CYCLE);
	ck_assert_int_eq(plan_deps_check(plan, inside, NULL), 0);
	ck_assert_int_eq(plan_deps_check(plan, all, NULL), 0);
	plan_free(plan);
}

TEST(a_dependency_is_fulfilled_when_it_is_done_or_cancelled)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "P2 P1", "T2.1 T2.2", "T2.2");
	const struct plan_node *t21 = plan_find(plan, "T2.1");

	ck_assert_str_eq(plan_deps_waits(plan, t21)->id, "T2.2");
	plan_world_set(plan, "T2.2", NODE_CANCELLED);
	ck_assert_ptr_null(plan_deps_missing(plan, t21));
	ck_assert_str_eq(plan_deps_waits(plan, t21)->id, "P1");
	plan_world_set(plan, "T1.1", NODE_DONE);
	ck_assert_ptr_null(plan_deps_waits(plan, t21));
	plan_free(plan);
}

TEST(a_dependency_that_does_not_exist_is_never_fulfilled)
{
	struct plan *plan = PLAN_WORLD("P1 P9");

	ck_assert_ptr_eq(plan_deps_waits(plan, plan_find(plan, "P1")),
	    plan_find(plan, "P1"));
	plan_free(plan);
}

/* One chain through all of them: a walk that recursed, or that took quadratic
 * time, would show. */
TEST(a_chain_of_ten_thousand_nodes_is_checked)
{
	struct plan *plan = plan_new(plan_goal_new("goal_1", "t", NOW));
	char id[16], before[16];

	for (int i = 0; i < 10000; i++) {
		struct plan_node *n;

		snprintf(id, sizeof id, "P%d", i);
		snprintf(before, sizeof before, "P%d", i + 1);
		n = plan_node_new("goal_1", NODE_PHASE, id, id, NOW);
		n->order = i;
		if (i < 9999)
			strv_add(&n->depends_on, before);
		ck_assert_int_eq(plan_attach(plan, n, NULL), 0);
	}
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), 0);
	strv_add(&plan_find(plan, "P9999")->depends_on, "P0");
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), API_E_CYCLE);
	plan_free(plan);
}

/* --- plan ready -------------------------------------------------------- */

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

TEST(nothing_is_begun_on_what_is_paused_or_blocked)
{
	struct plan *plan = PLAN_WORLD("P1", "P2");
	const struct plan_node *node = plan_find(plan, "P1");

	ck_assert(!plan_node_held_back(plan, node));
	plan_world_set(plan, "P1", NODE_BLOCKED);
	ck_assert(plan_node_held_back(plan, node));
	ck_assert(!plan_node_held_back(plan, plan_find(plan, "P2")));
	plan->goal->status = GOAL_PAUSED;
	ck_assert(plan_node_held_back(plan, plan_find(plan, "P2")));
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

/* --- plan rollup ------------------------------------------------------- */

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

/* --- plan tree --------------------------------------------------------- */

/* The tree for people, and the counts in it. */

static void
expect_tree(const struct plan *plan, int width, const char *wanted)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, NULL);

	table_print(table, width, false, &out);
	table_free(table);
	ck_assert_str_eq(out.data, wanted);
}

/* Something of everything. */
static struct plan *
scene(struct plan_set *set)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2", "T1.2",
	    "T1.3", "P2 P1", "T2.1", "P3");
	struct plan_node *node = plan_find(plan, "S1.1.2");

	plan_set_add(set, plan, NULL);
	plan_world_set(plan, "S1.1.1", NODE_DONE);
	strv_add(
	    &plan_find(plan, "S1.1.1")->evidence.commits, "0123456789abcdef");
	plan_world_set(plan, "S1.1.2", NODE_IN_PROGRESS);
	plan_node_assign(node, "A_1", NOW);
	node->work.status = ASSIGNMENT_ACTIVE;
	xstrset(&node->work.worker, "adam");
	xstrset(&node->work.task, "t17");
	plan_world_set(plan, "T1.2", NODE_BLOCKED);
	plan_world_set(plan, "T1.3", NODE_CANCELLED);
	strv_add(&plan_find(plan, "T1.3")->replaced_by, "T1.2");
	return plan;
}

TEST(a_tree_shows_progress_blockers_and_who_works_on_what)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf head = BUF_INIT;

	expect_tree(plan, 0,
	    "node                       status       note\n"
	    "P1 name of P1              in_progress  1 of 3\n"
	    "  T1.1 name of T1.1        in_progress  1 of 2\n"
	    "    S1.1.1 name of S1.1.1  done         0123456789ab\n"
	    "    S1.1.2 name of S1.1.2  in_progress  adam (t17), active\n"
	    "  T1.2 name of T1.2        blocked      a reason\n"
	    "  T1.3 name of T1.3        cancelled    replaced by T1.2\n"
	    "P2 name of P2              todo         0 of 1; waits for P1\n"
	    "  T2.1 name of T2.1        todo\n"
	    "P3 name of P3              todo         ready\n");
	plan_tree_head(plan, &head);
	ck_assert_str_eq(head.data,
	    "title (goal_1): active, 1 of 5 done (20%), 1 ready, 1 blocked");
	plan_set_release(&set);
}

TEST(what_is_left_of_a_goal_that_has_ended_is_not_done)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");

	plan_find(plan, "T1.1")->status = NODE_IN_PROGRESS;
	plan->goal->status = GOAL_CANCELLED;
	expect_tree(plan, 0,
	    "node                 status    note\n"
	    "P1 name of P1        not done  0 of 1\n"
	    "  T1.1 name of T1.1  not done\n");
	plan_free(plan);
}

TEST(a_tree_fits_into_the_terminal)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, NULL);

	table_print(table, 40, false, &out);
	table_free(table);
	for (char *line = out.data; *line != '\0';) {
		size_t len = strcspn(line, "\n");

		ck_assert_uint_le(len, 40 + 4); /* two marks of 3 bytes */
		line += len + 1;
	}
	plan_set_release(&set);
}

static const char *
paint(enum node_status status)
{
	return status == NODE_BLOCKED ? "31" : NULL;
}

TEST(colours_are_the_callers)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	cleanup_buf struct buf out = BUF_INIT;
	struct table *table = plan_tree(plan, paint);

	table_print(table, 0, true, &out);
	table_free(table);
	ck_assert_ptr_nonnull(strstr(out.data, "\033[31mblocked"));
	ck_assert_ptr_null(strstr(out.data, "mtodo"));
	plan_set_release(&set);
}

TEST(an_override_is_shown_with_its_reason)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");
	struct plan_node *phase = plan_find(plan, "P1");
	cleanup_buf struct buf note = BUF_INIT;

	plan_override_set(&phase->override, "person", "enough", NOW, NULL);
	phase->status = NODE_DONE;
	plan_tree_note(plan, phase, &note);
	ck_assert_str_eq(note.data, "overridden by person: enough");
	plan_free(plan);
}

TEST(a_dependency_that_does_not_exist_is_shown)
{
	struct plan *plan = PLAN_WORLD("P1 P9");
	cleanup_buf struct buf note = BUF_INIT;

	plan_tree_note(plan, plan_find(plan, "P1"), &note);
	ck_assert_str_eq(note.data, "depends on a node that does not exist");
	plan_free(plan);
}

TEST(the_leaves_are_counted)
{
	struct plan_set set = { 0 };
	struct plan *plan = scene(&set);
	struct plan_summary s = plan_summary(plan, NULL);
	cleanup_json struct json_object *json =
	    schema_json(&plan_summary_schema, &s);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	ck_assert_str_eq(text.data,
	    "{\"total\":5,\"percent\":20,\"planning\":false,\"ready\":1,"
	    "\"assigned\":1,\"todo\":2,"
	    "\"queued\":0,\"in_progress\":1,\"blocked\":1,\"done\":1,"
	    "\"cancelled\":1,\"dropped\":0}");
	s = plan_summary(plan, plan_find(plan, "T1.1"));
	ck_assert_uint_eq(s.total, 2);
	ck_assert_int_eq(s.percent, 50);
	plan_set_release(&set);
}

/* A goal whose children were cancelled is not "3 of 3". */
TEST(what_was_cancelled_was_not_done)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3", "T1.4", "T1.5");
	cleanup_buf struct buf head = BUF_INIT, undone = BUF_INIT;

	for (int i = 1; i <= 5; i++) {
		cleanup_free char *id = xasprintf("T1.%d", i);

		plan_world_set(plan, id, i <= 3 ? NODE_DONE : NODE_CANCELLED);
	}
	plan->goal->status = GOAL_COMPLETED;
	plan_tree_head(plan, &head);
	ck_assert_str_eq(head.data,
	    "title (goal_1): incomplete, 3 of 5 done (60%), 2 cancelled");
	plan_summary_undone(plan, &undone);
	ck_assert_str_eq(undone.data, "3 of 5 done; not done: T1.4, T1.5");
	/* A part that others do is not missing. */
	strv_add(&plan_find(plan, "T1.4")->replaced_by, "T1.1");
	strv_add(&plan_find(plan, "T1.5")->replaced_by, "T1.1");
	buf_clear(&undone);
	plan_summary_undone(plan, &undone);
	ck_assert_str_eq(undone.data, "");
	plan_free(plan);
}

TEST(leaves_below_an_override_count_as_it_says)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2");
	struct plan_node *phase = plan_find(plan, "P1");
	struct plan_summary s;

	phase->status = NODE_DONE;
	plan_override_set(&phase->override, "person", "enough", NOW, NULL);
	s = plan_summary(plan, NULL);
	ck_assert_int_eq(s.percent, 100);
	plan_free(plan);
	plan = plan_new(plan_goal_new("goal_1", "t", NOW));
	s = plan_summary(plan, NULL);
	ck_assert_int_eq(s.percent, 0);
	plan_free(plan);
}
