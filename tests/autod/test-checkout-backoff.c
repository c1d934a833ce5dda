/* SPDX-License-Identifier: ISC */

/* How often a person is told of a checkout that is in the way: the default
 * times, all of them shortened by the same factor. */
#include "landing-world.h"
#include "backoff.h"
#include "landing-private.h"

#define TIMES   20
#define EDIT_MS 5000

static struct {
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
	(void)arg;
	if (clock_mono_ms() >= held.edit_ms) {
		floor_world_sh("echo more >>a.txt");
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
	const struct state *state;
	int64_t most = CHECKOUT_WATCH_LOOK_MS + 2 * EDIT_MS;

	landing_world_begin("dirty_checkout = \"wait\"\n");
	landings_set_policy(landing_world.landings, &policy, &landing_world);
	emit_subscribe(floor_world.core, on_event, &landing_world);
	floor_world_sh("echo mine >>a.txt");
	xstrset(&landing_world_work("adam", "b.txt", "x")->worker->task, "t1");
	ck_assert_ptr_nonnull(landing_world_accept("adam"));
	floor_world_wait(is_told_thrice, &landing_world);
	for (int i = 0; i < 2; i++) {
		int64_t gap = held.told_ms[i + 1] - held.told_ms[i], ms = 0;

		ck_assert(backoff_next(&backoff_dirty, i, &ms));
		/* It is kept in whole seconds. */
		ck_assert_msg(gap > ms - 1000 && gap < ms + most,
		    "%lld ms after try %d", (long long)gap, i);
	}
	state = &floor_world.core->state;
	ck_assert_int_eq(state->source_repo_dirty_retry_count, 3);
	floor_world_sh("git checkout -q a.txt");
	held.edit_ms = INT64_MAX;
	floor_world_wait_status(
	    fleet_find(floor_world.fleet, "adam"), WORKER_OFFLINE);
	ck_assert_int_eq(state->source_repo_dirty_retry_count, 0);
	emit_unsubscribe(floor_world.core, on_event, &landing_world);
}
