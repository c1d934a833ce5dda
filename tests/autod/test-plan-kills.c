/* SPDX-License-Identifier: ISC */

/* A goal is completed whenever its daemon is killed: between any two writes of
 * the state and of the store. */
#include "plan-world.h"

#define CHANGES_MAX 200

/* Whatever happened: the work was done once, and everybody knows it. */
static void
check_completed(void)
{
	struct plan_cursor cursor = { 0 };
	const struct plan_node *node;
	const struct plan_set *set;
	size_t done = 0;

	plan_world_work_all();
	set = plan_floor_set(plan_world.floor);
	/* A goal that was completed before the kill is not read again. */
	if (set->plan_count > 0)
		plan_world_is("goal_a", "completed; T1.1 done; ");
	while ((node = plan_set_next(set, &cursor)) != NULL) {
		ck_assert(!plan_node_is_assigned(node));
		done += node->work.status == ASSIGNMENT_DONE;
	}
	ck_assert_uint_eq(done, set->plan_count);
	auto_world_filed("t1 landed; ");
	ck_assert_int_eq(plan_world_events("goal.completed"), 1);
	ck_assert_int_eq(plan_world_events("assignment.done"), 1);
	ck_assert_str_eq(
	    floor_world_sh("git log --format=%s main | grep -c '^add w'"), "1");
}

/* n: die at the n-th change; and twice so. */
static bool
die_and_complete(int n)
{
	bool died;

	plan_world_begin(NULL, NULL);
	plan_world_live();
	floor_world_settle(); /* auto-1 is there */
	plan_world_goal("goal_a", 1);
	died = plan_world_work_changes(n);
	for (int i = 0; i < 2 && died; i++) {
		plan_world_die();
		if (i == 0)
			plan_world_work_changes(n);
	}
	check_completed();
	plan_world_end();
	return died;
}

TEST(killed_twice_at_any_step_nothing_is_lost_or_doubled)
{
	int n = 1;

	while (n < CHANGES_MAX && die_and_complete(n))
		n++;
	ck_assert_int_gt(n, 8);
	ck_assert_int_lt(n, CHANGES_MAX);
}
