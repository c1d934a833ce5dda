/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "emit.h"
#include "errtext.h"
#include "loop.h"
#include "mem.h"
#include "persist-world.h"
#include "persist.h"
#include "state-store.h"

/* Saves a number from the state (its receipts) as a snapshot. */
struct persist_store {
	struct state_store store;
	struct persist_world *world;
	uint64_t picture;
	state_store_done_fn *fn; /* of the commit in progress */
	void *arg;
};

/* --- the store -------------------------------------------------------- */

static int
fails(const struct persist_world *world, enum persist_fails failing,
    struct err *err)
{
	if (world->failing != failing)
		return 0;
	return err_set(err, -ENOSPC, "no space left");
}

static int
store_begin(struct state_store *store, struct err *err)
{
	struct persist_store *s = (struct persist_store *)store;

	ck_assert_ptr_null(s->fn); /* only one at a time */
	return fails(s->world, FAILS_BEGIN, err);
}

static int
store_put(struct state_store *store, struct state *state, struct err *err)
{
	struct persist_store *s = (struct persist_store *)store;

	s->picture = state->receipts;
	return fails(s->world, FAILS_PUT, err);
}

void
persist_world_answer(struct persist_world *world)
{
	struct persist_store *s = world->store;
	state_store_done_fn *fn = s->fn;
	struct err err = { 0 };
	int r = fails(world, FAILS_COMMIT, &err);

	ck_assert_ptr_nonnull(fn);
	s->fn = NULL;
	if (r == 0)
		world->written = s->picture;
	fn(r < 0 ? &err : NULL, s->arg);
}

static void
store_commit(struct state_store *store, state_store_done_fn *fn, void *arg)
{
	struct persist_store *s = (struct persist_store *)store;

	s->world->commits++;
	s->fn = fn;
	s->arg = arg;
	if (!s->world->held)
		persist_world_answer(s->world);
}

static int
store_flush(struct state_store *store, struct state *state, struct err *err)
{
	struct persist_store *s = (struct persist_store *)store;
	int r = fails(s->world, FAILS_COMMIT, err);

	if (s->fn != NULL)
		persist_world_answer(s->world);
	if (r == 0)
		s->world->written = state->receipts;
	return r;
}

static int
store_is_foreign(struct state_store *store, const struct state *state)
{
	struct persist_world *world = ((struct persist_store *)store)->world;
	bool foreign = world->foreign;

	(void)state;
	world->foreign = false;
	return foreign ? 1 : 0;
}

static void
store_free(struct state_store *store)
{
	((struct persist_store *)store)->world->freed++;
	free(store);
}

static const struct state_store_kind store_kind = {
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
	struct persist_world *world = arg;

	if (event->kind == EVENT_STATE_UNWRITTEN) {
		ck_assert_str_eq(event->reason, "no space left");
		world->unwritten++;
	} else if (event->kind == EVENT_STATE_FOREIGN) {
		world->told_foreign++;
	}
}

void
persist_world_begin(struct persist_world *world)
{
	memset(world, 0, sizeof *world);
	clock_virtual_begin(1000000, 1700000000000);
	buf_init(&world->trace);
	world->core.lock = -1;
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

void
persist_world_end(struct persist_world *world)
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

void
persist_world_run(struct persist_world *world, int64_t ms)
{
	struct loop *loop = world->core.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);

	loop_run(loop);
	loop_timer_free(timer);
}

void
persist_world_change(struct persist_world *world, uint64_t number)
{
	world->core.state.receipts = number;
	persist_changed(&world->core);
}

/* An effect that adds a letter to the trace, and checks what was saved when it
 * ran. */
struct effect {
	struct persist_world *world;
	char letter;
	uint64_t number; /* must be saved by then */
};

static void
leave_letter(void *arg)
{
	struct effect *effect = arg;

	ck_assert_uint_ge(effect->world->written, effect->number);
	buf_addf(&effect->world->trace, "%c", effect->letter);
	free(effect);
}

void
persist_world_after(struct persist_world *world, void *owner, char letter)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->world = world;
	effect->letter = letter;
	effect->number = world->core.state.receipts;
	persist_then(&world->core, owner, leave_letter, effect);
}

void
persist_world_expect(struct persist_world *world, const char *trace)
{
	ck_assert_str_eq(world->trace.data, trace);
}
