/* SPDX-License-Identifier: ISC */

#include "buf.h"
#include "delivery.h"
#include "dice.h"
#include "mem.h"
#include "prompt.h"
#include "unit.h"

#define START 1000

static void
cleanup_worker_fn(struct worker **worker)
{
	worker_free(*worker);
}
#define cleanup_worker __attribute__((cleanup(cleanup_worker_fn)))

/* Starting, ready, with a prompt parked. */
static struct worker *
worker_parked(bool clear)
{
	struct worker *worker = worker_new("a", START);

	worker->status = WORKER_STARTING;
	worker->ready = true;
	delivery_park(worker, "do it", "17", clear, WORKER_WORKING, START);
	return worker;
}

static void
assert_next(const struct worker *worker, int64_t now_ms,
    enum delivery_action wanted, int64_t wanted_wait)
{
	int64_t wait = -2;
	enum delivery_action action = delivery_next(worker, now_ms, &wait);

	ck_assert_str_eq(
	    delivery_action_name(action), delivery_action_name(wanted));
	ck_assert_int_eq(wait, wanted_wait);
}

START_TEST(nothing_pending_waits_for_an_event)
{
	cleanup_worker struct worker *worker = worker_new("a", START);

	worker->ready = true;
	worker->status = WORKER_IDLE;
	assert_next(worker, START, DELIVERY_WAIT, -1);
	worker->step = PROMPT_PASTED; /* without a text */
	assert_next(worker, START + 60000, DELIVERY_WAIT, -1);
}
END_TEST

START_TEST(parked_prompt_waits_until_the_session_is_ready)
{
	cleanup_worker struct worker *worker = worker_parked(false);

	worker->ready = false;
	assert_next(worker, START + 60000, DELIVERY_WAIT, -1);
	delivery_session_started(worker, false, START);
	assert_next(worker, START, DELIVERY_PASTE, -1);
}
END_TEST

START_TEST(prompt_is_held_where_the_box_is_not_ours)
{
	static const enum worker_status held[] = { WORKER_ACCEPTING,
		WORKER_PAUSED, WORKER_LIMITED, WORKER_ERROR, WORKER_OFFLINE };
	static const enum worker_status free_to[] = { WORKER_IDLE,
		WORKER_STARTING, WORKER_WORKING, WORKER_NEEDS_REVIEW,
		WORKER_REVIEWING, WORKER_REJECTED, WORKER_REBASING,
		WORKER_NO_CHANGES };
	cleanup_worker struct worker *worker = worker_parked(false);

	ck_assert_uint_eq(nitems(held) + nitems(free_to), WORKER_STATUS_COUNT);
	for (size_t i = 0; i < nitems(held); i++) {
		worker->status = held[i];
		assert_next(worker, START, DELIVERY_WAIT, -1);
	}
	for (size_t i = 0; i < nitems(free_to); i++) {
		worker->status = free_to[i];
		assert_next(worker, START, DELIVERY_PASTE, -1);
	}
}
END_TEST

START_TEST(message_goes_into_a_turn_but_clear_waits_for_its_end)
{
	cleanup_worker struct worker *worker = worker_parked(true);

	worker->busy = true;
	assert_next(worker, START, DELIVERY_WAIT, -1);
	worker->pending_clear = false;
	assert_next(worker, START, DELIVERY_PASTE, -1);
	worker->pending_clear = true;
	worker->busy = false;
	assert_next(worker, START, DELIVERY_CLEAR, -1);
}
END_TEST

START_TEST(clear_then_paste_then_receipt)
{
	cleanup_worker struct worker *worker = worker_parked(true);
	enum worker_status after = WORKER_STATUS_COUNT;

	delivery_did(worker, DELIVERY_CLEAR, START);
	ck_assert_int_eq(worker->step, PROMPT_CLEARING);
	assert_next(worker, START + 1, DELIVERY_WAIT, DELIVERY_CLEAR_MS - 1);
	/* A compaction is not our /clear. */
	delivery_session_started(worker, false, START + 2);
	ck_assert_int_eq(worker->step, PROMPT_CLEARING);
	delivery_session_started(worker, true, START + 2);
	ck_assert(!worker->pending_clear);
	assert_next(worker, START + 2, DELIVERY_PASTE, -1);
	delivery_did(worker, DELIVERY_PASTE, START + 3);
	ck_assert_int_eq(worker->step, PROMPT_PASTED);
	assert_next(worker, START + 4, DELIVERY_WAIT, DELIVERY_CONFIRM_MS - 1);
	ck_assert(!delivery_submitted(worker, "[llmc 16] do it", &after));
	ck_assert(!delivery_submitted(worker, "do it", &after));
	ck_assert_int_eq(after, WORKER_STATUS_COUNT);
	ck_assert(delivery_submitted(worker, "[llmc 17] do it", &after));
	ck_assert_int_eq(after, WORKER_WORKING);
	ck_assert_int_eq(worker->step, PROMPT_NONE);
	ck_assert_ptr_null(worker->pending);
	assert_next(worker, START + 60000, DELIVERY_WAIT, -1);
	ck_assert(!delivery_submitted(worker, "[llmc 17] do it", &after));
}
END_TEST

