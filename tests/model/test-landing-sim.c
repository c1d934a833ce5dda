/* SPDX-License-Identifier: ISC */

/* Random histories of the landing queue, with everything that can go wrong; the
 * rules of landing-world.c must hold in each of them. */

#include "base.h"
#include "landing-world.h"
#include "unit.h"

#define HISTORIES 10000

static int
pick(struct dice *dice, const int *values, unsigned count)
{
	return values[dice_below(dice, count)];
}

static struct world_options
any_options(uint64_t seed)
{
	static const int rates[] = { 0, 0, 20, 50, 150, 500 };
	static const int few[] = { 0, 0, 5, 20, 100 };
	static const int sizes[] = { 1, 2, 3, 5, 8, 13 };
	static const int slots[] = { 1, 1, 2, 3, 4, 8 };
	struct dice dice = { seed * 7919 + 1 };

	return (struct world_options){
		.seed = seed,
		.entries = pick(&dice, sizes, nitems(sizes)) +
		    (int)dice_below(&dice, 4),
		.mode = dice_coin(&dice) ? LANDING_TIP : LANDING_EACH,
		.slots = pick(&dice, slots, nitems(slots)),
		.bad = pick(&dice, rates, nitems(rates)),
		.pairs = pick(&dice, few, nitems(few)),
		.conflicts = pick(&dice, few, nitems(few)),
		.same = pick(&dice, few, nitems(few)),
		.flakes = pick(&dice, few, nitems(few)),
		.unjudged = pick(&dice, few, nitems(few)),
		.red = dice_below(&dice, 8) == 0,
		.late = dice_coin(&dice),
		.arrivals = dice_coin(&dice),
		.priorities = dice_coin(&dice),
		.accidents = dice_coin(&dice),
		.no_command = dice_below(&dice, 20) == 0,
	};
}

TEST(the_rules_hold_in_every_history)
{
	int landed = 0, ejected = 0, done = 0, reds = 0, flaky = 0;
	int histories = unit_times(HISTORIES);

	for (uint64_t seed = 1; seed <= (uint64_t)histories; seed++) {
		struct world_options options = any_options(seed);
		struct world_result result;

		world_run(&options, &result);
		ck_assert_msg(result.broken == NULL, "history %d: %s",
		    (int)seed, result.broken);
		landed += result.landed;
		ejected += result.ejected;
		done += result.done;
		reds += result.reds;
		flaky += result.flaky;
	}
	printf("# %d landed, %d ejected, %d done, %d red, %d flaky\n", landed,
	    ejected, done, reds, flaky);
	ck_assert(landed > histories && ejected > histories / 10);
	ck_assert(done > histories / 100 && reds > histories / 100);
	ck_assert(flaky > histories / 100);
}

TEST(what_lands_is_what_lands_one_by_one)
{
	for (int seed = 1; seed <= unit_times(HISTORIES / 10); seed++) {
		struct world_options options = any_options((uint64_t)seed);
		char serial[WORLD_ENTRIES_MAX];
		struct world_result result;

		options.conflicts = options.same = options.flakes = 0;
		options.red = options.arrivals = options.accidents = false;
		options.no_command = false;
		world_run(&options, &result);
		world_serial(&options, serial);
		ck_assert_msg(
		    memcmp(serial, result.landed_names, sizeof serial) == 0,
		    "history %d", seed);
	}
}

TEST(an_uncontended_entry_is_checked_once)
{
	struct world_options options = { .seed = 1, .entries = 1, .slots = 4 };
	struct world_result result;

	world_run(&options, &result);
	ck_assert_ptr_null(result.broken);
	ck_assert_int_eq(result.checks, 1);
	ck_assert_int_eq(result.landed, 1);
	ck_assert_int_eq(result.took_ms, WORLD_CHECK_MS);
}

TEST(a_rerun_at_the_point_of_blame_saves_good_entries)
{
	struct world_options options = {
		.entries = 200, .slots = 1, .bad = 50, .flakes = 30
	};
	struct world_result result;
	int wrong = 0;

	for (options.seed = 1; options.seed <= 20; options.seed++) {
		world_run(&options, &result);
		ck_assert_ptr_null(result.broken);
		wrong += result.false_ejections;
	}
	ck_assert_int_le(wrong, 4);
}
