/* SPDX-License-Identifier: ISC */

/* How often a person is told of a checkout that is in the way: the default
 * times, all of them shortened by the same factor. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "backoff.h"
#include "clock.h"
#include "emit.h"
#include "landing-world.h"
#include "landing.h"
#include "mem.h"
#include "queue-move.h"
#include "unit.h"

#define TIMES   20
#define EDIT_MS 5000

static struct {
	struct landing_world world;
	int64_t told_ms[4];
	size_t told;
	int64_t edit_ms; /* the next one */
} held;

static void
on_event(const struct event *event, void *arg)
{
	(void)arg;
	if (event->kind == EVENT_WAITING && held.told < nitems(held.told_ms))
		held.told_ms[held.told++] = clock_mono_ms();
}

static bool
keeps(void *arg, const char *task)
{
	(void)arg;
	(void)task;
	return true;
}

static bool
is_told_thrice(void *arg)
{
	struct landing_world *world = arg;

	if (clock_mono_ms() >= held.edit_ms) {
		floor_world_sh(&world->floor, "echo more >>a.txt");
		held.edit_ms = clock_mono_ms() + EDIT_MS;
	}
	return held.told == 3;
}

void
unit_begin(void)
{
	unit_hurry(TIMES);
}

/* Each edit of the user causes a look, and no look is a try. */
TEST(looks_do_not_use_up_the_tries)
{
	static const struct landing_policy policy = { .keeps = keeps };
	struct landing_world *world = &held.world;
	const struct state *state;
	int64_t most = CHECKOUT_WATCH_LOOK_MS + 2 * EDIT_MS;

	landing_world_begin(world, NULL);
	landings_set_policy(world->landings, &policy, world);
	emit_subscribe(world->floor.core, on_event, world);
	floor_world_sh(&world->floor, "echo mine >>a.txt");
	xstrset(&landing_world_work(world, "adam", "b.txt", "x")->worker->task,
	    "t1");
	ck_assert_ptr_nonnull(landing_world_accept(world, "adam"));
	floor_world_wait(&world->floor, is_told_thrice, world);
	for (int i = 0; i < 2; i++) {
		int64_t gap = held.told_ms[i + 1] - held.told_ms[i], ms = 0;

		ck_assert(backoff_next(&backoff_dirty, i, &ms));
		/* It is kept in whole seconds. */
		ck_assert_msg(gap > ms - 1000 && gap < ms + most,
		    "%lld ms after try %d", (long long)gap, i);
	}
	state = &world->floor.core->state;
	ck_assert_int_eq(state->source_repo_dirty_retry_count, 3);
	floor_world_sh(&world->floor, "git checkout -q a.txt");
	held.edit_ms = INT64_MAX;
	floor_world_wait_status(&world->floor,
	    fleet_find(world->floor.fleet, "adam"), WORKER_OFFLINE);
	ck_assert_int_eq(state->source_repo_dirty_retry_count, 0);
	emit_unsubscribe(world->floor.core, on_event, world);
	landing_world_end(world);
}
