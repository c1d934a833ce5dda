/* SPDX-License-Identifier: ISC */

/* The order of the queue, its chain, and which part of it is checked and
 * lands. */

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

TEST(nothing_queued_nothing_to_do)
{
	expect("");
}

TEST(one_entry_is_built_checked_and_landed)
{
	scene.manual = true;
	scene_add("a");
	expect("build a on 0");
	scene_entry('a')->build = LANDING_BUILDING;
	expect("");
	scene.manual = false;
	scene_entry('a')->build = LANDING_UNBUILT;
	expect("check 0a");
	scene_run("0a", "a");
	expect("");
	scene_passed("0a");
	expect("land 0a");
	/* Under way: not a second time. */
	scene_entry('a')->landing = true;
	scene.facts.moving = true;
	scene_base("0a");
	expect("");
	scene.facts.moving = false;
	scene_remove('a');
	expect("");
	ck_assert_int_eq(scene.builds, 1);
}

TEST(a_tree_that_passed_before_is_not_checked_again)
{
	scene_add("a");
	scene_passed("0a");
	expect("land 0a");
}

TEST(without_a_command_everything_lands)
{
	scene.facts.command = NULL;
	scene_add("abc");
	expect("land 0abc");
	scene.facts.mode = LANDING_EACH;
	expect("land 0abc");
	scene_run("0a", "a");
	expect("cancel 0a, land 0abc");
}

TEST(builds_follow_the_parent)
{
	scene.manual = true;
	scene_add("ab");
	expect("build a on 0");
	scene.manual = false;
	expect("check 0ab");
	ck_assert_int_eq(scene.builds, 2);
	/* Somebody else moved the branch: nothing built so far is of use. */
	scene_base("0x");
	expect("check 0xab");
	ck_assert_int_eq(scene.builds, 4);
}

TEST(order_is_priority_then_age)
{
	scene_add_as('l', PRIORITY_LOW);
	scene_add_as('n', PRIORITY_NORMAL);
	scene_add_as('h', PRIORITY_HIGH);
	scene_add_as('m', PRIORITY_NORMAL);
	scene_add_as('u', PRIORITY_URGENT);
	expect("check 0uhnml");
}

TEST(high_goes_behind_what_is_being_checked)
{
	scene_add("ab");
	expect("check 0ab");
	scene_run("0ab", "ab");
	scene_add("c");
	scene_add_as('h', PRIORITY_HIGH);
	expect("");
	scene_passed("0ab");
	expect("land 0ab");
	scene_remove('a');
	scene_remove('b');
	scene_base("0ab");
	expect("check 0abhc");
}

TEST(what_has_passed_lands_before_anything_that_came)
{
	scene.facts.hold = true;
	scene_add("ab");
	scene_passed("0ab");
	expect("");
	scene_add_as('u', PRIORITY_URGENT);
	scene_add_as('h', PRIORITY_HIGH);
	expect("check 0abuh");
	scene.facts.hold = false;
	expect("land 0ab");
	/* In mode each all of it must have passed. */
	scene.facts.mode = LANDING_EACH;
	expect("check 0u");
}

TEST(urgent_cancels_what_is_being_checked)
{
	scene_add("ab");
	scene_run("0ab", "ab");
	scene_add_as('u', PRIORITY_URGENT);
	expect("cancel 0ab");
	/* Told to stop, it holds the slot until it is gone. */
	scene.runs[0].cancelled = true;
	expect("");
	scene_run_ended("0ab");
	expect("check 0uab");
}

TEST(a_cancelled_check_no_longer_keeps_the_order)
{
	scene_add("ab");
	scene_run("0ab", "ab");
	scene_add_as('u', PRIORITY_URGENT);
	scene_add_as('h', PRIORITY_HIGH);
	expect("cancel 0ab");
	scene.runs[0].cancelled = true;
	scene.facts.slots = 2;
	expect("check 0uhab");
}

