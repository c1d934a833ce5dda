/* SPDX-License-Identifier: ISC */

/* What lands for all hosts, one thing at a time, and the lander's lease. */

#include "base.h"
#include "emit.h"
#include "hosts-private.h"
#include "landing-record.h"
#include "landing.h"
#include "loop.h"

#define LEAVE_MS 2000 /* to give up the lease when the daemon stops */

void
hosts_land_look(struct hosts_floor *floor)
{
	if (floor->land != NULL)
		loop_call_request(floor->land->look);
}

static void
look_soon(void *arg)
{
	hosts_land_look(((struct hosts_land *)arg)->floor);
}

void
land_arm(struct hosts_land *land, int64_t ms)
{
	loop_timer_set(&land->timer, land->core->loop, ms, look_soon, land);
}

void
land_done(struct hosts_land *land)
{
	land->busy = false;
	land->tries = 0;
	hosts_land_look(land->floor);
}

void
land_failed(struct hosts_land *land, const char *words)
{
	int64_t ms = hosts_away_ms(land->tries++, arc4random());

	if (land->tries == 1)
		EMIT(land->core, EVENT_LANDING_WAITS,
		    .branch = core_branch(land->core), .reason = words);
	land->busy = false;
	land->rest_ms = clock_boot_ms() + ms;
	land_arm(land, ms);
}

void
land_ask(struct hosts_land *land, const struct shared_call *calls, size_t count,
    shared_fn *fn)
{
	land->busy = true;
	shared_ask(
	    land->floor->shared, calls, count, HOSTS_ANSWER_MS, fn, land);
}

bool
land_answered(struct hosts_land *land, const struct shared_answer *answer)
{
	if (answer->verdict == SHARED_DONE)
		return true;
	land_failed(land, answer->words != NULL ? answer->words : "no answer");
	return false;
}

struct landing_item *
land_told_item(struct hosts_land *land)
{
	cleanup_free char *id = take_ptr(&land->item_id);

	return id != NULL ?
	    landing_record_find(&land->core->state.landings, id) :
	    NULL;
}

/* --- the lease ---------------------------------------------------- */

bool
hosts_land_has_lease(const struct hosts_floor *floor)
{
	return floor->land != NULL && floor->land->fence != 0 &&
	    !floor->doubt &&
	    hosts_lease_sure(floor->land->asked_ms, clock_boot_ms());
}

void
land_lose_lease(struct hosts_land *land)
{
	const struct landing_record *record = &land->core->state.landings;

	land->fence = 0;
	for (size_t i = record->count; i-- > 0;)
		if (record->items[i]->kind == ITEM_SHARED &&
		    (record->items[i]->step != ITEM_QUEUED ||
			record->items[i]->commit == NULL))
			landings_unshare(land->landings, record->items[i]);
}

/* Whatever the answer: the lease ends by itself. */
static void
on_left_at_end(const struct shared_answer *answer, void *arg)
{
	(void)answer;
	((struct hosts_land *)arg)->leaves = false;
}

bool
hosts_land_stop(struct hosts_floor *floor)
{
	struct hosts_land *land = floor->land;

	if (land == NULL || land->fence == 0 || land->leaves ||
	    shared_state(floor->shared) != SHARED_UP)
		return false;
	land->leaves = true;
	shared_forget(floor->shared, land);
	shared_ask(floor->shared,
	    &SHARED_CALL(SHARED_LANDER_LEAVE, BOOK_T(core_branch(land->core)),
		BOOK_I(land->fence), BOOK_T(floor->boot)),
	    1, LEAVE_MS, on_left_at_end, land);
	land->fence = 0;
	return true;
}

bool
hosts_land_leaves(const struct hosts_floor *floor)
{
	return floor->land != NULL && floor->land->leaves;
}
