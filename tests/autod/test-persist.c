/* SPDX-License-Identifier: ISC */

/* Persist, then act: a core of nothing but a state, a store that answers when
 * the test says so, and effects that leave a letter each. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "emit.h"
#include "errtext.h"
#include "loop.h"
#include "mem.h"
#include "persist.h"
#include "store.h"
#include "unit.h"

enum failing {
	NOTHING,
	BEGIN,
	PUT,
	COMMIT
};

struct world;

/* Keeps a number of the state (its receipts) as the picture of it. */
struct world_store {
	struct store store;
	struct world *world;
	uint64_t picture;
	store_done_fn *fn; /* of the commit under way */
	void *arg;
};

struct world {
	struct core core;
	struct core_options options;
	struct world_store *store;
	bool held; /* commits wait for answer() */
	enum failing failing;
	bool foreign;
	uint64_t written; /* the picture that lasts, 0 = none */
	int commits, freed, unwritten, told_foreign;
	struct buf trace; /* effects */
};

/* --- the store -------------------------------------------------------- */

static int
fails(const struct world *world, enum failing failing, struct err *err)
{
	if (world->failing != failing)
		return 0;
	return err_set(err, -ENOSPC, "no space left");
}

static int
store_begin(struct store *store, struct err *err)
{
	struct world_store *s = (struct world_store *)store;

	ck_assert_ptr_null(s->fn); /* one at a time */
	return fails(s->world, BEGIN, err);
}

static int
store_put(struct store *store, struct state *state, struct err *err)
{
	struct world_store *s = (struct world_store *)store;

	s->picture = state->receipts;
	return fails(s->world, PUT, err);
}

static void
answer(struct world *world)
{
	struct world_store *s = world->store;
	store_done_fn *fn = s->fn;
	struct err err = { 0 };
	int r = fails(world, COMMIT, &err);

	ck_assert_ptr_nonnull(fn);
	s->fn = NULL;
	if (r == 0)
		world->written = s->picture;
	fn(r < 0 ? &err : NULL, s->arg);
}

static void
store_commit(struct store *store, store_done_fn *fn, void *arg)
{
	struct world_store *s = (struct world_store *)store;

	s->world->commits++;
	s->fn = fn;
	s->arg = arg;
	if (!s->world->held)
		answer(s->world);
}

static int
store_flush(struct store *store, struct state *state, struct err *err)
{
	struct world_store *s = (struct world_store *)store;
	int r = fails(s->world, COMMIT, err);

	if (s->fn != NULL)
		answer(s->world);
	if (r == 0)
		s->world->written = state->receipts;
	return r;
}

static int
store_is_foreign(struct store *store, const struct state *state)
{
	struct world *world = ((struct world_store *)store)->world;
	bool foreign = world->foreign;

	(void)state;
	world->foreign = false;
	return foreign ? 1 : 0;
}

static void
store_free(struct store *store)
{
	((struct world_store *)store)->world->freed++;
	free(store);
}

static const struct store_kind store_kind = {
	.begin = store_begin,
	.put = store_put,
	.commit = store_commit,
	.flush = store_flush,
	.is_foreign = store_is_foreign,
	.free = store_free,
};

/* --- the world -------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	struct world *world = arg;

	if (event->kind == EVENT_STATE_UNWRITTEN) {
		ck_assert_str_eq(event->reason, "no space left");
		world->unwritten++;
	} else if (event->kind == EVENT_STATE_FOREIGN) {
		world->told_foreign++;
	}
}

static void
begin(struct world *world)
{
	memset(world, 0, sizeof *world);
	clock_virtual_begin(1000000, 1700000000000);
	buf_init(&world->trace);
	world->core.options = &world->options;
	world->core.loop = loop_new();
	world->core.emitter = emitter_new();
	state_init(&world->core.state);
	world->store = xcalloc(1, sizeof *world->store);
	world->store->store.kind = &store_kind;
	world->store->world = world;
	world->core.persist = persist_new(&world->core, &world->store->store);
	emit_subscribe(&world->core, on_event, world);
}

static void
end(struct world *world)
{
	persist_free(world->core.persist);
	ck_assert_int_eq(world->freed, 1);
	emitter_free(world->core.emitter);
	state_release(&world->core.state);
	loop_free(world->core.loop);
	buf_release(&world->trace);
	clock_virtual_end();
}

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

static void
run(struct world *world, int64_t ms)
{
	struct loop *loop = world->core.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);

	loop_run(loop);
	loop_timer_free(timer);
}

/* The state becomes this one. */
static void
change(struct world *world, uint64_t number)
{
	world->core.state.receipts = number;
	persist_changed(&world->core);
}

