/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "core.h"
#include "landing-item.h"
#include "landing.h"
#include "mem.h"
#include "queue-facts.h"
#include "queue-move.h"
#include "queue.h"
#include "settings.h"

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
}
