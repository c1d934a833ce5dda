/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "schema.h"
#include "worker.h"

#define NOW 1766502000000

static void
cleanup_worker_fn(struct worker **worker)
{
	schema_free(&worker_table, *worker);
}
#define cleanup_worker __attribute__((cleanup(cleanup_worker_fn)))

static struct worker *
worker_at(enum worker_status status)
{
	struct worker *worker = worker_new("adam", NOW);

	worker->status = status;
	return worker;
}

/* Crash after crash, each 20 s after the previous one; the last one gives
 * up. */
static void
assert_row(bool driven, const int64_t *pauses, int count)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);

	for (int i = 0; i < count; i++) {
		int64_t now = NOW + i * 20000;
		struct crash_verdict verdict = crash_judge(worker, driven, now);

		ck_assert(verdict.counts);
		ck_assert_int_eq(verdict.pause_ms, pauses[i]);
		ck_assert_int_eq(verdict.give_up, i == count - 1);
		ck_assert_int_eq(worker->crashes, i + 1);
		ck_assert_int_eq(worker->crashed_ms, now);
	}
}

TEST(pauses_double_until_the_sixth_in_a_row)
{
	static const int64_t pauses[] = { 0, 1000, 2000, 4000, 8000, 16000 };

	assert_row(false, pauses, nitems(pauses));
}

TEST(driven_worker_is_given_up_at_the_third)
{
	static const int64_t pauses[] = { 0, 1000, 2000 };

	assert_row(true, pauses, nitems(pauses));
}

TEST(crashes_far_apart_are_no_row)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_WORKING);
	int64_t now = NOW;

	for (int i = 0; i < 20; i++) {
		struct crash_verdict verdict = crash_judge(worker, true, now);

		ck_assert(verdict.counts && !verdict.give_up);
		ck_assert_int_eq(verdict.pause_ms, 0);
		ck_assert_int_eq(worker->crashes, 1);
		now += CRASH_ROW_MS + 1;
	}
	crash_judge(worker, true, now - 1); /* ten minutes still count as a
					     * row */
	ck_assert_int_eq(worker->crashes, 2);
}

TEST(end_of_a_worker_that_waits_or_failed_is_no_crash)
{
	static const enum worker_status statuses[] = { WORKER_LIMITED,
		WORKER_PAUSED, WORKER_ERROR };

	for (size_t i = 0; i < nitems(statuses); i++) {
		cleanup_worker struct worker *worker = worker_at(statuses[i]);
		struct crash_verdict verdict;

		worker->crashes = 5;
		worker->crashed_ms = NOW - 1;
		verdict = crash_judge(worker, false, NOW);
		ck_assert(!verdict.counts && !verdict.give_up);
		ck_assert_int_eq(verdict.pause_ms, 0);
		ck_assert_int_eq(worker->crashes, 5);
		ck_assert_int_eq(worker->crashed_ms, NOW - 1);
	}
}

TEST(record_with_many_crashes_waits_five_minutes_at_most)
{
	cleanup_worker struct worker *worker = worker_at(WORKER_OFFLINE);
	struct crash_verdict verdict;

	worker->crashes = 1000;
	worker->crashed_ms = NOW + 5; /* the clock was set back */
	verdict = crash_judge(worker, false, NOW);
	ck_assert(verdict.give_up);
	ck_assert_int_eq(verdict.pause_ms, 5 * 60 * 1000);
}
