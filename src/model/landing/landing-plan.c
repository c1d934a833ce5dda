/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-book.h"
#include "landing-plan.h"

#define LANDING_WINDOW_FIRST 32 /* before anything has landed */

enum landing_verdict {
	LANDING_OPEN, /* not judged, or not often enough */
	LANDING_PASS,
	LANDING_FAIL,
};

/* Steps are the links that change something, counted from 1; 0 is the base. */
struct landing_chain {
	size_t steps[LANDING_WINDOW_MAX + 1]; /* index of the link */
	int count;
	bool complete; /* nothing has to be built first */
	size_t build; /* otherwise: this entry on top of the last step */
	bool building; /* a build is running */
};

#define NONE SIZE_MAX

/* One failure is enough to look for its cause below the step; but to blame the
 * step itself, CHECK_BOOK_BLAME failures are needed. */
static enum landing_verdict
tree_verdict(const struct landing_facts *facts, const char *tree, bool blame)
{
	const struct check_result *result;

	if (facts->command == NULL)
		return LANDING_PASS;
	result = check_book_find(facts->book, tree, facts->command);
	if (result == NULL)
		return LANDING_OPEN;
	if (result->passes > 0)
		return LANDING_PASS;
	return result->fails_row >= (blame ? CHECK_BOOK_BLAME : 1) ?
	    LANDING_FAIL :
	    LANDING_OPEN;
}

/* What the tree itself got counts first. Of the one that stands for it, only
 * that it passed. */
static enum landing_verdict
landing_chain_verdict(const struct landing_facts *facts,
    const struct landing_entry *entry, bool blame)
{
	if (entry->stands != NULL &&
	    tree_verdict(facts, entry->tree, false) == LANDING_OPEN &&
	    tree_verdict(facts, entry->stands, true) == LANDING_PASS)
		return LANDING_PASS;
	return tree_verdict(facts, entry->tree, blame);
}

/* What the order of the entries depends on, the first member first. */
struct key {
	size_t passed; /* place in what has passed and can land; else NONE */
	bool urgent;
	size_t pin; /* place in what is being checked; else NONE */
	enum priority priority;
	uint64_t seq;
	size_t entry;
};

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
compare_keys(const void *first, const void *second)
{
	const struct key *a = first, *b = second;
	int order = compare_numbers(a->passed, b->passed);

	if (order == 0)
		order = compare_numbers(!a->urgent, !b->urgent);
	if (order == 0)
		order = compare_numbers(a->pin, b->pin);
	if (order == 0)
		order = priority_compare(a->priority, b->priority);
	if (order == 0)
		order = compare_numbers(a->seq, b->seq);
	return order != 0 ? order : compare_numbers(a->entry, b->entry);
}

/* The tasks of the longest prefix that is being checked: only an urgent entry
 * goes before them. */
static const char *const *
pinned(const struct landing_facts *facts)
{
	static const char *const none[] = { NULL };
	const char *const *longest = none;
	size_t most = 0;

	for (size_t i = 0; i < facts->run_count; i++) {
		const struct landing_run *run = &facts->runs[i];
		size_t count = 0;

		while (!run->cancelled && run->tasks[count] != NULL)
			count++;
		if (count > most) {
			most = count;
			longest = run->tasks;
		}
	}
	return longest;
}

/* The entry that was built as this commit, NONE if there is none. */
static size_t
entry_of(const struct landing_facts *facts, const char *commit)
{
	for (size_t i = 0; i < facts->entry_count; i++) {
		const struct landing_entry *entry = &facts->entries[i];

		if (entry->build == LANDING_BUILT &&
		    strcmp(entry->commit, commit) == 0)
			return i;
	}
	return NONE;
}

/* Go from a commit that passed down to the base; path gets the entries, the
 * last one first. Returns their number, or 0 if they cannot land. */
static size_t
path_to(const struct landing_facts *facts, const char *commit,
    size_t path[LANDING_WINDOW_MAX])
{
	size_t count = 0;

	while (strcmp(commit, facts->base_commit) != 0) {
		size_t index = entry_of(facts, commit);

		if (index == NONE || count == LANDING_WINDOW_MAX)
			return 0;
		if (facts->mode == LANDING_EACH &&
		    landing_chain_verdict(
			facts, &facts->entries[index], true) != LANDING_PASS)
			return 0;
		path[count++] = index;
		commit = facts->entries[index].parent;
	}
	return count;
}

/* What has passed keeps its order, whatever came in the meantime: it lands at
 * once or, on hold, as soon as it can. */
