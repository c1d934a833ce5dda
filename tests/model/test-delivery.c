/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "worker.h"

#define START 1000

#define cleanup_record __attribute__((cleanup(session_record_release)))

/* Ready, with a prompt parked. */
static struct session_record
record_parked(bool clear)
{
	struct session_record record = { .ready = true };

	delivery_park(&record, "do it", "17", clear, START);
	return record;
}

static void
assert_next(const struct session_record *record, int64_t now_ms,
    enum delivery_action wanted, int64_t wanted_wait)
{
	int64_t wait = -2;
	enum delivery_action action =
	    delivery_next(record, true, now_ms, &wait);

	ck_assert_str_eq(
	    delivery_action_name(action), delivery_action_name(wanted));
	ck_assert_int_eq(wait, wanted_wait);
}

TEST(nothing_pending_waits_for_an_event)
{
	cleanup_record struct session_record record = { .ready = true };

	assert_next(&record, START, DELIVERY_WAIT, -1);
	record.step = PROMPT_PASTED; /* without a text */
	assert_next(&record, START + 60000, DELIVERY_WAIT, -1);
}

TEST(parked_prompt_waits_until_the_session_is_ready)
{
	cleanup_record struct session_record record = record_parked(false);

	record.ready = false;
	assert_next(&record, START + 60000, DELIVERY_WAIT, -1);
	delivery_session_started(&record, false, START);
	assert_next(&record, START, DELIVERY_PASTE, -1);
}

TEST(prompt_is_held_where_the_box_is_not_ours)
{
	cleanup_record struct session_record record = record_parked(false);
	int64_t wait = -2;

	ck_assert_int_eq(
	    delivery_next(&record, false, START, &wait), DELIVERY_WAIT);
	ck_assert_int_eq(wait, -1);
	assert_next(&record, START, DELIVERY_PASTE, -1);
	delivery_did(&record, DELIVERY_PASTE, START);
	ck_assert_int_eq(
	    delivery_next(&record, false, START + 60000, &wait), DELIVERY_WAIT);
	ck_assert_int_eq(wait, -1);
}

TEST(message_goes_into_a_turn_but_clear_waits_for_its_end)
{
	cleanup_record struct session_record record = record_parked(true);

	record.busy = true;
	assert_next(&record, START, DELIVERY_WAIT, -1);
	record.pending_clear = false;
	assert_next(&record, START, DELIVERY_PASTE, -1);
	record.pending_clear = true;
	record.busy = false;
	assert_next(&record, START, DELIVERY_CLEAR, -1);
}

TEST(clear_then_paste_then_receipt)
{
	cleanup_record struct session_record record = record_parked(true);

	delivery_did(&record, DELIVERY_CLEAR, START);
	ck_assert_int_eq(record.step, PROMPT_CLEARING);
	assert_next(&record, START + 1, DELIVERY_WAIT, DELIVERY_CLEAR_MS - 1);
	/* A compaction is not our /clear. */
	delivery_session_started(&record, false, START + 2);
	ck_assert_int_eq(record.step, PROMPT_CLEARING);
	delivery_session_started(&record, true, START + 2);
	ck_assert(!record.pending_clear);
	assert_next(&record, START + 2, DELIVERY_PASTE, -1);
	delivery_did(&record, DELIVERY_PASTE, START + 3);
	ck_assert_int_eq(record.step, PROMPT_PASTED);
	assert_next(&record, START + 4, DELIVERY_WAIT, DELIVERY_CONFIRM_MS - 1);
	ck_assert(!delivery_submitted(&record, "[llmc 16] do it"));
	ck_assert(!delivery_submitted(&record, "do it"));
	ck_assert(delivery_submitted(&record, "[llmc 17] do it"));
	ck_assert_int_eq(record.step, PROMPT_NONE);
	ck_assert_ptr_null(record.pending);
	assert_next(&record, START + 60000, DELIVERY_WAIT, -1);
	ck_assert(!delivery_submitted(&record, "[llmc 17] do it"));
}

/* Press Enter three times, each after the timeout, then restart. */
static void
assert_gives_up(struct session_record *record, int64_t now, int64_t patience)
{
	for (int i = 0; i < DELIVERY_TRIES; i++) {
		assert_next(record, now + patience - 1, DELIVERY_WAIT, 1);
		now += patience;
		assert_next(record, now, DELIVERY_ENTER, -1);
		delivery_did(record, DELIVERY_ENTER, now);
	}
	assert_next(record, now + patience, DELIVERY_RESTART, -1);
	delivery_did(record, DELIVERY_RESTART, now + patience);
	ck_assert_int_eq(record->step, PROMPT_PARKED);
	ck_assert_int_eq(record->pending_tries, 0);
	ck_assert_str_eq(record->pending, "do it");
	ck_assert(!record->ready);
	assert_next(record, now + 600000, DELIVERY_WAIT, -1);
}

