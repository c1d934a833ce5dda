/* SPDX-License-Identifier: ISC */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check-book.h"
#include "landing-chain.h"
#include "landing-plan.h"
#include "mem.h"

/* A pass of the base counts as fresh for this long, or for some lengths of a
 * check if they are longer. A red base is checked again after the same time. */
#define FRESH_MS    ((int64_t)60 * 60 * 1000)
#define FRESH_TIMES 4

const char *const landing_mode_words[] = {
	[LANDING_TIP] = "tip",
	[LANDING_EACH] = "each",
	[LANDING_MODE_COUNT] = NULL,
};

_Static_assert(nitems(landing_mode_words) == LANDING_MODE_COUNT + 1,
    "a word for every mode");

/* A plan in the making. */
struct maker {
	const struct landing_facts *facts;
	int64_t now_ms;
	struct landing_plan *plan;
	struct landing_chain chain;
	int lo; /* the last step that may land */
	int hi; /* the first one above it that failed; else count + 1 */
	int busy; /* slots in use */
};

static struct landing_action *
add(struct maker *m, enum landing_act act)
{
	struct landing_action *action =
	    &m->plan->actions[m->plan->action_count++];

	*action = (struct landing_action){ .act = act };
	return action;
}

static void
add_at(struct maker *m, enum landing_act act, int step, size_t upto)
{
	const struct landing_facts *facts = m->facts;
	struct landing_action *action = add(m, act);

	action->commit = step == 0 ?
	    facts->base_commit :
	    m->plan->links[m->chain.steps[step]].commit;
	action->tree = landing_chain_tree(facts, m->plan, &m->chain, step);
	action->upto = upto;
}

/* The links up to a step, with those after it that add nothing. */
static size_t
links_upto(const struct maker *m, int step)
{
	if (step == 0)
		return 0;
	return step < m->chain.count ? m->chain.steps[step + 1] :
				       m->plan->link_count;
}

static const struct check_result *
result_of(const struct maker *m, int step)
{
	return check_book_find(m->facts->book,
	    landing_chain_tree(m->facts, m->plan, &m->chain, step),
	    m->facts->command);
}

/* In mode tip one failure above the first step starts a search below it. In
 * mode each everything below is checked anyway, so a step is checked again. */
static enum landing_verdict
verdict_of(const struct maker *m, int step)
{
	return landing_chain_verdict(m->facts,
	    landing_chain_tree(m->facts, m->plan, &m->chain, step),
	    m->facts->mode == LANDING_EACH || step == m->lo + 1);
}

static bool
is_running(const struct maker *m, int step)
{
	const char *tree =
	    landing_chain_tree(m->facts, m->plan, &m->chain, step);

	for (size_t i = 0; i < m->facts->run_count; i++)
		if (!m->facts->runs[i].cancelled &&
		    strcmp(m->facts->runs[i].tree, tree) == 0)
			return true;
	return false;
}

static void
wake_at(struct maker *m, int64_t at_ms)
{
	if (m->plan->wake_ms == 0 || at_ms < m->plan->wake_ms)
		m->plan->wake_ms = at_ms;
}

/* Where is the border between what passed and what failed? */
static void
find_border(struct maker *m)
{
	const struct check_result *next;

	m->lo = 0;
	for (int step = 1; step <= m->chain.count; step++) {
		if (verdict_of(m, step) == LANDING_PASS)
			m->lo = step;
		else if (m->facts->mode == LANDING_EACH)
			break;
	}
	m->hi = m->lo + 1;
	while (m->hi <= m->chain.count && verdict_of(m, m->hi) != LANDING_FAIL)
		m->hi++;
	m->plan->green = links_upto(m, m->lo);
	if (m->lo == m->chain.count)
		return;
	next = result_of(m, m->lo + 1);
	m->plan->suspect = next != NULL && next->fails_row > 0;
}

static int64_t
fresh_ms(const struct landing_facts *facts)
{
	int64_t took = check_book_expected_ms(facts->book, facts->command);

	if (took > INT64_MAX / 2 / FRESH_TIMES)
		return INT64_MAX / 2;
	return took * FRESH_TIMES > FRESH_MS ? took * FRESH_TIMES : FRESH_MS;
}

/* Did the base pass not long ago? A time in the future means that the clock was
 * turned back: it counts as now. */