TEST(what_passed_with_a_held_entry_does_not_keep_its_order)
{
	scene.facts.hold = true;
	scene_add("ab");
	scene_passed("0ab");
	expect("");
	scene_entry('a')->held = true;
	scene_add_as('h', PRIORITY_HIGH);
	expect("check 0hb");
}

TEST(the_same_facts_give_the_same_plan)
{
	scene.facts.slots = 2;
	scene_add("abc");
	expect("check 0abc, check 0a");
	/* Killed after the first of them was begun. */
	scene_run("0abc", "abc");
	expect("check 0a");
	scene_run("0a", "a");
	expect("");
	/* Restarted: the commits are unknown and are built again. */
	for (const char *letter = "abc"; *letter != '\0'; letter++)
		scene_entry(*letter)->build = LANDING_UNBUILT;
	expect("");
	ck_assert_int_eq(scene.builds, 6);
}

TEST(left_out_entries_keep_their_place_during_a_check)
{
	const char *tasks[SCENE_MAX + 1];
	struct landing_plan plan;

	scene.conflicts = "ad";
	scene_add("adhb");
	scene_entry('h')->held = true;
	expect("check 0ab");
	landing_plan_make(&scene.facts, scene.now_ms, &plan);
	ck_assert_uint_eq(plan.actions[0].upto, 2);
	landing_plan_tasks(&scene.facts, &plan, &plan.actions[0], tasks);
	ck_assert_str_eq(tasks[0], "a");
	ck_assert_str_eq(tasks[1], "d");
	ck_assert_str_eq(tasks[2], "b");
	ck_assert_ptr_null(tasks[3]);
	landing_plan_release(&plan);
	/* Released while the check runs, it does not disturb it. */
	scene_run("0ab", "adb");
	scene_entry('h')->held = false;
	expect("");
	scene_passed("0ab");
	expect("land 0ab");
}

TEST(a_held_entry_is_left_out)
{
	scene_add("abc");
	scene_entry('b')->held = true;
	expect("check 0ac");
}

TEST(a_conflict_with_an_entry_before_is_deferred)
{
	scene.conflicts = "ab";
	scene_add("abc");
	expect("check 0ac");
	scene_passed("0ac");
	expect("land 0ac");
	scene_remove('a');
	scene_remove('c');
	scene_base("0ac");
	/* First in line: the conflict is with the base. */
	expect("conflict b");
}

TEST(a_deferred_entry_comes_back_when_its_rival_is_gone)
{
	scene.conflicts = "ab";
	scene_add("abc");
	expect("check 0ac");
	scene_remove('a');
	expect("check 0bc");
}

TEST(a_conflict_waits_for_a_landing_under_way)
{
	scene.conflicts = "ab";
	scene_add("b");
	scene_base("0a");
	scene.facts.moving = true;
	expect("");
	scene.facts.moving = false;
	expect("conflict b");
}

TEST(what_the_base_contains_is_done)
{
	scene.same = "ab";
	scene_base("0a");
	scene_add("bc");
	expect("done b, check 0ac");
}

TEST(what_the_link_before_contains_lands_with_it)
{
	struct landing_plan plan;

	scene.same = "ab ac";
	scene_add("abcd");
	expect("check 0ad");
	scene_passed("0a");
	expect("land 0a");
	landing_plan_make(&scene.facts, scene.now_ms, &plan);
	ck_assert_uint_eq(plan.actions[0].upto, 3);
	ck_assert(!plan.links[0].same && plan.links[1].same);
	ck_assert_str_eq(plan.links[2].commit, "c0a");
	landing_plan_release(&plan);
}

TEST(a_failed_tip_is_searched_by_halves)
{
	scene_add("abcdefgh");
	expect("check 0abcdefgh");
	scene_failed("0abcdefgh");
	expect("check 0abcd");
	scene_failed("0abcd");
	expect("check 0ab");
	scene_passed("0ab");
	expect("land 0ab");
	scene_remove('a');
	scene_remove('b');
	scene_base("0ab");
	expect("check 0abc");
	scene_passed("0abc");
	expect("land 0abc");
	scene_remove('c');
	scene_base("0abc");
	/* d is to blame: once more, and only then back. */
	expect("check 0abcd");
	scene_failed("0abcd");
	expect("eject d");
	scene_remove('d');
	expect("check 0abcefgh");
}