TEST(unconfirmed_paste_gets_enters_and_then_a_new_session)
{
	cleanup_record struct session_record record = record_parked(false);

	delivery_did(&record, DELIVERY_PASTE, START);
	assert_gives_up(&record, START, DELIVERY_CONFIRM_MS);
	delivery_session_started(&record, false, START);
	assert_next(&record, START, DELIVERY_PASTE, -1);
}

/* A slow agent must not be ended as often as it is started. */
TEST_ROWS(each_session_for_a_prompt_gets_twice_as_long, 2)
{
	cleanup_record struct session_record record = record_parked(_i == 1);
	int64_t ms = _i == 1 ? DELIVERY_CLEAR_MS : DELIVERY_CONFIRM_MS, pause;

	for (int i = 0; i < DELIVERY_SESSIONS; i++, ms *= 2) {
		delivery_did(
		    &record, _i == 1 ? DELIVERY_CLEAR : DELIVERY_PASTE, START);
		assert_gives_up(&record, START, ms);
		ck_assert_int_eq(delivery_refused(&record, &pause),
		    i < DELIVERY_SESSIONS - 1);
		delivery_session_started(&record, false, START);
	}
	/* A person has released it. */
	delivery_did(&record, _i == 1 ? DELIVERY_CLEAR : DELIVERY_PASTE, START);
	assert_gives_up(
	    &record, START, _i == 1 ? DELIVERY_CLEAR_MS : DELIVERY_CONFIRM_MS);
}

TEST(sessions_for_one_prompt_are_bounded)
{
	cleanup_record struct session_record record = record_parked(false);
	int64_t pause, last = 0;

	for (int round = 0; round < 2; round++, last = 0) {
		for (int i = 1; i < DELIVERY_SESSIONS; i++) {
			delivery_did(&record, DELIVERY_RESTART, START);
			ck_assert(delivery_refused(&record, &pause));
			ck_assert_int_gt(pause, last);
			last = pause;
		}
		delivery_did(&record, DELIVERY_RESTART, START);
		ck_assert(!delivery_refused(&record, &pause));
		ck_assert_int_eq(record.step, PROMPT_PARKED);
	}
	/* Another prompt has its own. */
	delivery_did(&record, DELIVERY_RESTART, START);
	delivery_park(&record, "more", "8", false, START);
	ck_assert_int_eq(record.pending_refused, 0);
	delivery_did(&record, DELIVERY_RESTART, START);
	session_record_forget_pending(&record);
	ck_assert_int_eq(record.pending_refused, 0);
}

TEST(unconfirmed_clear_gets_enters_and_then_a_new_session)
{
	cleanup_record struct session_record record = record_parked(true);

	delivery_did(&record, DELIVERY_CLEAR, START);
	assert_gives_up(&record, START, DELIVERY_CLEAR_MS);
	delivery_session_started(&record, false, START);
	assert_next(&record, START, DELIVERY_CLEAR, -1);
}

TEST(late_receipt_ends_a_delivery_at_any_step)
{
	cleanup_record struct session_record record = record_parked(false);

	delivery_did(&record, DELIVERY_PASTE, START);
	delivery_did(&record, DELIVERY_RESTART, START + 9000);
	ck_assert(delivery_submitted(&record, "hel[llmc 17] do it"));
	ck_assert_int_eq(record.step, PROMPT_NONE);
}

