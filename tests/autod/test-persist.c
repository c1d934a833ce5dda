/* SPDX-License-Identifier: ISC */

/* Persist, then act, with a store that answers late or fails. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "errtext.h"
#include "mem.h"
#include "persist-world.h"
#include "persist.h"
#include "unit.h"

/* --- in order --------------------------------------------------------- */

START_TEST(effects_wait_for_the_commit)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	ck_assert(persist_is_idle(&world.core));
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_after(&world, NULL, 'b');
	ck_assert_int_eq(world.commits, 0); /* the pass has not ended */
	persist_world_run(&world, 5000);
	ck_assert_int_eq(world.commits, 1);
	persist_world_expect(&world, "");
	ck_assert(!persist_is_idle(&world.core));
	persist_world_answer(&world);
	persist_world_expect(&world, "ab");
	ck_assert(persist_is_idle(&world.core));
	persist_world_run(&world, 5000);
	ck_assert_int_eq(world.commits, 1);
	persist_world_expect(&world, "ab");
	persist_world_end(&world);
}
END_TEST

START_TEST(what_changes_meanwhile_is_for_the_next_commit)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	persist_world_change(&world, 2);
	persist_world_after(&world, NULL, 'b');
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	persist_world_answer(&world);
	ck_assert_uint_eq(world.written, 1);
	persist_world_expect(&world, "a");
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 2);
	persist_world_expect(&world, "a");
	persist_world_answer(&world);
	ck_assert_uint_eq(world.written, 2);
	persist_world_expect(&world, "ab");
	persist_world_end(&world);
}
END_TEST

/* Without a change of their own, they run after the commit in progress. */
START_TEST(an_effect_without_a_change)
{
	struct persist_world world;

	persist_world_begin(&world);
	persist_world_after(&world, NULL, 'a');
	persist_world_expect(&world, "");
	persist_world_run(&world, 10);
	persist_world_expect(&world, "a");
	ck_assert_int_eq(world.commits, 0);
	world.held = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'b');
	persist_world_run(&world, 10);
	persist_world_after(&world, NULL, 'c');
	persist_world_run(&world, 10);
	persist_world_expect(&world, "a");
	persist_world_answer(&world);
	persist_world_expect(&world, "ab");
	persist_world_run(&world, 10);
	persist_world_expect(&world, "abc");
	ck_assert_int_eq(world.commits, 1);
	persist_world_end(&world);
}
END_TEST

static void
change_more(void *arg)
{
	struct persist_world *world = arg;

	buf_adds(&world->trace, "x");
	persist_world_change(world, 2);
	persist_world_after(world, NULL, 'y');
}

START_TEST(an_effect_that_changes_more)
{
	struct persist_world world;

	persist_world_begin(&world);
	persist_world_change(&world, 1);
	persist_then(&world.core, NULL, change_more, &world);
	persist_world_after(&world, NULL, 'z');
	persist_world_run(&world, 10);
	persist_world_expect(&world, "xzy");
	ck_assert_uint_eq(world.written, 2);
	ck_assert_int_eq(world.commits, 2);
	persist_world_end(&world);
}
END_TEST

START_TEST(a_note_goes_along_with_the_next_change)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.core.state.receipts = 7;
	persist_note(&world.core);
	ck_assert(!persist_is_idle(&world.core));
	persist_world_run(&world, 60000);
	ck_assert_int_eq(world.commits, 0);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	ck_assert_uint_eq(world.written, 7);
	persist_world_expect(&world, "a");
	persist_world_end(&world);
}
END_TEST

/* --- a store that fails ------------------------------------------------ */