static void
rank_passed(const struct landing_facts *facts, struct key *keys)
{
	size_t path[LANDING_WINDOW_MAX], longest[LANDING_WINDOW_MAX];
	size_t count, most = 0;

	for (size_t i = 0; i < facts->entry_count; i++) {
		if (facts->entries[i].build != LANDING_BUILT ||
		    landing_chain_verdict(facts, &facts->entries[i], true) !=
			LANDING_PASS)
			continue;
		count = path_to(facts, facts->entries[i].commit, path);
		if (count <= most)
			continue;
		most = count;
		memcpy(longest, path, count * sizeof *path);
	}
	for (size_t i = 0; i < most; i++) {
		const char *commit = facts->entries[longest[i]].commit;

		keys[longest[i]].passed = 2 * (most - i);
		for (size_t k = 0; k < facts->entry_count; k++)
			if (facts->entries[k].build == LANDING_SAME &&
			    strcmp(facts->entries[k].parent, commit) == 0)
				keys[k].passed = 2 * (most - i) + 1;
	}
}

static void
sort_entries(const struct landing_facts *facts, size_t *order)
{
	cleanup_free struct key *keys =
	    xcalloc(facts->entry_count + 1, sizeof *keys);
	const char *const *tasks = pinned(facts);

	for (size_t i = 0; i < facts->entry_count; i++) {
		const struct landing_entry *entry = &facts->entries[i];

		keys[i] = (struct key){
			.passed = NONE,
			.urgent = entry->priority == PRIORITY_URGENT,
			.pin = NONE,
			.priority = entry->priority,
			.seq = entry->seq,
			.entry = i,
		};
		for (size_t k = 0; tasks[k] != NULL; k++)
			if (strcmp(tasks[k], entry->task) == 0)
				keys[i].pin = k;
	}
	rank_passed(facts, keys);
	qsort(keys, facts->entry_count, sizeof *keys, compare_keys);
	for (size_t i = 0; i < facts->entry_count; i++)
		order[i] = keys[i].entry;
}

/* Unlike a candidate's, an old pass of the base does not help: something
 * outside of the tree may have broken since. */
static bool
is_red(const struct landing_facts *facts)
{
	const struct check_result *result;

	if (facts->command == NULL || facts->moving)
		return false;
	result = check_book_find(facts->book, facts->base_tree, facts->command);
	return result != NULL && result->fails_row >= CHECK_BOOK_BLAME;
}

static int
limit_of(const struct landing_facts *facts)
{
	int limit = facts->window > 0 ? facts->window : LANDING_WINDOW_FIRST;

	/* Each step is checked by itself: a slot without one is wasted. */
	if (facts->mode == LANDING_EACH && limit < facts->slots)
		limit = facts->slots;
	return limit < LANDING_WINDOW_MAX ? limit : LANDING_WINDOW_MAX;
}

static void
add_link(struct landing_plan *plan, struct landing_chain *chain, size_t entry,
    const char *commit, const char *tree, bool same)
{
	if (!same)
		chain->steps[++chain->count] = plan->link_count;
	plan->links[plan->link_count++] = (struct landing_link){
		.entry = entry, .commit = commit, .tree = tree, .same = same
	};
}

/* The place of an entry that is built on the last link of the chain, or on the
 * base. Links are added. */
static enum landing_place
place_built(const struct landing_facts *facts, size_t index,
    const char *const parent[2], struct landing_plan *plan,
    struct landing_chain *chain)
{
	const struct landing_entry *entry = &facts->entries[index];
	bool first = chain->count == 0;

	if (entry->build == LANDING_CONFLICT)
		return first ? LANDING_OUT_CONFLICT : LANDING_OUT_DEFERRED;
	if (entry->build == LANDING_SAME && first)
		return LANDING_OUT_DONE;
	if (entry->build == LANDING_SAME) {
		add_link(plan, chain, index, parent[0], parent[1], true);
		return LANDING_IN_CHAIN;
	}
	if (first && plan->red &&
	    landing_chain_verdict(facts, entry, true) == LANDING_FAIL)
		return LANDING_OUT_RED;
	add_link(plan, chain, index, entry->commit, entry->tree, false);
	return LANDING_IN_CHAIN;
}

static bool
is_known(const struct landing_entry *entry, const char *parent)
{
	return entry->build != LANDING_UNBUILT &&
	    entry->build != LANDING_BUILDING && text_is(entry->parent, parent);
}

static void
walk(const struct landing_facts *facts, struct landing_plan *plan,
    struct landing_chain *chain)
{
	const char *parent[2] = { facts->base_commit, facts->base_tree };
	int limit = limit_of(facts);