TEST(several_slots_divide_the_chain)
{
	scene.facts.slots = 3;
	scene_add("abcdefghi");
	expect("check 0abcdefghi, check 0abcdef, check 0abc");
	scene_run("0abcdefghi", "abcdefghi");
	scene_run("0abcdef", "abcdef");
	expect("check 0abc");
	scene_run("0abc", "abc");
	expect("");
	/* Below the failure, and what cannot pass any more is stopped. */
	scene_failed("0abcdef");
	expect("cancel 0abcdefghi, check 0abcd");
	scene_run_ended("0abcdefghi");
	scene_passed("0abc");
	expect("land 0abc");
}

TEST(a_pass_above_stops_the_checks_below)
{
	scene.facts.slots = 2;
	scene_add("abcd");
	scene_run("0abcd", "abcd");
	scene_run("0ab", "ab");
	scene_passed("0abcd");
	expect("cancel 0ab, land 0abcd");
	/* A failure below a pass does not matter in mode tip. */
	scene_failed("0ab");
	expect("land 0abcd");
}

TEST(few_links_are_all_checked_the_tip_first)
{
	scene.facts.slots = 4;
	scene_add("abc");
	expect("check 0abc, check 0ab, check 0a");
	scene_run("0ab", "ab");
	scene_run("0x", "x");
	expect("cancel 0x, check 0abc, check 0a");
	scene.facts.slots = 3;
	expect("cancel 0x, check 0abc");
	scene.facts.slots = 0;
	expect("cancel 0x");
}

TEST(the_window_bounds_the_chain)
{
	scene_add("abcdefgh");
	scene.facts.window = 3;
	expect("check 0abc");
	scene_add("ijklmnopqrstuvwxyzABCDEFGHIJ");
	scene.facts.window = 100;
	expect("check 0abcdefghijklmnopqrstuvwxyzABCDEF");
	/* In mode each every slot has a link. */
	scene.facts.mode = LANDING_EACH;
	scene.facts.window = 1;
	scene.facts.slots = 3;
	expect("check 0a, check 0ab, check 0abc");
}

TEST(the_window_grows_and_shrinks)
{
	ck_assert_int_eq(landing_plan_window_landed(4, 3), 7);
	ck_assert_int_eq(landing_plan_window_landed(31, 3), LANDING_WINDOW_MAX);
	ck_assert_int_eq(landing_plan_window_landed(1, SIZE_MAX), 32);
	ck_assert_int_eq(landing_plan_window_landed(-5, 1), 2);
	ck_assert_int_eq(landing_plan_window_ejected(0), 24);
	ck_assert_int_eq(landing_plan_window_ejected(8), 6);
	ck_assert_int_eq(landing_plan_window_landed(INT_MAX, 1), 32);
	ck_assert_int_eq(landing_plan_window_ejected(INT_MAX), 24);
	ck_assert_int_eq(landing_plan_window_ejected(2), 1);
	ck_assert_int_eq(landing_plan_window_ejected(1), 1);
}

TEST(mode_each_checks_and_lands_from_the_front)
{
	scene.facts.mode = LANDING_EACH;
	scene.facts.slots = 2;
	scene_add("abcd");
	expect("check 0a, check 0ab");
	scene_run("0a", "a");
	scene_run("0ab", "ab");
	scene_passed("0ab");
	/* Not before a has passed by itself. */
	expect("check 0abc");
	scene_run("0abc", "abc");
	scene_passed("0a");
	expect("land 0ab");
}