START_TEST(nothing_is_acted_on_that_is_not_written)
{
	static const enum persist_fails failing[] = { FAILS_BEGIN, FAILS_PUT,
		FAILS_COMMIT };
	struct persist_world world;
	int64_t began;

	persist_world_begin(&world);
	world.failing = failing[_i];
	began = clock_mono_ms();
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_after(&world, &world, 'b');
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.unwritten, 1);
	/* More changes do not make it retry earlier. */
	persist_world_change(&world, 2);
	persist_world_after(&world, NULL, 'c');
	persist_world_run(&world, 980);
	ck_assert_int_eq(world.unwritten, 1);
	persist_world_expect(&world, "");
	persist_world_run(&world, 20);
	ck_assert_int_eq(world.unwritten, 2);
	persist_world_expect(&world, "");
	ck_assert_uint_eq(world.written, 0);
	ck_assert(!persist_is_idle(&world.core));

	world.failing = FAILS_NOTHING;
	persist_world_run(&world, 2000);
	ck_assert_int_eq(world.unwritten, 2);
	ck_assert_uint_eq(world.written, 2);
	persist_world_expect(&world, "abc");
	ck_assert(persist_is_idle(&world.core));
	ck_assert_int_le(clock_mono_ms() - began, 3100);
	persist_world_run(&world, 5000);
	persist_world_expect(&world, "abc");
	persist_world_end(&world);
}
END_TEST

/* A commit fails late: its effects come before those added meanwhile. */
START_TEST(a_late_failure_keeps_the_order)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	persist_world_change(&world, 2);
	persist_world_after(&world, NULL, 'b');
	persist_world_run(&world, 10);
	world.failing = FAILS_COMMIT;
	persist_world_answer(&world);
	ck_assert_int_eq(world.unwritten, 1);
	persist_world_expect(&world, "");
	persist_world_run(&world, 990);
	ck_assert_int_eq(world.commits, 1);
	persist_world_run(&world, 20);
	ck_assert_int_eq(world.commits, 2);
	world.failing = FAILS_NOTHING;
	persist_world_answer(&world);
	persist_world_expect(&world, "ab");
	ck_assert_uint_eq(world.written, 2);
	persist_world_end(&world);
}
END_TEST

/* --- owners ----------------------------------------------------------- */

static void
forget_both(void *arg)
{
	struct persist_world *world = arg;

	buf_adds(&world->trace, "f");
	persist_forget(&world->core, &world->held);
	persist_forget(&world->core, &world->foreign);
}

static void
never(void *arg)
{
	(void)arg;
	ck_abort_msg("called, though it was forgotten");
}

START_TEST(what_was_forgotten_does_not_come)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	persist_world_change(&world, 1);
	persist_then(&world.core, &world.held, never, NULL);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	persist_world_change(&world, 2);
	persist_then(&world.core, &world.held, never, NULL);
	persist_then(&world.core, NULL, forget_both, &world);
	persist_then(&world.core, &world.foreign, never, NULL);
	persist_world_after(&world, &world, 'b');
	persist_forget(&world.core, &world.held);
	persist_world_answer(&world);
	persist_world_expect(&world, "a");
	persist_world_run(&world, 10);
	persist_world_answer(&world);
	persist_world_expect(&world, "afb");
	persist_world_end(&world);
}
END_TEST

/* Answers are still given; the rest is dropped. */
START_TEST(the_end_with_things_pending)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	persist_world_change(&world, 1);
	persist_then(&world.core, &world, never, NULL);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	world.core.state.receipts = 0;
	persist_world_after(&world, NULL, 'b');
	persist_then(&world.core, &world, never, NULL);
	world.written = 1; /* checked by the effects */
	persist_free(take_ptr(&world.core.persist));
	persist_world_expect(&world, "ab");
	persist_world_end(&world);
}
END_TEST

START_TEST(the_end_between_two_tries)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.failing = FAILS_COMMIT;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	world.written = 1;
	persist_free(take_ptr(&world.core.persist));
	persist_world_expect(&world, "a");
	persist_world_run(&world, 5000); /* no more retries */
	ck_assert_int_eq(world.commits, 1);
	persist_world_end(&world);
}
END_TEST

