/* SPDX-License-Identifier: ISC */

/* A task of a folder is recorded once, as an implicit goal, whenever its daemon
 * is killed: between any two writes of the state and of the store. */
#include <check.h>

#include "plan-floor.h"
#include "plan-world.h"
#include "unit.h"

#define CHANGES_MAX 200

static void
check_recorded(struct plan_world *world)
{
	plan_world_work_all(world);
	plan_floor_changed(world->floor);
	ck_assert_uint_eq(plan_floor_set(world->floor)->plan_count, 0);
	auto_world_folder(&world->world, "done: a.md; ");
	ck_assert_str_eq(floor_world_sh(&world->world.floor,
			     "git log --format=%s main | grep -c '^add w'"),
	    "1");
	ck_assert_int_eq(plan_world_events(world, "goal.created"), 1);
	ck_assert_int_eq(plan_world_events(world, "assignment.dispatched"), 1);
	ck_assert_int_eq(plan_world_events(world, "assignment.done"), 1);
	ck_assert_int_eq(plan_world_events(world, "goal.completed"), 1);
}

/* n: die at the n-th change; and twice so. */
static bool
die_and_record(int n)
{
	struct plan_world world;
	bool died;

	plan_world_begin(&world, NULL, NULL);
	plan_world_live(&world);
	floor_world_settle(&world.world.floor); /* auto-1 is there */
	auto_world_task(&world.world, "a.md", "Add a file\n");
	auto_world_patrol(&world.world);
	died = plan_world_work_changes(&world, n);
	for (int i = 0; i < 2 && died; i++) {
		plan_world_reopen(&world);
		plan_world_live(&world);
		if (i == 0)
			plan_world_work_changes(&world, n);
	}
	check_recorded(&world);
	plan_world_end(&world);
	return died;
}

START_TEST(killed_twice_at_any_step_a_task_of_a_folder_is_recorded_once)
{
	int n = 1;

	while (n < CHANGES_MAX && die_and_record(n))
		n++;
	ck_assert_int_gt(n, 8);
	ck_assert_int_lt(n, CHANGES_MAX);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("plan-pool-kills");

	unit_case(suite, "kills",
	    (const TTest *const[]){
		killed_twice_at_any_step_a_task_of_a_folder_is_recorded_once,
		NULL });
	return suite;
}