TEST(clock_that_goes_back_does_not_stop_a_delivery)
{
	cleanup_record struct session_record record = record_parked(false);

	delivery_did(&record, DELIVERY_PASTE, START + 3600000);
	assert_next(&record, START, DELIVERY_ENTER, -1);
	delivery_did(&record, DELIVERY_ENTER, START);
	assert_next(&record, START, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
}

TEST(after_a_restart_doubt_is_short)
{
	cleanup_record struct session_record pasted = record_parked(false);
	cleanup_record struct session_record clearing = record_parked(true);

	delivery_recovered(&pasted, START);
	assert_next(&pasted, START, DELIVERY_PASTE, -1);
	delivery_did(&pasted, DELIVERY_PASTE, START);
	delivery_recovered(&pasted, START + 50);
	assert_next(&pasted, START + 50, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(
	    &pasted, START + 50 + DELIVERY_CONFIRM_MS, DELIVERY_ENTER, -1);
	delivery_did(&pasted, DELIVERY_ENTER, 10000);
	assert_next(&pasted, 10000, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(&pasted, 10000 + DELIVERY_CONFIRM_MS, DELIVERY_RESTART, -1);

	delivery_did(&clearing, DELIVERY_CLEAR, START);
	delivery_recovered(&clearing, START + 50);
	assert_next(&clearing, START + 50, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(
	    &clearing, START + 50 + DELIVERY_CONFIRM_MS, DELIVERY_RESTART, -1);
}

TEST(next_prompt_replaces_the_one_on_its_way)
{
	cleanup_record struct session_record record = record_parked(true);

	delivery_did(&record, DELIVERY_CLEAR, START);
	delivery_did(&record, DELIVERY_ENTER, START);
	delivery_park(&record, "other", "18", false, START + 9);
	ck_assert_str_eq(record.pending, "other");
	ck_assert_str_eq(record.receipt, "18");
	ck_assert_int_eq(record.pending_tries, 0);
	ck_assert_int_eq(record.pending_since_ms, START + 9);
	assert_next(&record, START + 9, DELIVERY_PASTE, -1);
}

/* What an input box has received since its session began. */
struct box {
	int pastes, clears, enters;
};

/* Something happens to the session independent of delivery. */
static void
happen(struct dice *dice, struct session_record *record, bool *open,
    int64_t now_ms)
{
	switch (dice_below(dice, 8)) {
	case 0:
		record->busy = dice_coin(dice);
		break;
	case 1:
		*open = dice_below(dice, 6) < 4;
		break;
	case 2:
		if (record->ready)
			delivery_session_started(record,
			    record->step == PROMPT_CLEARING && dice_coin(dice),
			    now_ms);
		break;
	case 3: /* the launch after a restart succeeds */
		if (!record->ready)
			delivery_session_started(record, false, now_ms);
		break;
	default:
		break;
	}
}

static void
act(struct session_record *record, bool open, struct box *box, int64_t now_ms)
{
	int64_t wait = 0;
	enum delivery_action action =
	    delivery_next(record, open, now_ms, &wait);

	ck_assert_uint_lt(action, DELIVERY_ACTION_COUNT);
	if (action == DELIVERY_WAIT) {
		ck_assert(wait == -1 ||
		    (wait > 0 &&
			wait <= DELIVERY_CLEAR_MS << (DELIVERY_SESSIONS - 1)));
		return;
	}
	ck_assert(record->ready);
	switch (action) {
	case DELIVERY_PASTE:
		ck_assert_int_eq(++box->pastes, 1);
		box->enters = 0;
		break;
	case DELIVERY_CLEAR:
		ck_assert_int_eq(++box->clears, 1);
		ck_assert_int_eq(box->pastes, 0);
		break;
	case DELIVERY_ENTER:
		ck_assert_int_gt(box->pastes + box->clears, 0);
		ck_assert_int_le(++box->enters, DELIVERY_TRIES);
		break;
	default:
		ck_assert_int_eq(box->enters, DELIVERY_TRIES);
		*box = (struct box){ 0, 0, 0 };
		break;
	}
	delivery_did(record, action, now_ms);
}

TEST(random_events_never_paste_twice_into_one_box)
{
	int delivered = 0;

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_record struct session_record record =
		    record_parked(dice_coin(&dice));
		struct box box = { 0, 0, 0 };
		int64_t now = START;
		bool open = true;

		for (int i = 0; i < 300 && record.step != PROMPT_NONE; i++) {
			now += dice_below(&dice, 5000);
			if (dice_below(&dice, 50) == 0)
				now -= 20000; /* the clock is set back */
			happen(&dice, &record, &open, now);
			act(&record, open, &box, now);
			if (box.pastes > 0 && dice_below(&dice, 10) == 0)
				delivered += delivery_submitted(
				    &record, "[llmc 17] do it");
		}
	}
	ck_assert_int_gt(delivered, 500);
}

TEST(session_that_answers_nothing_is_given_up_in_bounded_time)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_record struct session_record record =
		    record_parked(dice_coin(&dice));
		struct box box = { 0, 0, 0 };
		int64_t now = START, wait;
		int actions = 0;

		while (record.ready) {
			if (delivery_next(&record, true, now, &wait) ==
			    DELIVERY_WAIT) {
				ck_assert_int_gt(wait, 0);
				now += wait + dice_below(&dice, 100);
			}
			act(&record, true, &box, now);
			if (record.step == PROMPT_CLEARING &&
			    dice_below(&dice, 6) == 0) {
				delivery_session_started(&record, true, now);
				box.enters = 0;
			}
			ck_assert_int_le(++actions, 4 * (DELIVERY_TRIES + 2));
		}
		ck_assert_int_le(now - START,
		    (DELIVERY_TRIES + 1) *
			(DELIVERY_CLEAR_MS + DELIVERY_CONFIRM_MS + 200));
	}
}
