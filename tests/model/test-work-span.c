/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "metrics.h"

static const struct {
	const char *status;
	bool queue, outage;
	const char *use;
} uses[] = {
	{ "working", false, false, "working" },
	{ "starting", false, false, "working" },
	{ "accepting", false, false, "landing" },
	{ "rebasing", false, false, "conflict" },
	{ "waiting", false, false, "waiting" },
	{ "limited", false, false, "limited" },
	{ "limited", false, true, "outage" },
	{ "paused", false, true, "paused" },
	{ "needs_review", true, false, "landing" },
	{ "no_changes", false, false, "landing" },
	{ "error", false, false, "error" },
	{ "offline", true, false, "offline" },
	{ "idle", false, false, "idle" },
	{ "idle", true, false, "idle_queue" },
	{ "idle", true, true, "idle_queue" },
	{ "waiting for you", false, false, "person" },
	{ "of a later version", false, false, "offline" },
};

TEST_ROWS(a_status_tells_what_the_time_was_used_for, nitems(uses))
{
	ck_assert_str_eq(work_use_words[work_use_of(uses[_i].status, false,
			     uses[_i].queue, uses[_i].outage)],
	    uses[_i].use);
}

TEST(only_work_of_a_person_waits_for_one)
{
	/* Nor does the queue wait for a worker of a person's. */
	ck_assert_int_eq(work_use_of("idle", true, true, false), WORK_IDLE);
	ck_assert_int_eq(
	    work_use_of("needs_review", true, true, false), WORK_PERSON);
	ck_assert_int_eq(
	    work_use_of("no_changes", true, false, false), WORK_PERSON);
	ck_assert_int_eq(
	    work_use_of("accepting", true, false, false), WORK_LANDING);
}
