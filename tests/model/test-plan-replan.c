/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-node.h"
#include "plan-progress.h"
#include "plan-revise.h"

static struct plan_changes changes;
static struct err err;

static int
replan(struct plan *plan, struct plan *next)
{
	const struct plan_edit edit = { plan, "planner", "stuck", NOW + 1,
		&changes };
	int r;

	plan_changes_release(&changes);
	err = (struct err){ 0 };
	r = plan_replan(&edit, next, NULL, &err);
	plan_free(next);
	return r;
}

static void
finish(struct plan *plan)
{
	plan_changes_release(&changes);
	ck_assert_int_eq(plan_deps_check(plan, NULL, NULL), 0);
	for (size_t i = 0; i < plan->count; i++)
		ck_assert_int_eq(
		    plan->nodes[i]->order, (int)plan->nodes[i]->place);
	plan_free(plan);
}

TEST(what_has_not_begun_is_replaced)
{
	struct plan *plan =
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "S1.2.1", "P2 P1", "T2.1");
	struct plan *next =
	    PLAN_WORLD("P1", "T1.2", "T1.1 T1.2", "T1.3", "P3 P1", "T3.1");

	xstrset(&plan_find(next, "T1.1")->name, "new name");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 todo, T1.2 todo, T1.1 todo, T1.3 todo, P3 todo, T3.1 todo");
	ck_assert_str_eq(plan_find(plan, "T1.1")->name, "new name");
	ck_assert_str_eq(plan_find(plan, "T1.1")->depends_on[0], "T1.2");
	ck_assert_ptr_null(plan_find(plan, "T1.2")->depends_on);
	ck_assert_str_eq(plan_find(plan, "P1")->blocks[0], "P3");
	ck_assert_str_eq(plan->goal->revisions[0].what,
	    "replanned: added T1.3, P3, T3.1; changed T1.2 (deps), T1.1 "
	    "(name, deps); removed T2.1, P2, S1.2.1");
	ck_assert_str_eq(plan->goal->revisions[0].why, "stuck");
	ck_assert_uint_eq(strv_count(changes.removed), 3);
	ck_assert_uint_eq(changes.count, 6);
	finish(plan);
}

/* It has been worked on, and is planned anew: named or divided. */
TEST(one_node_that_has_begun_may_be_changed)
{
	for (int divided = 0; divided < 2; divided++) {
		struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");
		struct plan *next = divided ?
		    PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2") :
		    PLAN_WORLD("P1", "T1.1", "T1.2");
		const struct plan_edit edit = { plan, "planner", "stuck",
			NOW + 1, &changes };

		plan_find(plan, "T1.1")->started_ms = NOW;
		plan_find(plan, "T1.2")->started_ms = NOW;
		xstrset(&plan_find(next, "T1.1")->name, "new name");
		xstrset(&plan_find(next, "T1.2")->name, "not changed");
		plan_changes_release(&changes);
		ck_assert_int_eq(plan_replan(&edit, next, "T1.1", &err), 0);
		ck_assert_str_eq(plan_find(plan, "T1.1")->name, "new name");
		ck_assert_str_ne(plan_find(plan, "T1.2")->name, "not changed");
		ck_assert_str_eq(plan->goal->revisions[0].what,
		    divided ? "replanned: added S1.1.1; changed T1.1 (name)" :
			      "replanned: changed T1.1 (name)");
		plan_free(next);
		finish(plan);
	}
}

TEST(what_has_not_begun_is_moved_and_sorted)
{
	struct plan *plan = PLAN_WORLD(
	    "P1", "T1.1", "T1.2", "T1.3", "P2", "T2.1", "T2.2", "T2.3");
	struct plan *next = PLAN_WORLD("P2", "P1");
	static const char *const tasks[] = { "T2.3", "T2.2", "T1.3", "T2.1",
		"T1.2", "T9.9", "T1.1" };

	for (size_t i = 0; i < nitems(tasks); i++) {
		struct plan_node *node =
		    plan_node_new("goal_1", NODE_TASK, tasks[i], "n", NOW);

		xstrset(&node->parent_id, "P2");
		node->order = (int)i;
		ck_assert_int_eq(plan_attach(next, node, NULL), 0);
	}
	plan_world_set(plan, "T2.1", NODE_DONE);
	ck_assert_int_eq(replan(plan, next), 0);
	/* What has started, and is kept, comes first. */
	ck_assert_str_eq(plan_world_words(plan),
	    "P2 in_progress, T2.1 done, T2.3 todo, T2.2 todo, T1.3 todo, T1.2 "
	    "todo, T9.9 todo, T1.1 todo, P1 todo");
	finish(plan);
}