/* Enter three times, each after the patience, then a restart. */
static void
assert_gives_up(struct worker *worker, int64_t now, int64_t patience)
{
	for (int i = 0; i < DELIVERY_TRIES; i++) {
		assert_next(worker, now + patience - 1, DELIVERY_WAIT, 1);
		now += patience;
		assert_next(worker, now, DELIVERY_ENTER, -1);
		delivery_did(worker, DELIVERY_ENTER, now);
	}
	assert_next(worker, now + patience, DELIVERY_RESTART, -1);
	delivery_did(worker, DELIVERY_RESTART, now + patience);
	ck_assert_int_eq(worker->step, PROMPT_PARKED);
	ck_assert_int_eq(worker->pending_tries, 0);
	ck_assert_str_eq(worker->pending, "do it");
	ck_assert(!worker->ready);
	assert_next(worker, now + 600000, DELIVERY_WAIT, -1);
}

START_TEST(unconfirmed_paste_gets_enters_and_then_a_new_session)
{
	cleanup_worker struct worker *worker = worker_parked(false);

	delivery_did(worker, DELIVERY_PASTE, START);
	assert_gives_up(worker, START, DELIVERY_CONFIRM_MS);
	delivery_session_started(worker, false, START);
	assert_next(worker, START, DELIVERY_PASTE, -1);
}
END_TEST

START_TEST(unconfirmed_clear_gets_enters_and_then_a_new_session)
{
	cleanup_worker struct worker *worker = worker_parked(true);

	delivery_did(worker, DELIVERY_CLEAR, START);
	assert_gives_up(worker, START, DELIVERY_CLEAR_MS);
	delivery_session_started(worker, false, START);
	assert_next(worker, START, DELIVERY_CLEAR, -1);
}
END_TEST

START_TEST(late_receipt_ends_a_delivery_at_any_step)
{
	cleanup_worker struct worker *worker = worker_parked(false);
	enum worker_status after;

	delivery_did(worker, DELIVERY_PASTE, START);
	delivery_did(worker, DELIVERY_RESTART, START + 9000);
	ck_assert(delivery_submitted(worker, "hel[llmc 17] do it", &after));
	ck_assert_int_eq(worker->step, PROMPT_NONE);
}
END_TEST