/* An effect that leaves a letter, and what was written when it ran. */
struct effect {
	struct world *world;
	char letter;
	uint64_t number; /* must be written by then */
};

static void
leave_letter(void *arg)
{
	struct effect *effect = arg;

	ck_assert_uint_ge(effect->world->written, effect->number);
	buf_addf(&effect->world->trace, "%c", effect->letter);
	free(effect);
}

static void
after(struct world *world, void *owner, char letter)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->world = world;
	effect->letter = letter;
	effect->number = world->core.state.receipts;
	persist_then(&world->core, owner, leave_letter, effect);
}

static void
expect(struct world *world, const char *trace)
{
	ck_assert_str_eq(world->trace.data, trace);
}

/* --- in order --------------------------------------------------------- */

START_TEST(effects_wait_for_the_commit)
{
	struct world world;

	begin(&world);
	world.held = true;
	ck_assert(persist_is_idle(&world.core));
	change(&world, 1);
	after(&world, NULL, 'a');
	after(&world, NULL, 'b');
	ck_assert_int_eq(world.commits, 0); /* the pass has not ended */
	run(&world, 5000);
	ck_assert_int_eq(world.commits, 1);
	expect(&world, "");
	ck_assert(!persist_is_idle(&world.core));
	answer(&world);
	expect(&world, "ab");
	ck_assert(persist_is_idle(&world.core));
	run(&world, 5000);
	ck_assert_int_eq(world.commits, 1);
	expect(&world, "ab");
	end(&world);
}
END_TEST

START_TEST(what_changes_meanwhile_is_for_the_next_commit)
{
	struct world world;

	begin(&world);
	world.held = true;
	change(&world, 1);
	after(&world, NULL, 'a');
	run(&world, 10);
	change(&world, 2);
	after(&world, NULL, 'b');
	run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	answer(&world);
	ck_assert_uint_eq(world.written, 1);
	expect(&world, "a");
	run(&world, 10);
	ck_assert_int_eq(world.commits, 2);
	expect(&world, "a");
	answer(&world);
	ck_assert_uint_eq(world.written, 2);
	expect(&world, "ab");
	end(&world);
}
END_TEST

/* Without a change of their own they come behind what is under way. */
START_TEST(an_effect_without_a_change)
{
	struct world world;

	begin(&world);
	after(&world, NULL, 'a');
	expect(&world, "");
	run(&world, 10);
	expect(&world, "a");
	ck_assert_int_eq(world.commits, 0);
	world.held = true;
	change(&world, 1);
	after(&world, NULL, 'b');
	run(&world, 10);
	after(&world, NULL, 'c');
	run(&world, 10);
	expect(&world, "a");
	answer(&world);
	expect(&world, "ab");
	run(&world, 10);
	expect(&world, "abc");
	ck_assert_int_eq(world.commits, 1);
	end(&world);
}
END_TEST

static void
change_more(void *arg)
{
	struct world *world = arg;

	buf_adds(&world->trace, "x");
	change(world, 2);
	after(world, NULL, 'y');
}

