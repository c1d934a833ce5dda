/* SPDX-License-Identifier: ISC */

/* A goal is completed whenever its daemon is killed: between any two writes of
 * the state and of the store. */
#include <check.h>

#include "plan-floor.h"
#include "plan-world.h"
#include "unit.h"

#define CHANGES_MAX 200

/* Whatever happened: the work was done once, and everybody knows it. */
static void
check_completed(struct plan_world *world)
{
	const struct plan_set *set;
	size_t done = 0;

	plan_world_work_all(world);
	set = plan_floor_set(world->floor);
	/* A goal that was completed before the kill is not read again. */
	if (set->plan_count > 0)
		plan_world_is(world, "goal_a", "completed; T1.1 done; ");
	for (size_t i = 0; i < set->assignment_count; i++) {
		ck_assert(!assignment_status_open(set->assignments[i]->status));
		done += set->assignments[i]->status == ASSIGNMENT_DONE;
	}
	ck_assert_uint_eq(done, set->plan_count);
	auto_world_filed(&world->world, "t1 landed; ");
	ck_assert_int_eq(plan_world_events(world, "goal.completed"), 1);
	ck_assert_int_eq(plan_world_events(world, "assignment.done"), 1);
	ck_assert_str_eq(floor_world_sh(&world->world.floor,
			     "git log --format=%s main | grep -c '^add w'"),
	    "1");
}

/* n: die at the n-th change; and twice so. */
static bool
die_and_complete(int n)
{
	struct plan_world world;
	bool died;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	floor_world_settle(&world.world.floor); /* auto-1 is there */
	plan_world_goal(&world, "goal_a", 1);
	died = plan_world_work_changes(&world, n);
	for (int i = 0; i < 2 && died; i++) {
		plan_world_reopen(&world);
		plan_world_live(&world);
		if (i == 0)
			plan_world_work_changes(&world, n);
	}
	check_completed(&world);
	plan_world_end(&world);
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