static bool
is_fresh(const struct maker *m)
{
	const struct check_result *base = result_of(m, 0);

	return base != NULL && base->passes > 0 && base->fails_row == 0 &&
	    m->now_ms - base->passed_ms <= fresh_ms(m->facts);
}

/* Start a check, unless it runs, must wait, or has no slot. */
static bool
start(struct maker *m, int step)
{
	const struct check_result *result = result_of(m, step);

	if (m->busy >= m->facts->slots || is_running(m, step))
		return false;
	if (check_book_waits(result, m->now_ms)) {
		wake_at(m, result->retry_ms);
		return false;
	}
	add_at(m, step == 0 ? LANDING_DO_CONTROL : LANDING_DO_CHECK, step,
	    links_upto(m, step));
	m->busy++;
	return true;
}

/* The first step failed: because of its entry, or is the base to blame? */
static void
blame(struct maker *m)
{
	struct landing_action *action;

	if (m->lo > 0 || m->facts->moving)
		return; /* what passed must land first */
	if (!is_fresh(m)) {
		start(m, 0);
		return;
	}
	action = add(m, LANDING_DO_EJECT_FAILED);
	action->entry = m->plan->links[m->chain.steps[1]].entry;
	action->commit = m->plan->links[m->chain.steps[1]].commit;
	action->tree = m->plan->links[m->chain.steps[1]].tree;
}

/* A red base, and nothing left that might repair it: has it become well by
 * itself? */
static void
check_red_again(struct maker *m)
{
	const struct check_result *base = result_of(m, 0);
	int64_t at_ms = base->last_ms + fresh_ms(m->facts);

	if (m->facts->run_count > 0)
		return;
	if (base->last_ms > m->now_ms || m->now_ms >= at_ms)
		start(m, 0);
	else
		wake_at(m, at_ms);
}

/* The steps to check, the most useful one first. At most LANDING_SLOTS_MAX. */
static int
choose(const struct maker *m, int steps[LANDING_SLOTS_MAX])
{
	int slots = m->facts->slots < LANDING_SLOTS_MAX ? m->facts->slots :
							  LANDING_SLOTS_MAX;
	int open = m->hi - 1 - m->lo, count = 0;
	bool failed = m->hi <= m->chain.count;

	if (m->facts->mode == LANDING_EACH || open <= slots ||
	    (failed && m->plan->red)) {
		bool tip = m->facts->mode == LANDING_TIP && !failed;

		for (int i = 1; i <= open && count < slots; i++) {
			steps[count] = tip ? m->hi - i : m->lo + i;
			if (verdict_of(m, steps[count]) == LANDING_OPEN)
				count++;
		}
		return count;
	}
	for (int i = slots; i > 0; i--)
		steps[count++] = failed ? m->lo + (open + 1) * i / (slots + 1) :
					  m->lo + open * i / slots;
	return count;
}

static void
check_steps(struct maker *m)
{
	int steps[LANDING_SLOTS_MAX];
	int count, before = m->busy;

	if (m->plan->suspect && m->facts->mode == LANDING_TIP) {
		/* Alone: load may be what made it fail. In mode each that
		 * would leave too many slots empty. */
		if (m->busy == 0)
			start(m, m->lo + 1);
		return;
	}
	count = choose(m, steps);
	for (int i = 0; i < count; i++)
		if (verdict_of(m, steps[i]) == LANDING_OPEN)
			start(m, steps[i]);
	/* If those wait because they could not be judged, do not stand still:
	 * perhaps the first one can be. */
	if (before == 0 && m->busy == 0 && m->lo + 1 < m->hi)
		start(m, m->lo + 1);
}

static bool
is_useful(const struct maker *m, const char *tree)
{
	if (m->facts->command == NULL)
		return false;
	if (strcmp(tree, m->facts->base_tree) == 0)
		return m->plan->red || (m->hi == 1 && m->chain.count > 0);
	for (int step = m->lo + 1; step < m->hi; step++)
		if (strcmp(tree,
			landing_chain_tree(
			    m->facts, m->plan, &m->chain, step)) == 0)
			return true;
	return false;
}

static void
cancel_useless(struct maker *m)
{
	for (size_t i = 0; i < m->facts->run_count; i++)
		if (!m->facts->runs[i].cancelled &&
		    !is_useful(m, m->facts->runs[i].tree))
			add(m, LANDING_DO_CANCEL)->run = i;
}

