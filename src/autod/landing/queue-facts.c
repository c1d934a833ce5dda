/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "candidates.h"
#include "core.h"
#include "landing-item.h"
#include "landing.h"
#include "mem.h"
#include "queue-facts.h"
#include "queue-move.h"
#include "queue.h"
#include "settings.h"
#include "strv.h"

static void
add_entry(const struct queue *queue, struct queue_facts *facts,
    struct landing_item *item)
{
	const struct candidate *c = candidates_of(queue->candidates, item->id);
	struct landing_entry *entry = &facts->entries[facts->plan.entry_count];

	facts->items[facts->plan.entry_count++] = item;
	*entry = (struct landing_entry){
		.task = item->id,
		.priority = item->priority,
		.seq = item->seq,
		.landing = item->commit != NULL,
	};
	if (c == NULL)
		return;
	entry->held = c->waits;
	entry->build = c->build;
	entry->parent = c->parent;
	entry->commit = c->commit;
	entry->tree = c->tree;
}

/* --- protected paths -------------------------------------------------- */

/* What replaces files in a check: those paths, as in that tree. */
static void
overlay_key(const struct queue *queue, char ret_key[CHECK_KEY_SIZE])
{
	const struct core *core = queue->core;
	cleanup_buf struct buf text = BUF_INIT;
	const char *const *paths;

	ret_key[0] = '\0';
	settings_list(core->settings, "auto.protected_paths", &paths);
	if (queue->base_tree == NULL || *paths == NULL)
		return;
	buf_adds(&text, queue->base_tree);
	for (; *paths != NULL; paths++)
		buf_addf(&text, "\n%s", *paths);
	check_book_key(text.data, ret_key);
}

/* Does the work, or work below it that has not landed yet, change protected
 * paths? */
static bool
is_overlaid(const struct queue_facts *facts, size_t entry, const char *base)
{
	const struct landing_entry *entries = facts->entries;
	size_t i;

	for (int depth = 0; depth <= LANDING_WINDOW_MAX; depth++) {
		if (facts->items[entry]->guarded)
			return true;
		if (strcmp(entries[entry].parent, base) == 0)
			return false;
		for (i = 0; i < facts->plan.entry_count; i++)
			if (entries[i].build == LANDING_BUILT &&
			    strcmp(entries[i].commit, entries[entry].parent) ==
				0)
				break;
		if (i == facts->plan.entry_count)
			return false;
		entry = i;
	}
	return false;
}

static void
name_trees(const struct queue *queue, struct queue_facts *facts)
{
	char key[CHECK_KEY_SIZE];
	bool guarded = false;

	for (size_t i = 0; i < facts->plan.entry_count; i++)
		guarded |= facts->items[i]->guarded;
	if (!guarded)
		return;
	overlay_key(queue, key);
	for (size_t i = 0; i < facts->plan.entry_count && key[0] != '\0'; i++) {
		struct landing_entry *entry = &facts->entries[i];
		char *name;

		if (entry->build != LANDING_BUILT ||
		    !is_overlaid(facts, i, queue->base_commit))
			continue;
		name = check_book_tree(entry->tree, key);
		strv_take(&facts->trees, name);
		entry->tree = name;
	}
}

static void
add_runs(struct queue *queue, struct queue_facts *facts)
{
	static const char *const nobody[] = { NULL };

	for (int i = 0; i < queue->slot_count; i++) {
		struct queue_slot *slot = &queue->slots[i];
		const char *tree = check_slot_tree(slot->slot);

		if (tree == NULL)
			continue;
		facts->run_slots[facts->plan.run_count] = slot;
		facts->runs[facts->plan.run_count++] = (struct landing_run){
			.tree = tree,
			.tasks = slot->pinned != NULL ?
			    (const char *const *)slot->pinned :
			    nobody,
			.started_ms = check_slot_since_ms(slot->slot),
			.cancelled = slot->cancelled,
		};
	}
}

void
queue_facts_make(struct queue *queue, struct queue_facts *facts)
{
	const struct core *core = queue->core;
	const struct landing_record *record = &queue->core->state.landings;

	memset(facts, 0, sizeof *facts);
	facts->entries = xcalloc(record->count + 1, sizeof *facts->entries);
	facts->items =
	    xcalloc(record->count + 1, sizeof(struct landing_item *));
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			add_entry(queue, facts, record->items[i]);
	name_trees(queue, facts);
	add_runs(queue, facts);
	check_slot_key(core, facts->key);
	facts->plan.base_commit = queue->base_commit;
	facts->plan.base_tree = queue->base_tree;
	facts->plan.moving = record->to != NULL;
	facts->plan.hold = queue_move_waits(queue->move) ||
	    !landings_may_move(queue->landings);
	facts->plan.entries = facts->entries;
	facts->plan.runs = facts->runs;
	facts->plan.book = &record->checks;
	facts->plan.command = facts->key[0] != '\0' ? facts->key : NULL;
	facts->plan.mode =
	    strcmp(settings_string(core->settings, "auto.land_mode"), "each") ==
		0 ?
	    LANDING_EACH :
	    LANDING_TIP;
	facts->plan.window = record->window;
	facts->plan.slots = queue->slot_count;
	facts->plan.red_told = record->red_told;
}

void
queue_facts_release(struct queue_facts *facts)
{
	free(facts->entries);
	free(facts->items);
	strv_clear(&facts->trees);
}
