/* SPDX-License-Identifier: ISC */

/* The scope of a task, which a shell can write around: what git says at the end
 * of a turn decides, with the whole programs. */
#include "goalrun.h"

void
unit_before(void)
{
	fleet_begin();
	goal_enable();
	auto_set("auto.max_turns", "3");
	auto_set("auto.max_attempts", "1");
	auto_tune("plan_retries=0");
}

static const char *
wall(const char *file)
{
	return goal_create(
	    e2e_path("# Build a house\n\n## Walls\n### Left wall\n"
		     "fake: run mkdir -p src && echo 1 >%s && git add . && git "
		     "commit -q -m Made\n\n"
		     "Acceptance:\n- it stands\n\nScope paths:\n- src\n",
		file));
}

const int unit_timeout = 120; /* seconds, each */

TEST(what_a_shell_writes_within_the_scope_lands)
{
	const char *goal = wall("src/in");

	ck_assert_int_eq(auto_run("--until-empty", NULL), 0);
	goal_is_reached(goal, (const char *const[]){ "T1.1", NULL });
	auto_history("Made", NULL);
	ck_assert_int_eq(auto_events("guard.denied", NULL), 0);
	auto_no_complaints();
}

TEST(what_a_shell_writes_outside_of_the_scope_does_not_land)
{
	wall("out");
	auto_up(NULL);
	auto_wait_event("plan.review_needed", NULL);
	auto_wait_event("task_parked", "t1");
	ck_assert_int_eq(auto_landed(), 0);
	ck_assert_int_eq(auto_events("guard.denied", "task_guard"), 3);
	ck_assert_int_eq(
	    fleet_prompts("change 1 file outside the scope of your task: out"),
	    2);
	auto_drain();
}
