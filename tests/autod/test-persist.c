/* SPDX-License-Identifier: ISC */

/* Persist, then act, with commits that wait or fail. */
#include "persist-world.h"
#include "book.h"
#include "persist.h"

/* --- in order --------------------------------------------------------- */

TEST(effects_wait_for_the_commit)
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
	ck_assert_int_eq(world.commits, 0);
	persist_world_expect(&world, "");
	ck_assert(!persist_is_idle(&world.core));
	persist_world_answer(&world);
	persist_world_expect(&world, "ab");
	ck_assert_uint_eq(world.written, 1);
	ck_assert(persist_is_idle(&world.core));
	persist_world_run(&world, 5000);
	ck_assert_int_eq(world.commits, 1);
	persist_world_expect(&world, "ab");
	persist_world_end(&world);
}

/* Of all changes of a pass, and of those that waited, there is one commit. */
TEST(changes_are_committed_together)
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
	persist_world_expect(&world, "");
	persist_world_answer(&world);
	ck_assert_int_eq(world.commits, 1);
	ck_assert_uint_eq(world.written, 2);
	persist_world_expect(&world, "ab");
	persist_world_end(&world);
}

/* Nobody else asks for a commit. */
TEST(a_write_to_the_book_is_committed)
{
	struct persist_world world;

	persist_world_begin(&world);
	BOOK_RUN(world.core.book,
	    "INSERT INTO host (key, value) VALUES ($1, $2)", BOOK_T("receipts"),
	    BOOK_T("77"));
	ck_assert(!persist_is_idle(&world.core));
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	/* The rows of the state follow their own. */
	ck_assert_uint_eq(world.written, 0);
	ck_assert(persist_is_idle(&world.core));
	persist_world_end(&world);
}

TEST(an_effect_without_a_change)
{
	struct persist_world world;

	persist_world_begin(&world);
	persist_world_after(&world, NULL, 'a');
	persist_world_expect(&world, "");
	persist_world_run(&world, 10);
	persist_world_expect(&world, "a");
	ck_assert_int_eq(world.commits, 0);
	persist_world_end(&world);
}

static void
change_more(void *arg)
{
	struct persist_world *world = arg;

	buf_adds(&world->trace, "x");
	persist_world_change(world, 2);
	persist_world_after(world, NULL, 'y');
}

TEST(an_effect_that_changes_more)
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

TEST(a_note_goes_along_with_the_next_change)
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

/* --- commits that fail ------------------------------------------------ */

TEST(nothing_is_acted_on_that_is_not_written)
{
	struct persist_world world;
	int64_t began;

	persist_world_begin(&world);
	world.failing = true;
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

	world.failing = false;
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

/* A program of ours that writes for a while, an import, is no outage. */
TEST(another_writer_is_waited_for)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.busy = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 5000);
	ck_assert_int_eq(world.unwritten, 0);
	ck_assert_int_eq(persist_ready(&world.core, NULL), 0);
	persist_world_expect(&world, "");
	world.busy = false;
	persist_world_run(&world, 200);
	ck_assert_uint_eq(world.written, 1);
	persist_world_expect(&world, "a");
	/* For ever, it is. */
	world.busy = true;
	persist_world_change(&world, 2);
	persist_world_run(&world, 40000);
	ck_assert_int_gt(world.unwritten, 0);
	ck_assert_int_lt(persist_ready(&world.core, NULL), 0);
	world.busy = false;
	persist_world_run(&world, 2000);
	ck_assert_uint_eq(world.written, 2);
	persist_world_end(&world);
}

/* --- owners ----------------------------------------------------------- */

static void
forget_both(void *arg)
{
	struct persist_world *world = arg;

	buf_adds(&world->trace, "f");
	persist_forget(&world->core, &world->held);
	persist_forget(&world->core, &world->other);
}

static void
never(void *arg)
{
	(void)arg;
	ck_abort_msg("called, though it was forgotten");
}

TEST(what_was_forgotten_does_not_come)
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
	persist_then(&world.core, &world.other, never, NULL);
	persist_world_after(&world, &world, 'b');
	persist_forget(&world.core, &world.held);
	persist_world_answer(&world);
	persist_world_expect(&world, "afb");
	persist_world_end(&world);
}

/* Answers are still given; the rest is dropped. */
TEST(the_end_with_things_pending)
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

TEST(the_end_between_two_tries)
{
	struct persist_world world;

	persist_world_begin(&world);
	world.failing = true;
	persist_world_change(&world, 1);
	persist_world_after(&world, NULL, 'a');
	persist_world_run(&world, 10);
	world.written = 1;
	persist_free(take_ptr(&world.core.persist));
	persist_world_expect(&world, "a");
	persist_world_run(&world, 5000); /* no more retries */
	ck_assert_int_eq(world.commits, 0);
	ck_assert_int_eq(world.unwritten, 1);
	persist_world_end(&world);
}

/* --- flush ------------------------------------------------------------ */

TEST(a_flush_writes_now)
{
	struct persist_world world;
	struct err err = { 0 };

	persist_world_begin(&world);
	persist_world_change(&world, 3);
	ck_assert_int_eq(persist_flush(&world.core, &err), 0);
	ck_assert_uint_eq(world.written, 3);
	ck_assert(persist_is_idle(&world.core));
	persist_world_run(&world, 10);
	ck_assert_int_eq(world.commits, 1);

	world.failing = true;
	persist_world_change(&world, 4);
	ck_assert_int_eq(persist_flush(&world.core, &err), -ENOSPC);
	ck_assert_str_eq(err.msg, "no space left");
	ck_assert_uint_eq(world.written, 3);
	ck_assert(!persist_is_idle(&world.core));
	persist_world_end(&world);
}
