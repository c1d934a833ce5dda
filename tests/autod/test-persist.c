/* SPDX-License-Identifier: ISC */

/* Persist, then act, with commits that wait or fail. */
#include "persist-world.h"
#include "book.h"
#include "emit.h"
#include "persist.h"

/* --- in order --------------------------------------------------------- */

TEST(effects_wait_for_the_commit)
{
	persist_world_begin();
	persist_world.held = true;
	ck_assert(persist_is_idle(&persist_world.core));
	persist_world_change(&persist_world, 1);
	persist_world_after(NULL, 'a');
	persist_world_after(NULL, 'b');
	ck_assert_int_eq(persist_world.commits, 0); /* the pass has not ended */
	persist_world_run(5000);
	ck_assert_int_eq(persist_world.commits, 0);
	persist_world_expect("");
	ck_assert(!persist_is_idle(&persist_world.core));
	persist_world_answer();
	persist_world_expect("ab");
	ck_assert_uint_eq(persist_world.written, 1);
	ck_assert(persist_is_idle(&persist_world.core));
	persist_world_run(5000);
	ck_assert_int_eq(persist_world.commits, 1);
	persist_world_expect("ab");
}

/* Of all changes of a pass, and of those that waited, there is one commit. */
TEST(changes_are_committed_together)
{
	persist_world_begin();
	persist_world.held = true;
	persist_world_change(&persist_world, 1);
	persist_world_after(NULL, 'a');
	persist_world_run(10);
	persist_world_change(&persist_world, 2);
	persist_world_after(NULL, 'b');
	persist_world_run(10);
	persist_world_expect("");
	persist_world_answer();
	ck_assert_int_eq(persist_world.commits, 1);
	ck_assert_uint_eq(persist_world.written, 2);
	persist_world_expect("ab");
}

/* Nobody else asks for a commit. */
TEST(a_write_to_the_book_is_committed)
{
	persist_world_begin();
	BOOK_RUN(persist_world.core.book,
	    "INSERT INTO host (key, value) VALUES ($1, $2)", BOOK_T("receipts"),
	    BOOK_T("77"));
	ck_assert(!persist_is_idle(&persist_world.core));
	persist_world_run(10);
	ck_assert_int_eq(persist_world.commits, 1);
	/* The rows of the state follow their own. */
	ck_assert_uint_eq(persist_world.written, 0);
	ck_assert(persist_is_idle(&persist_world.core));
}

TEST(an_effect_without_a_change)
{
	persist_world_begin();
	persist_world_after(NULL, 'a');
	persist_world_expect("");
	persist_world_run(10);
	persist_world_expect("a");
	ck_assert_int_eq(persist_world.commits, 0);
}

static void
change_more(void *arg)
{
	(void)arg;
	buf_adds(&persist_world.trace, "x");
	persist_world_change(&persist_world, 2);
	persist_world_after(NULL, 'y');
}

TEST(an_effect_that_changes_more)
{
	persist_world_begin();
	persist_world_change(&persist_world, 1);
	persist_then(&persist_world.core, NULL, change_more, &persist_world);
	persist_world_after(NULL, 'z');
	persist_world_run(10);
	persist_world_expect("xzy");
	ck_assert_uint_eq(persist_world.written, 2);
	ck_assert_int_eq(persist_world.commits, 2);
}

TEST(a_note_goes_along_with_the_next_change)
{
	persist_world_begin();
	persist_world.core.state.receipts = 7;
	persist_note(&persist_world.core);
	ck_assert(!persist_is_idle(&persist_world.core));
	persist_world_run(60000);
	ck_assert_int_eq(persist_world.commits, 0);
	persist_world_after(NULL, 'a');
	persist_world_run(10);
	ck_assert_int_eq(persist_world.commits, 1);
	ck_assert_uint_eq(persist_world.written, 7);
	persist_world_expect("a");
}

/* --- commits that fail ------------------------------------------------ */

TEST(nothing_is_acted_on_that_is_not_written)
{
	int64_t began;

	persist_world_begin();
	persist_world.failing = true;
	began = clock_mono_ms();
	persist_world_change(&persist_world, 1);
	persist_world_after(NULL, 'a');
	persist_world_after(&persist_world, 'b');
	persist_world_run(10);
	ck_assert_int_eq(persist_world.unwritten, 1);
	/* More changes do not make it retry earlier. */
	persist_world_change(&persist_world, 2);
	persist_world_after(NULL, 'c');
	persist_world_run(980);
	ck_assert_int_eq(persist_world.unwritten, 1);
	persist_world_expect("");
	persist_world_run(20);
	ck_assert_int_eq(persist_world.unwritten, 2);
	persist_world_expect("");
	ck_assert_uint_eq(persist_world.written, 0);
	ck_assert(!persist_is_idle(&persist_world.core));

	persist_world.failing = false;
	persist_world_run(2000);
	ck_assert_int_eq(persist_world.unwritten, 2);
	ck_assert_uint_eq(persist_world.written, 2);
	persist_world_expect("abc");
	ck_assert(persist_is_idle(&persist_world.core));
	ck_assert_int_le(clock_mono_ms() - began, 3100);
	persist_world_run(5000);
	persist_world_expect("abc");
}