TEST(a_started_node_is_neither_removed_nor_renamed_nor_moved)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2",
	    "T1.2 T1.1", "T1.3", "P2", "T2.1");
	struct plan *next = PLAN_WORLD("P2", "T2.1", "S2.1.1", "T2.2");
	struct plan_node *task;

	plan_world_set(plan, "S1.1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "S1.1.1", NODE_QUEUED);
	plan_world_set(plan, "T1.2", NODE_DONE);
	plan_world_set(plan, "T1.3", NODE_CANCELLED);
	xstrset(&plan_find(next, "T2.1")->name, "changed");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 in_progress, S1.1.1 queued, T1.2 done, T1.3 "
	    "cancelled, P2 todo, T2.1 todo, S2.1.1 todo, T2.2 todo");
	ck_assert_str_eq(plan_find(plan, "T2.1")->name, "changed");
	/* And again with other names for what has started. */
	next = PLAN_WORLD("P1", "T1.2", "P2", "T2.1");
	task = plan_find(next, "T1.2");
	xstrset(&task->name, "renamed");
	ck_assert_int_eq(replan(plan, next), 0);
	ck_assert_str_eq(plan_find(plan, "T1.2")->name, "name of T1.2");
	ck_assert_str_eq(plan_find(plan, "T1.2")->depends_on[0], "T1.1");
	ck_assert_ptr_nonnull(plan_find(plan, "S1.1.1"));
	finish(plan);
}

TEST(an_assigned_node_counts_as_started)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2");

	plan_node_assign(plan_find(plan, "T1.1"), "A_1", NOW);
	ck_assert_int_eq(replan(plan, PLAN_WORLD("P1", "T1.3")), 0);
	ck_assert_str_eq(
	    plan_world_words(plan), "P1 todo, T1.1 todo, T1.3 todo");
	finish(plan);
}

TEST(a_task_whose_attempt_failed_can_get_subtasks)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1");

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.1", NODE_QUEUED);
	ck_assert_int_eq(
	    replan(plan, PLAN_WORLD("P1", "T1.1", "S1.1.1", "S1.1.2")), 0);
	ck_assert_str_eq(plan_world_words(plan),
	    "P1 in_progress, T1.1 todo, S1.1.1 todo, S1.1.2 todo");
	finish(plan);
}

static void
refused(struct plan *plan, struct plan *next, int code)
{
	cleanup_free char *before = xstrdup(plan_world_json(plan));

	ck_assert_int_eq(replan(plan, next), code);
	ck_assert_str_eq(plan_world_json(plan), before);
	ck_assert_str_eq(plan_world_changes(&changes), "");
}

TEST(a_refusal_changes_nothing)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "T1.2", "T1.3");
	struct plan *next;

	plan_world_set(plan, "T1.1", NODE_IN_PROGRESS);
	plan_world_set(plan, "T1.2", NODE_CANCELLED);
	refused(plan, PLAN_WORLD("P1", "T1.1", "S1.1.1"), API_E_STARTED);
	refused(plan, PLAN_WORLD("P1", "T1.2", "S1.2.1"), API_E_CLOSED);
	next = plan_new(plan_goal_new("goal_1", "t", NOW));
	plan_attach(
	    next, plan_node_new("goal_1", NODE_PHASE, "T1.1", "n", NOW), NULL);
	refused(plan, next, API_E_STARTED);
	finish(plan);

	/* T1.1 waits for T1.2 already, and is kept. */
	plan = PLAN_WORLD("P1", "T1.1 T1.2", "T1.2");
	plan_find(plan, "T1.1")->started_ms = NOW;
	refused(plan, PLAN_WORLD("P1", "T1.1", "T1.2 T1.1"), API_E_CYCLE);
	finish(plan);
}

TEST(a_parent_that_lost_its_children_is_a_leaf)
{
	struct plan *plan = PLAN_WORLD("P1", "T1.1", "S1.1.1", "T1.2");

	plan_world_set(plan, "S1.1.1", NODE_BLOCKED);
	ck_assert_int_eq(plan_find(plan, "T1.1")->status, NODE_BLOCKED);
	ck_assert_int_eq(replan(plan, PLAN_WORLD("P1", "T1.1")), 0);
	ck_assert_str_eq(plan_world_words(plan), "P1 todo, T1.1 todo");
	ck_assert_ptr_null(plan_find(plan, "T1.1")->blocked_reason);
	finish(plan);
}
