/* SPDX-License-Identifier: ISC */

/* Who is to blame for a failed check: an entry, a flake, the base, or
 * nobody. */

#include "landing-scene.h"

#define HOUR_MS ((int64_t)60 * 60 * 1000)

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

TEST(of_a_red_pair_the_second_is_sent_back)
{
	scene_passed("0");
	scene_add("ab");
	scene_passed("0a");
	scene_passed("0b");
	expect("land 0a");
	scene_remove('a');
	scene_base("0a");
	expect("check 0ab");
	scene_failed("0ab");
	expect("check 0ab");
	scene_run("0ab", "b");
	expect("");
	scene_failed("0ab");
	expect("eject b");
}

TEST(a_flake_at_the_point_of_blame_is_forgiven)
{
	scene_passed("0");
	scene_add("a");
	scene_failed("0a");
	expect("check 0a");
	scene_passed("0a");
	expect("land 0a");
	ck_assert_int_eq(check_book_flake_percent(&scene.book, "c"), 50);
}

TEST(the_rerun_is_alone)
{
	scene.facts.slots = 4;
	scene_add("abcdefgh");
	scene_failed("0abcdefgh");
	expect("check 0abcdef, check 0abcd, check 0abc, check 0a");
	scene_run("0abc", "abc");
	scene_failed("0a");
	expect("");
	scene_failed("0abc");
	expect("check 0a");
	scene_run("0a", "a");
	expect("");
}

TEST(an_unknown_base_is_checked_before_anyone_is_blamed)
{
	scene_add("ab");
	scene_failed("0a");
	scene_failed("0a");
	expect("control 0");
	scene_run("0", "");
	expect("");
	scene_passed("0");
	expect("eject a");
}

TEST(an_old_pass_of_the_base_is_not_enough)
{
	scene_passed("0");
	scene_add("a");
	scene.now_ms += HOUR_MS;
	scene_failed("0a");
	scene_failed("0a");
	expect("eject a");
	scene.now_ms += 1;
	expect("control 0");
	/* The clock was set back. */
	scene.now_ms -= 2 * HOUR_MS;
	expect("eject a");
}

TEST(long_checks_keep_the_base_fresh_for_longer)
{
	check_book_note(&scene.book, "0", SCENE_COMMAND, CHECK_PASSED,
	    scene.now_ms, 2 * HOUR_MS, 0);
	scene_add("a");
	scene.now_ms += 4 * HOUR_MS;
	for (int i = 0; i < 2; i++)
		check_book_note(&scene.book, "0a", SCENE_COMMAND, CHECK_FAILED,
		    scene.now_ms, 2 * HOUR_MS, 0);
	expect("eject a");
}

TEST(a_control_that_nobody_needs_is_stopped)
{
	scene_add("a");
	scene_failed("0a");
	scene_failed("0a");
	scene_run("0", "");
	scene_remove('a');
	expect("cancel 0");
}

TEST(one_failure_of_the_base_may_be_a_flake)
{
	scene_add("a");
	scene_failed("0a");
	scene_failed("0a");
	scene_failed("0");
	expect("control 0");
	scene_passed("0");
	expect("eject a");
	/* Nor is a pass enough that a failure came after. */
	scene_failed("0");
	expect("control 0");
}

static void
make_red(void)
{
	scene_failed("0");
	scene_failed("0");
}

TEST(a_red_base_is_told_once_and_blames_nobody)
{
	scene_add("a");
	scene_failed("0a");
	scene_failed("0a");
	make_red();
	expect("red 0, wake 3600000");
	scene.facts.red_told = "0";
	expect("wake 3600000");
	/* Another base, another report. */
	scene_base("0x");
	expect("check 0xa");
	scene_failed("0x");
	scene_failed("0x");
	expect("red 0x, check 0xa");
}

TEST(on_a_red_base_each_entry_has_its_chance)
{
	scene_add("abf");
	make_red();
	scene.facts.red_told = "0";
	expect("check 0abf");
	scene_failed("0abf");
	expect("check 0a");
	scene_failed("0a");
	expect("check 0a");
	scene_failed("0a");
	expect("check 0bf");
	scene_failed("0bf");
	expect("check 0b");
	scene_failed("0b");
	scene_failed("0b");
	expect("check 0f");
	/* The repair. */
	scene_passed("0f");
	expect("land 0f");
	scene_remove('f');
	scene_base("0f");
	expect("check 0fab");
}

TEST(on_a_red_base_a_passing_tip_lands)
{
	scene_add("af");
	make_red();
	scene.facts.red_told = "0";
	expect("check 0af");
	scene_passed("0af");
	expect("land 0af");
}

TEST(on_a_red_base_a_conflict_waits)
{
	scene_base("0x");
	scene.conflicts = "xa";
	scene_add("a");
	scene_failed("0x");
	scene_failed("0x");
	scene.facts.red_told = "0x";
	expect("wake 3600000");
}

TEST(a_base_that_recovers_by_itself_is_noticed)
{
	scene_add("a");
	scene_failed("0a");
	scene_failed("0a");
	make_red();
	scene.facts.red_told = "0";
	scene.now_ms += HOUR_MS - 1;
	expect("wake 1");
	scene.now_ms += 1;
	expect("control 0");
	scene_run("0", "");
	expect("");
	scene_passed("0");
	/* What failed with it is not to blame. */
	expect("check 0a");
}

TEST(the_target_of_a_landing_is_not_red_before_it_is_there)
{
	/* A revert: this tree passed once, and was red later. */
	scene_passed("0");
	make_red();
	scene_add("a");
	scene.facts.moving = true;
	expect("check 0a");
	scene.facts.moving = false;
	expect("red 0, check 0a");
}

TEST(a_red_base_without_a_queue_is_left_alone)
{
	make_red();
	scene.facts.red_told = "0";
	scene.now_ms += 2 * HOUR_MS;
	expect("");
}

TEST(not_judged_waits_for_its_moment)
{
	scene_add("a");
	scene_unjudged("0a", scene.now_ms + 5000);
	expect("wake 5000");
	scene.now_ms += 4999;
	expect("wake 1");
	scene.now_ms += 1;
	expect("check 0a");
}

TEST(not_judged_above_does_not_stop_the_first)
{
	scene_add("abc");
	scene_unjudged("0abc", scene.now_ms + 5000);
	expect("check 0a, wake 5000");
	scene_run("0a", "a");
	expect("");
	scene_unjudged("0a", scene.now_ms + 3000);
	expect("wake 3000");
}

TEST(a_control_that_is_not_judged_blames_nobody)
{
	scene_add("a");
	scene_failed("0a");
	scene_failed("0a");
	scene_unjudged("0", scene.now_ms + 7000);
	expect("wake 7000");
	scene.now_ms += 7000;
	expect("control 0");
}

TEST(a_suspect_that_is_not_judged_waits_too)
{
	scene_passed("0");
	scene_add("a");
	scene_failed("0a");
	scene_unjudged("0a", scene.now_ms + 10);
	expect("wake 10");
	scene.now_ms += 10;
	expect("check 0a");
}

TEST(another_command_asks_again)
{
	scene_add("a");
	scene_passed("0a");
	scene.facts.command = "d";
	expect("check 0a");
}