	for (size_t i = 0; i < facts->entry_count; i++) {
		size_t index = plan->order[i];
		const struct landing_entry *entry = &facts->entries[index];
		enum landing_place *place = &plan->places[index];

		if (entry->landing || entry->held) {
			*place = entry->landing ? LANDING_OUT_MOVING :
						  LANDING_OUT_HELD;
			continue;
		}
		if (!chain->complete || chain->count == limit)
			continue;
		if (!is_known(entry, parent[0])) {
			chain->complete = false;
			chain->build = index;
			continue;
		}
		*place = place_built(facts, index, parent, plan, chain);
		if (*place == LANDING_IN_CHAIN) {
			parent[0] = plan->links[plan->link_count - 1].commit;
			parent[1] = plan->links[plan->link_count - 1].tree;
		}
	}
}

/* Fills links, order, places and red of the plan. */
static void
landing_chain_make(const struct landing_facts *facts, struct landing_plan *plan,
    struct landing_chain *ret_chain)
{
	*ret_chain = (struct landing_chain){ .complete = true };
	plan->red = is_red(facts);
	sort_entries(facts, plan->order);
	for (size_t i = 0; i < facts->entry_count; i++) {
		plan->places[i] = LANDING_BEHIND;
		if (facts->entries[i].build == LANDING_BUILDING)
			ret_chain->building = true;
	}
	walk(facts, plan, ret_chain);
}

static const struct landing_entry *
landing_chain_entry(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_chain *chain,
    int step)
{
	return &facts->entries[plan->links[chain->steps[step]].entry];
}

static const char *
landing_chain_tree(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_chain *chain,
    int step)
{
	return step == 0 ? facts->base_tree :
			   plan->links[chain->steps[step]].tree;
}

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
	    landing_chain_entry(m->facts, m->plan, &m->chain, step),
	    m->facts->mode == LANDING_EACH || step == m->lo + 1);
}

/* Does the verdict of this tree count for the step? 0 is the base. */
static bool
counts_for(const struct maker *m, int step, const char *tree)
{
	const struct landing_entry *entry;

	if (strcmp(tree,
		landing_chain_tree(m->facts, m->plan, &m->chain, step)) == 0)
		return true;
	if (step == 0)
		return false;
	entry = landing_chain_entry(m->facts, m->plan, &m->chain, step);
	return text_is(entry->stands, tree) &&
	    tree_verdict(m->facts, tree, false) != LANDING_FAIL;
}

static bool
is_running(const struct maker *m, int step)
{
	for (size_t i = 0; i < m->facts->run_count; i++)
		if (!m->facts->runs[i].cancelled &&
		    counts_for(m, step, m->facts->runs[i].tree))
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
landing_plan_blame(struct maker *m)
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
		return m->plan->red || m->facts->trial || m->facts->unproven ||
		    (m->hi == 1 && m->chain.count > 0);
	for (int step = m->lo + 1; step < m->hi; step++)
		if (counts_for(m, step, tree))
			return true;
	return false;
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
	for (size_t i = 0; i < m->facts->run_count; i++)
		if (!m->facts->runs[i].cancelled &&
		    !is_useful(m, m->facts->runs[i].tree))
			add(m, LANDING_DO_CANCEL)->run = i;
	if (m->lo > 0 && !m->facts->moving && !m->facts->hold) {
		add_at(m, LANDING_DO_LAND, m->lo, m->plan->green);
		m->plan->actions[m->plan->action_count - 1].overtaken =
		    tree_verdict(m->facts,
			landing_chain_tree(m->facts, m->plan, &m->chain, m->lo),
			true) != LANDING_PASS;
		return;
	}
	if (m->facts->command == NULL)
		return;
	if (m->lo < m->chain.count && m->hi == m->lo + 1)
		landing_plan_blame(m);
	else if (m->lo < m->chain.count)
		check_steps(m);
	else if (m->plan->red && m->lo == 0 && m->facts->entry_count > 0)
		check_red_again(m);
	else if (m->chain.count == 0 && !m->plan->red &&
	    (m->facts->unproven ||
		(m->facts->trial &&
		    !check_book_judged(m->facts->book, m->facts->command))))
		start(m, 0);
}

void
landing_plan_make(const struct landing_facts *facts, int64_t now_ms,
    struct landing_plan *ret_plan)
{
	struct maker m = { .facts = facts, .now_ms = now_ms, .plan = ret_plan };
	size_t entries = facts->entry_count;
	const char *reported;

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
	reported = m.facts->red_told;
	if (m.plan->red && !text_is(reported, m.facts->base_tree))
		add_at(&m, LANDING_DO_RED, 0, 0);
	sort_out(&m);
	ret_plan->built = m.chain.complete;
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