START_TEST(clock_that_goes_back_does_not_stop_a_delivery)
{
	cleanup_worker struct worker *worker = worker_parked(false);

	delivery_did(worker, DELIVERY_PASTE, START + 3600000);
	assert_next(worker, START, DELIVERY_ENTER, -1);
	delivery_did(worker, DELIVERY_ENTER, START);
	assert_next(worker, START, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
}
END_TEST

START_TEST(after_a_restart_doubt_is_short)
{
	cleanup_worker struct worker *pasted = worker_parked(false);
	cleanup_worker struct worker *clearing = worker_parked(true);

	delivery_recovered(pasted, START);
	assert_next(pasted, START, DELIVERY_PASTE, -1);
	delivery_did(pasted, DELIVERY_PASTE, START);
	delivery_recovered(pasted, START + 50);
	assert_next(pasted, START + 50, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(
	    pasted, START + 50 + DELIVERY_CONFIRM_MS, DELIVERY_ENTER, -1);
	delivery_did(pasted, DELIVERY_ENTER, 10000);
	assert_next(pasted, 10000, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(pasted, 10000 + DELIVERY_CONFIRM_MS, DELIVERY_RESTART, -1);

	delivery_did(clearing, DELIVERY_CLEAR, START);
	delivery_recovered(clearing, START + 50);
	assert_next(clearing, START + 50, DELIVERY_WAIT, DELIVERY_CONFIRM_MS);
	assert_next(
	    clearing, START + 50 + DELIVERY_CONFIRM_MS, DELIVERY_RESTART, -1);
}
END_TEST

START_TEST(next_prompt_replaces_the_one_on_its_way)
{
	cleanup_worker struct worker *worker = worker_parked(true);

	delivery_did(worker, DELIVERY_CLEAR, START);
	delivery_did(worker, DELIVERY_ENTER, START);
	delivery_park(worker, "other", "18", false, WORKER_REJECTED, START + 9);
	ck_assert_str_eq(worker->pending, "other");
	ck_assert_str_eq(worker->receipt, "18");
	ck_assert_int_eq(worker->after, WORKER_REJECTED);
	ck_assert_int_eq(worker->pending_tries, 0);
	ck_assert_int_eq(worker->pending_since_ms, START + 9);
	assert_next(worker, START + 9, DELIVERY_PASTE, -1);
}
END_TEST

/* What one box has seen since its session began. */
struct box {
	int pastes, clears, enters;
};

/* Something happens to the worker that delivery has no hand in. */
static void
happen(struct dice *dice, struct worker *worker, int64_t now_ms)
{
	static const enum worker_status statuses[] = { WORKER_STARTING,
		WORKER_STARTING, WORKER_STARTING, WORKER_WORKING,
		WORKER_LIMITED, WORKER_OFFLINE };

	switch (dice_below(dice, 8)) {
	case 0:
		worker->busy = dice_coin(dice);
		break;
	case 1:
		worker->status = statuses[dice_below(dice, nitems(statuses))];
		break;
	case 2:
		if (worker->ready)
			delivery_session_started(worker,
			    worker->step == PROMPT_CLEARING && dice_coin(dice),
			    now_ms);
		break;
	case 3: /* the launch after a restart succeeds */
		if (!worker->ready)
			delivery_session_started(worker, false, now_ms);
		break;
	default:
		break;
	}
}

static void
act(struct worker *worker, struct box *box, int64_t now_ms)
{
	int64_t wait = 0;
	enum delivery_action action = delivery_next(worker, now_ms, &wait);

	ck_assert_uint_lt(action, DELIVERY_ACTION_COUNT);
	if (action == DELIVERY_WAIT) {
		ck_assert(
		    wait == -1 || (wait > 0 && wait <= DELIVERY_CLEAR_MS));
		return;
	}
	ck_assert(worker->ready);
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
	delivery_did(worker, action, now_ms);
}

START_TEST(random_events_never_paste_twice_into_one_box)
{
	int delivered = 0;

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_worker struct worker *worker =
		    worker_parked(dice_coin(&dice));
		struct box box = { 0, 0, 0 };
		int64_t now = START;
		enum worker_status after;

		for (int i = 0; i < 300 && worker->step != PROMPT_NONE; i++) {
			now += dice_below(&dice, 5000);
			if (dice_below(&dice, 50) == 0)
				now -= 20000; /* the clock is set */
			happen(&dice, worker, now);
			act(worker, &box, now);
			if (box.pastes > 0 && dice_below(&dice, 10) == 0)
				delivered += delivery_submitted(
				    worker, "[llmc 17] do it", &after);
		}
	}
	ck_assert_int_gt(delivered, 500);
}
END_TEST

START_TEST(session_that_answers_nothing_is_given_up_in_bounded_time)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dice dice = { seed * 0x9e3779b97f4a7c15 };
		cleanup_worker struct worker *worker =
		    worker_parked(dice_coin(&dice));
		struct box box = { 0, 0, 0 };
		int64_t now = START, wait;
		int actions = 0;

		while (worker->ready) {
			if (delivery_next(worker, now, &wait) ==
			    DELIVERY_WAIT) {
				ck_assert_int_gt(wait, 0);
				now += wait + dice_below(&dice, 100);
			}
			act(worker, &box, now);
			if (worker->step == PROMPT_CLEARING &&
			    dice_below(&dice, 6) == 0) {
				delivery_session_started(worker, true, now);
				box.enters = 0;
			}
			ck_assert_int_le(++actions, 4 * (DELIVERY_TRIES + 2));
		}
		ck_assert_int_le(now - START,
		    (DELIVERY_TRIES + 1) *
			(DELIVERY_CLEAR_MS + DELIVERY_CONFIRM_MS + 200));
	}
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("delivery");

	unit_case(suite, "steps",
	    (const TTest *[]){ nothing_pending_waits_for_an_event,
		parked_prompt_waits_until_the_session_is_ready,
		prompt_is_held_where_the_box_is_not_ours,
		message_goes_into_a_turn_but_clear_waits_for_its_end,
		clear_then_paste_then_receipt,
		unconfirmed_paste_gets_enters_and_then_a_new_session,
		unconfirmed_clear_gets_enters_and_then_a_new_session,
		late_receipt_ends_a_delivery_at_any_step,
		clock_that_goes_back_does_not_stop_a_delivery,
		after_a_restart_doubt_is_short,
		next_prompt_replaces_the_one_on_its_way, NULL });
	unit_case(suite, "properties",
	    (const TTest *[]){ random_events_never_paste_twice_into_one_box,
		session_that_answers_nothing_is_given_up_in_bounded_time,
		NULL });
	return suite;
}
