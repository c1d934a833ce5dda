/* SPDX-License-Identifier: ISC */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check-book.h"
#include "landing-chain.h"
#include "mem.h"

#define NONE SIZE_MAX

enum landing_verdict
landing_chain_verdict(
    const struct landing_facts *facts, const char *tree, bool blame)
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
		    landing_chain_verdict(facts, facts->entries[index].tree,
			true) != LANDING_PASS)
			return 0;
		path[count++] = index;
		commit = facts->entries[index].parent;
	}
	return count;
}

/* What has passed keeps its order, whoever came in the meantime: it lands at
 * once or, on hold, as soon as it can. */
static void
rank_passed(const struct landing_facts *facts, struct key *keys)
{
	size_t path[LANDING_WINDOW_MAX], longest[LANDING_WINDOW_MAX];
	size_t count, most = 0;

	for (size_t i = 0; i < facts->entry_count; i++) {
		if (facts->entries[i].build != LANDING_BUILT ||
		    landing_chain_verdict(
			facts, facts->entries[i].tree, true) != LANDING_PASS)
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
	    landing_chain_verdict(facts, entry->tree, true) == LANDING_FAIL)
		return LANDING_OUT_RED;
	add_link(plan, chain, index, entry->commit, entry->tree, false);
	return LANDING_IN_CHAIN;
}

static bool
is_known(const struct landing_entry *entry, const char *parent)
{
	return entry->build != LANDING_UNBUILT &&
	    entry->build != LANDING_BUILDING && entry->parent != NULL &&
	    strcmp(entry->parent, parent) == 0;
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

void
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

const char *
landing_chain_tree(const struct landing_facts *facts,
    const struct landing_plan *plan, const struct landing_chain *chain,
    int step)
{
	return step == 0 ? facts->base_tree :
			   plan->links[chain->steps[step]].tree;
}
