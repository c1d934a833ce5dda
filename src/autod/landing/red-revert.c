/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-slot.h"
#include "core.h"
#include "landing-item.h"
#include "landing-record.h"
#include "landing.h"
#include "persist.h"
#include "queue-view.h"
#include "queue.h"
#include "red-revert.h"
#include "revert.h"
#include "settle.h"

bool
red_revert_begin(struct landings *landings, const char *why)
{
	struct core *core = landings->core;
	struct landing_record *record = &core->state.landings;
	const struct red_run *own = &record->own;
	const char *tip = landings->queue->base_commit;
	const struct red_commit *first;
	cleanup_buf struct buf message = BUF_INIT;
	cleanup_free char *title = NULL;
	char key[CHECK_KEY_SIZE];
	size_t count;

	check_slot_key(core, key);
	count = red_run_length(own, tip, &record->checks, key);
	if (count == 0)
		return false;
	first = &own->list[own->count - count];
	title = count == 1 ? xasprintf("Revert %.12s (%s): %s fails its check",
				 tip, first->task, core_branch(core)) :
			     xasprintf("Revert %zu commits: %s fails its check",
				 count, core_branch(core));
	/* The newest one first, as in the log. */
	buf_addf(&message, "%s\n\n", title);
	for (size_t i = own->count; i-- > own->count - count;)
		buf_addf(&message, "This reverts commit %s (%s).\n",
		    own->list[i].commit, own->list[i].task);
	buf_addf(&message, "The branch is as it was at %s.\n",
	    own->list[own->count - count].parent);
	check_book_forget(&record->checks, first->parent_tree, key);
	revert_enqueue(landings,
	    &(struct revert_order){ .commit = tip,
		.restored = first->parent,
		.undoes = (int)count,
		.title = title,
		.message = message.data,
		.why = why });
	return true;
}

/* True = it has left the queue, or will next. */
static bool
review(struct queue *queue, struct landing_item *item, bool red,
    enum landing_place place, const char *tree)
{
	struct landing_record *record = &queue->core->state.landings;

	if (red && strcmp(item->head, queue->base_commit) == 0) {
		if (place != LANDING_OUT_RED)
			return false;
		settle_check_words(queue->core, tree, item);
		item->step = ITEM_EJECTED;
	} else {
		xstrset(&item->why, NULL); /* that it ends is no failure */
		settle_withdraw(queue->landings, item);
		xstrset(&record->red_told, NULL);
	}
	persist_changed(queue->core);
	return true;
}

bool
red_revert_review(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan)
{
	if (facts->plan.moving)
		return false;
	for (size_t i = 0; i < facts->plan.entry_count; i++) {
		struct landing_item *item = facts->items[i];

		if (item->kind == ITEM_REVERT && item->undoes > 0 &&
		    review(queue, item, plan->red, plan->places[i],
			facts->entries[i].tree))
			return true;
	}
	return false;
}
