/* SPDX-License-Identifier: ISC */

#include "plan-world.h"
#include "api.h"
#include "plan-progress.h"

/* Checks, and frees the plan. */
static void
expect(struct plan *plan, const char *words)
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
	expect(PLAN_WORLD("P1"), NULL);
	expect(
	    PLAN_WORLD("P1", "T1.1", "T1.2 T1.1", "P2 P1", "T2.1 T1.1"), NULL);
	expect(
	    PLAN_WORLD("P1", "T1.1 S1.2.1", "S1.1.1", "T1.2", "S1.2.1"), NULL);
}

TEST(a_cycle_is_named)
{
	expect(
	    PLAN_WORLD("P1", "T1.1 T1.2", "T1.2 T1.1"), "T1.1 -> T1.2 -> T1.1");
	expect(PLAN_WORLD("P1 P1"), "P1 -> P1");
}

TEST(a_node_cannot_wait_for_what_waits_for_it)
{
	/* Its parent; its child; a node whose phase waits for its own. */
	expect(PLAN_WORLD("P1", "T1.1 P1"), "P1 -> T1.1");
	expect(PLAN_WORLD("P1", "T1.1 S1.1.1", "S1.1.1"), "T1.1 -> S1.1.1");
	expect(PLAN_WORLD("P1", "T1.1 T2.1", "P2 P1", "T2.1"), "T2.1");
	/* S1.1.1 inherits what T1.1 waits for. */
	expect(PLAN_WORLD("P1", "T1.1 T1.2", "S1.1.1", "T1.2", "S1.2.1 S1.1.1"),
	    "S1.1.1");
}

TEST(unknown_dependencies_are_no_cycle)
{
	expect(PLAN_WORLD("P1 P9"), NULL);
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