TEST(mode_each_goes_on_behind_a_suspect)
{
	scene.facts.mode = LANDING_EACH;
	scene.facts.slots = 2;
	scene_add("abcd");
	scene_passed("0");
	scene_failed("0a");
	expect("check 0a, check 0ab");
	scene_run("0ab", "ab");
	scene_failed("0a");
	expect("cancel 0ab, eject a");
	scene_run_ended("0ab");
	scene_remove('a');
	expect("check 0b, check 0bc");
}

TEST(while_the_branch_cannot_move_checks_go_on)
{
	scene.facts.hold = true;
	scene_add("abc");
	scene_passed("0ab");
	expect("check 0abc");
	/* Nobody is sent back on top of what has not landed. */
	scene_failed("0abc");
	expect("check 0abc");
	scene_failed("0abc");
	expect("");
	scene.facts.hold = false;
	expect("land 0ab");
}

TEST(checks_begin_while_the_branch_moves)
{
	scene_add("abc");
	scene_passed("0ab");
	expect("land 0ab");
	scene_entry('a')->landing = scene_entry('b')->landing = true;
	scene.facts.moving = true;
	scene_base("0ab");
	expect("check 0abc");
	/* It could not be moved: as before. */
	scene_run("0abc", "c");
	scene_entry('a')->landing = scene_entry('b')->landing = false;
	scene.facts.moving = false;
	scene_base("0");
	expect("land 0ab");
}

TEST(a_check_survives_the_landing_of_a_part)
{
	scene.facts.slots = 2;
	scene_add("abcd");
	scene_run("0abcd", "abcd");
	scene_passed("0ab");
	expect("land 0ab");
	scene_remove('a');
	scene_remove('b');
	scene_base("0ab");
	expect("check 0abc");
	ck_assert_int_eq(scene.builds, 4);
}

/* The check of 0a runs, and others move the branch: its result may stand for
 * 0xa, which is not checked meanwhile. */
TEST(a_result_that_stands_lands_what_it_stands_for)
{
	scene_add("a");
	scene_run("0a", "a");
	expect("");
	scene_base("0x");
	expect("cancel 0a");
	scene_entry('a')->stands = "0a";
	expect("");
	scene.facts.slots = 2;
	expect("");
	scene_passed("0a");
	expect("land 0xa overtaken");
	/* It passed itself as well. */
	scene_passed("0xa");
	expect("land 0xa");
}

TEST(a_failure_stands_for_nothing)
{
	scene_add("a");
	scene_base("0x");
	scene_entry('a')->stands = "0a";
	scene_run("0a", "a");
	expect("");
	scene_failed("0a");
	expect("check 0xa");
	/* What it got itself counts. */
	scene_passed("0a");
	expect("land 0xa overtaken");
	scene_failed("0xa");
	expect("check 0xa");
	scene_failed("0xa");
	expect("control 0x");
}

/* A check of the last link covers those below it also when it stands; one that
 * came later is not covered. */
TEST(a_result_that_stands_covers_what_is_below)
{
	scene_add("ab");
	expect("check 0ab");
	scene_run("0ab", "ab");
	scene_base("0x");
	scene_entry('a')->stands = "0a";
	scene_entry('b')->stands = "0ab";
	expect("");
	scene_add("c");
	expect("");
	scene_passed("0ab");
	expect("land 0xab overtaken");
	/* Each commit must have passed. */
	scene.facts.mode = LANDING_EACH;
	expect("check 0xa");
	scene_passed("0a");
	expect("land 0xab overtaken");
}

/* It is checked when nothing else is, until it is known to be red. */
TEST(what_landed_overtaken_is_checked_as_it_is)
{
	expect("");
	scene.facts.unproven = true;
	expect("control 0");
	scene_run("0", "");
	expect("");
	scene_failed("0");
	expect("control 0");
	scene_failed("0");
	expect("red 0");
	scene.facts.red_told = "0";
	expect("");
}

TEST(modes_have_names)
{
	ck_assert_str_eq(landing_mode_words[LANDING_TIP], "tip");
	ck_assert_str_eq(landing_mode_words[LANDING_EACH], "each");
	ck_assert_ptr_null(landing_mode_words[LANDING_MODE_COUNT]);
}
