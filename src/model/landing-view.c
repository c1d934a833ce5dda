/* SPDX-License-Identifier: ISC */

#include <stdbool.h>
#include <string.h>

#include "check-book.h"
#include "landing-view.h"
#include "mem.h"

static const char *const state_words[] = {
	[LANDING_IS_QUEUED] = "queued",
	[LANDING_IS_BUILT] = "built",
	[LANDING_IS_COVERED] = "covered",
	[LANDING_IS_GREEN] = "green",
	[LANDING_IS_LANDING] = "landing",
	[LANDING_IS_DEFERRED] = "deferred",
	[LANDING_IS_SUSPECT] = "suspect",
	[LANDING_IS_HELD] = "held",
	[LANDING_IS_RED] = "red",
};

_Static_assert(
    nitems(state_words) == LANDING_STATE_COUNT, "a word for every state");

/* Of entries that are not in the chain. */
static const enum landing_state states_outside[LANDING_PLACE_COUNT] = {
	[LANDING_BEHIND] = LANDING_IS_QUEUED,
	[LANDING_OUT_HELD] = LANDING_IS_HELD,
	[LANDING_OUT_MOVING] = LANDING_IS_LANDING,
	[LANDING_OUT_DEFERRED] = LANDING_IS_DEFERRED,
	[LANDING_OUT_CONFLICT] = LANDING_IS_DEFERRED,
	[LANDING_OUT_DONE] = LANDING_IS_GREEN,
	[LANDING_OUT_RED] = LANDING_IS_RED,
};

const char *
landing_state_name(enum landing_state state)
{
	return state_words[state];
}

/* The first run that covers the link: of its tree or of one after it. */
static const struct landing_run *
covering_run(const struct landing_facts *facts, const struct landing_plan *plan,
    size_t link)
{
	for (; link < plan->link_count; link++)
		for (size_t i = 0; i < facts->run_count; i++)
			if (!facts->runs[i].cancelled &&
			    strcmp(facts->runs[i].tree,
				plan->links[link].tree) == 0)
				return &facts->runs[i];
	return NULL;
}

static enum landing_state
state_in_chain(const struct landing_facts *facts,
    const struct landing_plan *plan, size_t link, bool covered)
{
	if (link < plan->green)
		return facts->hold ? LANDING_IS_HELD : LANDING_IS_GREEN;
	if (link == plan->green && plan->suspect)
		return LANDING_IS_SUSPECT;
	if (covered)
		return LANDING_IS_COVERED;
	return plan->red ? LANDING_IS_RED : LANDING_IS_BUILT;
}

static int64_t
remaining_ms(const struct landing_run *run, int64_t took_ms, int64_t now_ms)
{
	int64_t left = run->started_ms + took_ms - now_ms;

	return left < 0 ? 0 : left < took_ms ? left : took_ms;
}

/* Until a slot is free. */
static int64_t
slot_ms(const struct landing_facts *facts, int64_t took_ms, int64_t now_ms)
{
	int64_t least = took_ms;

	if (facts->run_count < (size_t)(facts->slots > 0 ? facts->slots : 1))
		return 0;
	for (size_t i = 0; i < facts->run_count; i++) {
		int64_t left = remaining_ms(&facts->runs[i], took_ms, now_ms);

		if (left < least)
			least = left;
	}
	return least;
}

/* `ahead` entries must land before this one. */
static int64_t
expect(const struct landing_facts *facts, const struct landing_plan *plan,
    const struct landing_view *view, const struct landing_run *run,
    size_t ahead, int64_t now_ms)
{
	size_t batch = facts->mode == LANDING_EACH ? (size_t)facts->slots :
						     plan->link_count;
	int64_t took_ms;

	if (view->state == LANDING_IS_GREEN ||
	    view->state == LANDING_IS_LANDING)
		return 0;
	if (view->state == LANDING_IS_HELD ||
	    view->state == LANDING_IS_DEFERRED || view->state == LANDING_IS_RED)
		return -1;
	if (facts->command == NULL)
		return 0;
	took_ms = check_book_expected_ms(facts->book, facts->command);
	if (took_ms == 0)
		return -1;
	if (run != NULL)
		return remaining_ms(run, took_ms, now_ms);
	return slot_ms(facts, took_ms, now_ms) +
	    took_ms * (int64_t)(1 + ahead / (batch > 0 ? batch : 1));
}

void
landing_view_make(const struct landing_facts *facts,
    const struct landing_plan *plan, int64_t now_ms,
    struct landing_view *ret_views)
{
	size_t link = 0, ahead = 0;

	for (size_t i = 0; i < facts->entry_count; i++) {
		size_t entry = plan->order[i];
		enum landing_place place = plan->places[entry];
		struct landing_view *view = &ret_views[entry];
		const struct landing_run *run = NULL;

		*view = (struct landing_view){ .position = i + 1 };
		if (place == LANDING_IN_CHAIN) {
			run = covering_run(facts, plan, link);
			view->state =
			    state_in_chain(facts, plan, link, run != NULL);
			if (link++ < plan->green)
				run = NULL;
		} else {
			view->state = states_outside[place];
		}
		view->tree = run != NULL ? run->tree : NULL;
		view->expected_ms =
		    expect(facts, plan, view, run, ahead, now_ms);
		if (view->expected_ms > 0)
			ahead++;
	}
}

bool
landing_view_is_long(const struct landing_view *view)
{
	return view->state == LANDING_IS_RED ||
	    view->expected_ms > LANDING_HOLD_MS;
}
