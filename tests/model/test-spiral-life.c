/* SPDX-License-Identifier: ISC */

/* Random histories of a daemon: what no sequence of events may lead to. */

#include "spiral-history.h"

/* The next event of a random history: the overseer acts as it would, with
 * people and clock changes in between. */
static void
live(struct dice *dice, struct history *history)
{
	static const char *const outcomes[] = { "completed", "completed",
		"gave up", "timed out", "session died" };
	static const char *const signatures[] = { "a", "b", "c" };
	static const int64_t runs[] = { 0, SHORT, 60 * SECOND - 1, 60 * SECOND,
		SOUND, HOUR, 30 * HOUR };
	int64_t run = runs[dice_below(dice, nitems(runs))];
	const char *signature = signatures[dice_below(dice, 3)];

	switch (dice_below(dice, 8)) {
	case 0:
		happen(history, SPIRAL_STALL, run, NULL);
		return;
	case 1:
		happen(history, SPIRAL_STOP, run, NULL);
		return;
	case 2:
		if (dice_below(dice, 4) == 0)
			happen(history, SPIRAL_CLEAR, 0, NULL);
		return;
	default:
		happen(history, SPIRAL_FAILURE, run, signature);
	}
	if (decide(history).action == SPIRAL_REPAIR)
		repair(history, outcomes[dice_below(dice, nitems(outcomes))]);
	else
		happen(history, SPIRAL_GAVE_UP, 0, NULL);
}

/* Is there a long run or a reset by a person between the failure at i and the
 * repair before it, or no repair at all? */
static bool
is_anew(const struct history *history, size_t i)
{
	if (history->events[i].run_ms >= rules.cooldown_ms)
		return true;
	while (i-- > 0) {
		const struct spiral_event *event = &history->events[i];

		if (event->kind == SPIRAL_CLEAR)
			return true;
		if (event->kind == SPIRAL_REMEDY)
			return false;
		if (event->kind != SPIRAL_GAVE_UP &&
		    event->run_ms >= rules.cooldown_ms)
			return true;
	}
	return true;
}

static bool
is_bounded(const char *why)
{
	return why != NULL &&
	    (strcmp(why, "slow_spiral") == 0 || strcmp(why, "day_budget") == 0);
}

TEST(random_lives_repair_first_and_never_twice_inside_the_cooldown)
{
	unsigned repaired = 0, ended = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (int i = 0; i < 60; i++)
			live(&dice, history);
		for (size_t i = 0; i < history->count; i++) {
			const struct spiral_event *event = &history->events[i];
			struct spiral_decision decision = spiral_decide(
			    history->events, i + 1, &rules, event->at_ms);

			if (event->kind != SPIRAL_FAILURE)
				continue;
			ck_assert_int_ne(decision.action, SPIRAL_RESTART);
			if (!is_anew(history, i))
				ck_assert_str_eq(decision.why, "spiral");
			else if (!is_bounded(decision.why))
				ck_assert_int_eq(
				    decision.action, SPIRAL_REPAIR);
			repaired += decision.action == SPIRAL_REPAIR;
			ended += decision.action == SPIRAL_END;
		}
	}
	/* Both must happen, or the test shows nothing. */
	ck_assert_uint_gt(repaired, 1000);
	ck_assert_uint_gt(ended, 1000);
}

TEST(first_failure_after_a_clear_is_always_repaired)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (unsigned i = dice_below(&dice, 60); i > 0; i--)
			live(&dice, history);
		happen(history, SPIRAL_CLEAR, 0, NULL);
		while (dice_coin(&dice)) {
			bool stops = dice_coin(&dice);

			happen(history, stops ? SPIRAL_STOP : SPIRAL_STALL,
			    dice_below(&dice, 2) * SOUND, NULL);
		}
		happen(history, SPIRAL_FAILURE, 0, "a");
		assert_decision(history, SPIRAL_REPAIR, NULL);
	}
}

/* The number of repairs before the overseer gives up on a daemon that always
 * fails at the same place, after runs of up to run_max. */
static int
repairs_before_the_end(struct dice *dice, const struct spiral_rules *given,
    const char *signature, int64_t run_max)
{
	cleanup_history struct history *history = history_new();

	for (int repairs = 0; repairs < HISTORY_MAX / 2 - 1; repairs++) {
		happen(history, SPIRAL_FAILURE,
		    (int64_t)(dice_next(dice) % (uint64_t)run_max), signature);
		if (spiral_decide(
			history->events, history->count, given, history->now_ms)
			.action == SPIRAL_END)
			return repairs;
		repair(history, dice_coin(dice) ? "completed" : "interrupted");
	}
	return -1;
}

TEST(daemon_that_always_fails_at_the_same_place_ends)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		struct spiral_rules given = rules;
		int repairs;

		given.cooldown_ms = dice_below(&dice, 3) * 60 * SECOND;
		given.same_max = 1 + (int)dice_below(&dice, 8);
		given.day_max = 0;
		repairs = repairs_before_the_end(
		    &dice, &given, "a", given.same_window_ms / 10);
		ck_assert_int_ge(repairs, 1);
		ck_assert_int_le(
		    repairs, given.same_max > 2 ? given.same_max - 1 : 1);
		/* The failures are not recognised as the same: the daily limit
		 * stops it. */
		given.day_max = 1 + (int)dice_below(&dice, 30);
		repairs =
		    repairs_before_the_end(&dice, &given, NULL, 24 * HOUR / 40);
		ck_assert_int_ge(repairs, 1);
		ck_assert_int_le(repairs, given.day_max);
	}
}

static int
repairs_between(const struct history *history, int64_t from_ms, int64_t to_ms)
{
	int repairs = 0;

	for (size_t i = 0; i < history->count; i++)
		repairs += history->events[i].kind == SPIRAL_REMEDY &&
		    history->events[i].at_ms > from_ms &&
		    history->events[i].at_ms <= to_ms;
	return repairs;
}

TEST(no_window_has_more_repairs_than_its_bound_whatever_the_runs)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();

		for (int i = 0; i < 150; i++) {
			happen(history, SPIRAL_FAILURE,
			    (int64_t)(dice_next(&dice) % (uint64_t)(12 * HOUR)),
			    "a");
			if (decide(history).action != SPIRAL_REPAIR)
				break;
			repair(history, "completed");
			ck_assert_int_lt(
			    repairs_between(history,
				history->now_ms - 24 * HOUR, history->now_ms),
			    rules.same_max);
		}
	}
}

TEST(replayed_from_the_file_the_decisions_are_the_same)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_history struct history *history = history_new();
		cleanup_history struct history *again = history_new();

		for (int i = 0; i < 60; i++)
			live(&dice, history);
		for (size_t i = 0; i < history->count; i++) {
			struct spiral_decision first, second;
			int64_t now = history->events[i].at_ms;

			reread(&history->events[i], &again->events[i]);
			again->count++;
			first =
			    spiral_decide(history->events, i + 1, &rules, now);
			second =
			    spiral_decide(again->events, i + 1, &rules, now);
			ck_assert_int_eq(first.action, second.action);
			ck_assert_int_eq(first.delay_ms, second.delay_ms);
			ck_assert_int_eq(first.same, second.same);
			ck_assert_ptr_eq(first.why, second.why);
		}
	}
}
