/* SPDX-License-Identifier: ISC */

/* What landing-plan.h needs to know of the queue, gathered anew each time. */
#ifndef QUEUE_FACTS_H
#define QUEUE_FACTS_H

#include "check-slot.h"
#include "landing-plan.h"

struct landing_item;
struct queue;
struct queue_slot;

struct queue_facts {
	struct landing_facts plan;
	struct landing_entry *entries;
	struct landing_item **items; /* of the entries */
	struct landing_run runs[LANDING_SLOTS_MAX];
	struct queue_slot *run_slots[LANDING_SLOTS_MAX];
	char key[CHECK_KEY_SIZE];
	char **trees; /* names of trees that are checked with an overlay */
};

/* Borrows from the queue; valid until something changes there. */
void queue_facts_make(struct queue *queue, struct queue_facts *ret_facts);
void queue_facts_release(struct queue_facts *facts);

#endif