START_TEST(an_effect_that_changes_more)
{
	struct world world;

	begin(&world);
	change(&world, 1);
	persist_then(&world.core, NULL, change_more, &world);
	after(&world, NULL, 'z');
	run(&world, 10);
	expect(&world, "xzy");
	ck_assert_uint_eq(world.written, 2);
	ck_assert_int_eq(world.commits, 2);
	end(&world);
}
END_TEST

START_TEST(a_note_goes_along_with_the_next_change)
{
	struct world world;

	begin(&world);
	world.core.state.receipts = 7;
	persist_note(&world.core);
	ck_assert(!persist_is_idle(&world.core));
	run(&world, 60000);
	ck_assert_int_eq(world.commits, 0);
	after(&world, NULL, 'a');
	run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	ck_assert_uint_eq(world.written, 7);
	expect(&world, "a");
	end(&world);
}
END_TEST

/* --- a store that fails ------------------------------------------------ */

START_TEST(nothing_is_acted_on_that_is_not_written)
{
	static const enum failing failing[] = { BEGIN, PUT, COMMIT };
	struct world world;
	int64_t began;

	begin(&world);
	world.failing = failing[_i];
	began = clock_mono_ms();
	change(&world, 1);
	after(&world, NULL, 'a');
	after(&world, &world, 'b');
	run(&world, 10);
	ck_assert_int_eq(world.unwritten, 1);
	/* More does not make it try earlier. */
	change(&world, 2);
	after(&world, NULL, 'c');
	run(&world, 980);
	ck_assert_int_eq(world.unwritten, 1);
	expect(&world, "");
	run(&world, 20);
	ck_assert_int_eq(world.unwritten, 2);
	expect(&world, "");
	ck_assert_uint_eq(world.written, 0);
	ck_assert(!persist_is_idle(&world.core));

	world.failing = NOTHING;
	run(&world, 2000);
	ck_assert_int_eq(world.unwritten, 2);
	ck_assert_uint_eq(world.written, 2);
	expect(&world, "abc");
	ck_assert(persist_is_idle(&world.core));
	ck_assert_int_le(clock_mono_ms() - began, 3100);
	run(&world, 5000);
	expect(&world, "abc");
	end(&world);
}
END_TEST

/* The answer comes late, and says no: what it covered goes before what came
 * meanwhile. */
START_TEST(a_late_failure_keeps_the_order)
{
	struct world world;

	begin(&world);
	world.held = true;
	change(&world, 1);
	after(&world, NULL, 'a');
	run(&world, 10);
	change(&world, 2);
	after(&world, NULL, 'b');
	run(&world, 10);
	world.failing = COMMIT;
	answer(&world);
	ck_assert_int_eq(world.unwritten, 1);
	expect(&world, "");
	run(&world, 990);
	ck_assert_int_eq(world.commits, 1);
	run(&world, 20);
	ck_assert_int_eq(world.commits, 2);
	world.failing = NOTHING;
	answer(&world);
	expect(&world, "ab");
	ck_assert_uint_eq(world.written, 2);
	end(&world);
}
END_TEST

/* --- owners ----------------------------------------------------------- */

static void
forget_both(void *arg)
{
	struct world *world = arg;

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
	struct world world;

	begin(&world);
	world.held = true;
	change(&world, 1);
	persist_then(&world.core, &world.held, never, NULL);
	after(&world, NULL, 'a');
	run(&world, 10);
	change(&world, 2);
	persist_then(&world.core, &world.held, never, NULL);
	persist_then(&world.core, NULL, forget_both, &world);
	persist_then(&world.core, &world.foreign, never, NULL);
	after(&world, &world, 'b');
	persist_forget(&world.core, &world.held);
	answer(&world);
	expect(&world, "a");
	run(&world, 10);
	answer(&world);
	expect(&world, "afb");
	end(&world);
}
END_TEST