/* --- a state written by another program -------------------------------- */

static void
judge(void *arg)
{
	struct persist_world *world = arg;

	buf_adds(&world->trace, "j");
	world->core.state.receipts += 100;
}

START_TEST(a_foreign_state_is_told_and_written_over)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.core.state.receipts = 5;
	persist_check_foreign(&world.core);
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 0); /* it is ours */
	world.foreign = true;
	persist_check_foreign(&world.core);
	world.foreign = true; /* until it is overwritten */
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.told_foreign, 1);
	ck_assert_int_eq(world.commits, 1);
	ck_assert_uint_eq(world.written, 5);
	persist_world_end(&world);
}
END_TEST

START_TEST(a_policy_judges_a_foreign_state)
{
	struct persist_world world;

	persist_world_begin(&world);
	persist_on_foreign(&world.core, judge, &world);
	world.foreign = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	persist_world_expect(&world, "ja");
	ck_assert_int_eq(world.told_foreign, 0);
	ck_assert_uint_eq(world.written, 101); /* including its changes */

	persist_on_foreign(&world.core, NULL, NULL);
	world.foreign = true;
	persist_world_change(&world, 102);
	persist_world_run(&world, 10);
	persist_world_expect(&world, "ja");
	ck_assert_int_eq(world.told_foreign, 1);

	/* A single request has no one to report to. */
	world.options.oneshot = true;
	world.foreign = true;
	persist_world_change(&world, 103);
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.told_foreign, 1);
	ck_assert_uint_eq(world.written, 103);
	persist_world_end(&world);
}
END_TEST

/* --- flush ------------------------------------------------------------ */

START_TEST(a_flush_writes_now)
{
	struct persist_world world;
	struct err err = { 0 };

	persist_world_begin(&world);
	persist_world_change(&world, 3);
	ck_assert_int_eq(persist_flush(&world.core, &err), 0);
	ck_assert_uint_eq(world.written, 3);
	ck_assert(persist_is_idle(&world.core));
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 0);

	world.failing = FAILS_COMMIT;
	persist_world_change(&world, 4);
	ck_assert_int_eq(persist_flush(&world.core, &err), -ENOSPC);
	ck_assert_str_eq(err.msg, "no space left");
	ck_assert_uint_eq(world.written, 3);
	ck_assert(!persist_is_idle(&world.core));
	persist_world_end(&world);
}
END_TEST

START_TEST(a_flush_waits_for_the_commit_under_way)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.held = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	persist_world_change(&world, 2);
	ck_assert_int_eq(persist_flush(&world.core, NULL), 0);
	persist_world_expect(&world, "a");
	ck_assert_uint_eq(world.written, 2);
	ck_assert(persist_is_idle(&world.core));
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	persist_world_expect(&world, "a");
	persist_world_end(&world);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("persist");
	TCase *failing = tcase_create("failing");

	unit_case(suite, "order",
	    (const TTest *const[]){ effects_wait_for_the_commit,
		what_changes_meanwhile_is_for_the_next_commit,
		an_effect_without_a_change, an_effect_that_changes_more,
		a_note_goes_along_with_the_next_change, NULL });
	tcase_add_loop_test(
	    failing, nothing_is_acted_on_that_is_not_written, 0, 3);
	suite_add_tcase(suite, failing);
	unit_case(suite, "pending",
	    (const TTest *const[]){ a_late_failure_keeps_the_order,
		what_was_forgotten_does_not_come, the_end_with_things_pending,
		the_end_between_two_tries, NULL });
	unit_case(suite, "foreign",
	    (const TTest *const[]){ a_foreign_state_is_told_and_written_over,
		a_policy_judges_a_foreign_state, NULL });
	unit_case(suite, "flush",
	    (const TTest *const[]){ a_flush_writes_now,
		a_flush_waits_for_the_commit_under_way, NULL });
	return suite;
}