static void
count_dropped(const struct event *event, void *arg)
{
	if (event->kind == EVENT_STORE_WRITTEN)
		*(int64_t *)arg = event->count;
}

TEST(of_the_events_in_an_outage_so_many_are_kept_and_the_others_counted)
{
	int64_t dropped = -1;
	int kept = 0;

	persist_world_begin();
	emit_subscribe(&persist_world.core, count_dropped, &dropped);
	persist_world.failing = true;
	persist_world_change(&persist_world, 1);
	persist_world_run(10);
	for (int i = 0; i < 10003; i++)
		kept += persist_keeps(&persist_world.core);
	ck_assert_int_eq(kept, 10000);
	persist_world.failing = false;
	persist_world_run(2000);
	ck_assert_int_eq(dropped, 3);
	ck_assert(persist_keeps(&persist_world.core));
}

/* A program of ours that writes for a while, an import, is no outage. */
TEST(another_writer_is_waited_for)
{
	persist_world_begin();
	persist_world.busy = true;
	persist_world_change(&persist_world, 1);
	persist_world_after(NULL, 'a');
	persist_world_run(5000);
	ck_assert_int_eq(persist_world.unwritten, 0);
	ck_assert_int_eq(persist_ready(&persist_world.core, NULL), 0);
	persist_world_expect("");
	persist_world.busy = false;
	persist_world_run(200);
	ck_assert_uint_eq(persist_world.written, 1);
	persist_world_expect("a");
	/* For ever, it is. */
	persist_world.busy = true;
	persist_world_change(&persist_world, 2);
	persist_world_run(40000);
	ck_assert_int_gt(persist_world.unwritten, 0);
	ck_assert_int_lt(persist_ready(&persist_world.core, NULL), 0);
	persist_world.busy = false;
	persist_world_run(2000);
	ck_assert_uint_eq(persist_world.written, 2);
}

/* --- owners ----------------------------------------------------------- */

static void
forget_both(void *arg)
{
	(void)arg;
	buf_adds(&persist_world.trace, "f");
	persist_forget(&persist_world.core, &persist_world.held);
	persist_forget(&persist_world.core, &persist_world.other);
}

static void
never(void *arg)
{
	(void)arg;
	ck_abort_msg("called, though it was forgotten");
}

TEST(what_was_forgotten_does_not_come)
{
	persist_world_begin();
	persist_world.held = true;
	persist_world_change(&persist_world, 1);
	persist_then(&persist_world.core, &persist_world.held, never, NULL);
	persist_world_after(NULL, 'a');
	persist_world_run(10);
	persist_world_change(&persist_world, 2);
	persist_then(&persist_world.core, &persist_world.held, never, NULL);
	persist_then(&persist_world.core, NULL, forget_both, &persist_world);
	persist_then(&persist_world.core, &persist_world.other, never, NULL);
	persist_world_after(&persist_world, 'b');
	persist_forget(&persist_world.core, &persist_world.held);
	persist_world_answer();
	persist_world_expect("afb");
}

/* Answers are still given; the rest is dropped. */
TEST(the_end_with_things_pending)
{
	persist_world_begin();
	persist_world.held = true;
	persist_world_change(&persist_world, 1);
	persist_then(&persist_world.core, &persist_world, never, NULL);
	persist_world_after(NULL, 'a');
	persist_world_run(10);
	persist_world.core.state.receipts = 0;
	persist_world_after(NULL, 'b');
	persist_then(&persist_world.core, &persist_world, never, NULL);
	persist_world.written = 1; /* checked by the effects */
	persist_free(take_ptr(&persist_world.core.persist));
	persist_world_expect("ab");
}

TEST(the_end_between_two_tries)
{
	persist_world_begin();
	persist_world.failing = true;
	persist_world_change(&persist_world, 1);
	persist_world_after(NULL, 'a');
	persist_world_run(10);
	persist_world.written = 1;
	persist_free(take_ptr(&persist_world.core.persist));
	persist_world_expect("a");
	persist_world_run(5000); /* no more retries */
	ck_assert_int_eq(persist_world.commits, 0);
	ck_assert_int_eq(persist_world.unwritten, 1);
}

/* --- flush ------------------------------------------------------------ */

TEST(a_flush_writes_now)
{
	struct err err = { 0 };

	persist_world_begin();
	persist_world_change(&persist_world, 3);
	ck_assert_int_eq(persist_flush(&persist_world.core, &err), 0);
	ck_assert_uint_eq(persist_world.written, 3);
	ck_assert(persist_is_idle(&persist_world.core));
	persist_world_run(10);
	ck_assert_int_eq(persist_world.commits, 1);

	persist_world.failing = true;
	persist_world_change(&persist_world, 4);
	ck_assert_int_eq(persist_flush(&persist_world.core, &err), -ENOSPC);
	ck_assert_str_eq(err.msg, "no space left");
	ck_assert_uint_eq(persist_world.written, 3);
	ck_assert(!persist_is_idle(&persist_world.core));
}
