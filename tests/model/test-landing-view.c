/* SPDX-License-Identifier: ISC */

/* What people see of the landing queue. */

#include "landing-scene.h"

void
unit_before(void)
{
	scene_setup();
}

void
unit_after(void)
{
	scene_teardown();
}

TEST(nothing_is_known_before_the_first_build)
{
	scene.manual = true;
	scene_add("ab");
	scene_expect_views("a queued, b queued");
}

TEST(built_covered_and_queued)
{
	scene_add("abcd");
	scene.facts.window = 3;
	scene_expect_views("a built, b built, c built, d queued");
	scene_run("0b", "b");
	scene_run("0ab", "ab");
	scene_expect_views("a covered 0ab, b covered 0ab, c built, d queued");
	/* The nearest check that covers it. */
	scene_run("0a", "a");
	scene_expect_views("a covered 0a, b covered 0ab, c built, d queued");
}

TEST(green_landing_and_held)
{
	scene_add("abc");
	scene_passed("0ab");
	scene_expect_views("a green, b green, c built 1000");
	scene.facts.hold = true;
	scene_expect_views("a held, b held, c built 1000");
	scene.facts.hold = false;
	scene_entry('a')->landing = scene_entry('b')->landing = true;
	scene.facts.moving = true;
	scene_base("0ab");
	scene_entry('c')->held = true;
	scene_expect_views("a landing, b landing, c held");
}

TEST(deferred_and_done)
{
	scene.conflicts = "ab";
	scene.same = "ac 0d";
	scene_add("dabc");
	scene_expect_views("d green, a built, b deferred, c built");
}

TEST(suspect_alone_and_while_it_is_checked)
{
	scene_add("ab");
	scene_failed("0a");
	scene_expect_views("a suspect 1000, b built 1000");
	scene_run("0a", "a");
	scene.now_ms += 300;
	scene_expect_views("a suspect 0a 700, b built 1700");
}

TEST(everything_waits_for_a_red_base)
{
	scene_add("ab");
	scene_failed("0");
	scene_failed("0");
	scene_expect_views("a red, b red");
	scene_failed("0a");
	scene_failed("0a");
	scene_run("0b", "ab");
	scene_expect_views("a red, b covered 0b 1000");
}

TEST(expected_times_count_the_batches_before)
{
	scene_passed("0");
	scene_add("abcde");
	scene.facts.window = 2;
	scene_expect_views(
	    "a built 1000, b built 1000, c queued 2000, d queued 2000, "
	    "e queued 3000");
	scene_run("0ab", "ab");
	scene.now_ms += 400;
	scene_expect_views("a covered 0ab 600, b covered 0ab 600, "
			   "c queued 2600, d queued 2600, e queued 3600");
	/* It takes longer than expected. */
	scene.now_ms += 4000;
	scene_expect_views("a covered 0ab, b covered 0ab, c queued 1000, "
			   "d queued 1000, e queued 2000");
}

TEST(a_worker_is_kept_for_a_short_wait_only)
{
	struct landing_view view = { .state = LANDING_IS_QUEUED };

	view.expected_ms = LANDING_HOLD_MS;
	ck_assert(!landing_view_is_long(&view));
	view.expected_ms++;
	ck_assert(landing_view_is_long(&view));
	view.expected_ms = -1;
	for (unsigned i = 0; i < LANDING_STATE_COUNT; i++) {
		view.state = (enum landing_state)i;
		ck_assert_int_eq(
		    landing_view_is_long(&view), i == LANDING_IS_RED);
	}
}

TEST(without_a_command_nothing_waits)
{
	scene.facts.command = NULL;
	scene_add("ab");
	scene_expect_views("a green, b green");
}