/* Whoever waits for an answer gets it; the rest is gone. */
START_TEST(the_end_with_things_pending)
{
	struct world world;

	begin(&world);
	world.held = true;
	change(&world, 1);
	persist_then(&world.core, &world, never, NULL);
	after(&world, NULL, 'a');
	run(&world, 10);
	world.core.state.receipts = 0;
	after(&world, NULL, 'b');
	persist_then(&world.core, &world, never, NULL);
	world.written = 1; /* effects look at that */
	persist_free(take_ptr(&world.core.persist));
	expect(&world, "ab");
	end(&world);
}
END_TEST

START_TEST(the_end_between_two_tries)
{
	struct world world;

	begin(&world);
	world.failing = COMMIT;
	change(&world, 1);
	after(&world, NULL, 'a');
	run(&world, 10);
	world.written = 1;
	persist_free(take_ptr(&world.core.persist));
	expect(&world, "a");
	run(&world, 5000); /* nobody tries any more */
	ck_assert_int_eq(world.commits, 1);
	end(&world);
}
END_TEST

/* --- a state that somebody else wrote ---------------------------------- */

static void
judge(void *arg)
{
	struct world *world = arg;

	buf_adds(&world->trace, "j");
	world->core.state.receipts += 100;
}

START_TEST(a_foreign_state_is_told_and_written_over)
{
	struct world world;

	begin(&world);
	world.core.state.receipts = 5;
	persist_check_foreign(&world.core);
	run(&world, 10);
	ck_assert_int_eq(world.commits, 0); /* it is ours */
	world.foreign = true;
	persist_check_foreign(&world.core);
	world.foreign = true; /* until it is written over */
	run(&world, 10);
	ck_assert_int_eq(world.told_foreign, 1);
	ck_assert_int_eq(world.commits, 1);
	ck_assert_uint_eq(world.written, 5);
	end(&world);
}
END_TEST

START_TEST(a_policy_judges_a_foreign_state)
{
	struct world world;

	begin(&world);
	persist_on_foreign(&world.core, judge, &world);
	world.foreign = true;
	change(&world, 1);
	after(&world, NULL, 'a');
	run(&world, 10);
	expect(&world, "ja");
	ck_assert_int_eq(world.told_foreign, 0);
	ck_assert_uint_eq(world.written, 101); /* what it changed too */

	persist_on_foreign(&world.core, NULL, NULL);
	world.foreign = true;
	change(&world, 102);
	run(&world, 10);
	expect(&world, "ja");
	ck_assert_int_eq(world.told_foreign, 1);

	/* A single request has nobody to tell. */
	world.options.oneshot = true;
	world.foreign = true;
	change(&world, 103);
	run(&world, 10);
	ck_assert_int_eq(world.told_foreign, 1);
	ck_assert_uint_eq(world.written, 103);
	end(&world);
}
END_TEST

/* --- flush ------------------------------------------------------------ */

START_TEST(a_flush_writes_now)
{
	struct world world;
	struct err err = { 0 };

	begin(&world);
	change(&world, 3);
	ck_assert_int_eq(persist_flush(&world.core, &err), 0);
	ck_assert_uint_eq(world.written, 3);
	ck_assert(persist_is_idle(&world.core));
	run(&world, 10);
	ck_assert_int_eq(world.commits, 0);

	world.failing = COMMIT;
	change(&world, 4);
	ck_assert_int_eq(persist_flush(&world.core, &err), -ENOSPC);
	ck_assert_str_eq(err.msg, "no space left");
	ck_assert_uint_eq(world.written, 3);
	ck_assert(!persist_is_idle(&world.core));
	end(&world);
}
END_TEST

START_TEST(a_flush_waits_for_the_commit_under_way)
{
	struct world world;

	begin(&world);
	world.held = true;
	change(&world, 1);
	after(&world, NULL, 'a');
	run(&world, 10);
	change(&world, 2);
	ck_assert_int_eq(persist_flush(&world.core, NULL), 0);
	expect(&world, "a");
	ck_assert_uint_eq(world.written, 2);
	ck_assert(persist_is_idle(&world.core));
	run(&world, 10);
	ck_assert_int_eq(world.commits, 1);
	expect(&world, "a");
	end(&world);
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