/* Entries that leave the queue without a check. */
static void
sort_out(struct maker *m)
{
	const struct landing_plan *plan = m->plan;

	if (m->facts->moving)
		return;
	for (size_t i = 0; i < m->facts->entry_count; i++) {
		size_t entry = plan->order[i];

		if (plan->places[entry] == LANDING_OUT_DONE)
			add(m, LANDING_DO_DONE)->entry = entry;
		else if (plan->places[entry] == LANDING_OUT_CONFLICT &&
		    !plan->red)
			add(m, LANDING_DO_EJECT_CONFLICT)->entry = entry;
	}
}

static void
build(struct maker *m)
{
	struct landing_action *action;

	if (m->chain.building)
		return;
	add_at(m, LANDING_DO_BUILD, m->chain.count, 0);
	action = &m->plan->actions[m->plan->action_count - 1];
	action->entry = m->chain.build;
}

/* The chain is built: what does it need? */
static void
decide(struct maker *m)
{
	find_border(m);
	cancel_useless(m);
	if (m->lo > 0 && !m->facts->moving && !m->facts->hold) {
		add_at(m, LANDING_DO_LAND, m->lo, m->plan->green);
		return;
	}
	if (m->facts->command == NULL)
		return;
	if (m->lo < m->chain.count && m->hi == m->lo + 1)
		blame(m);
	else if (m->lo < m->chain.count)
		check_steps(m);
	else if (m->plan->red && m->lo == 0 && m->facts->entry_count > 0)
		check_red_again(m);
}

static void
report_red(struct maker *m)
{
	const char *told = m->facts->red_told;

	if (m->plan->red &&
	    (told == NULL || strcmp(told, m->facts->base_tree) != 0))
		add_at(m, LANDING_DO_RED, 0, 0);
}

void
landing_plan_make(const struct landing_facts *facts, int64_t now_ms,
    struct landing_plan *ret_plan)
{
	struct maker m = { .facts = facts, .now_ms = now_ms, .plan = ret_plan };
	size_t entries = facts->entry_count;

	/* One for each entry that leaves, one for each run that is cancelled,
	 * one for each check, and RED, BUILD or LAND. */
	*ret_plan = (struct landing_plan){
		.actions =
		    xcalloc(entries + facts->run_count + LANDING_SLOTS_MAX + 3,
			sizeof *ret_plan->actions),
		.links = xcalloc(entries + 1, sizeof *ret_plan->links),
		.order = xcalloc(entries + 1, sizeof *ret_plan->order),
		.places = xcalloc(entries + 1, sizeof *ret_plan->places),
	};
	m.busy = facts->run_count < INT_MAX ? (int)facts->run_count : INT_MAX;
	landing_chain_make(facts, ret_plan, &m.chain);
	report_red(&m);
	sort_out(&m);
	if (m.chain.complete)
		decide(&m);
	else
		build(&m);
}

void
landing_plan_release(struct landing_plan *plan)
{
	free(plan->actions);
	free(plan->links);
	free(plan->order);
	free(plan->places);
	*plan = (struct landing_plan){ 0 };
}

void
landing_plan_tasks(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_action *action,
    const char **ret_tasks)
{
	size_t left = action->upto, count = 0;

	for (size_t i = 0; left > 0 && i < facts->entry_count; i++) {
		size_t entry = plan->order[i];

		if (plan->places[entry] == LANDING_IN_CHAIN)
			left--;
		/* One that is released while the check runs waits for it. */
		if (plan->places[entry] != LANDING_OUT_HELD)
			ret_tasks[count++] = facts->entries[entry].task;
	}
	ret_tasks[count] = NULL;
}

/* Within its bounds; 0 is the first time. */
static int
bounded(int window)
{
	if (window <= 0)
		return window == 0 ? LANDING_WINDOW_FIRST : 1;
	return window < LANDING_WINDOW_MAX ? window : LANDING_WINDOW_MAX;
}

int
landing_plan_window_landed(int window, size_t tasks)
{
	int grown =
	    tasks < LANDING_WINDOW_MAX ? (int)tasks : LANDING_WINDOW_MAX;

	return bounded(bounded(window) + grown);
}

int
landing_plan_window_ejected(int window)
{
	int less = bounded(window) * 3 / 4;

	return less > 0 ? less : 1;
}
