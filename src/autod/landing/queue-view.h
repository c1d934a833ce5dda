/* SPDX-License-Identifier: ISC */

/* The landing queue for people: landing.list. */
#ifndef QUEUE_VIEW_H
#define QUEUE_VIEW_H

#include "check-slot.h"
#include "landing-plan.h"

struct json_object;
struct landing_item;
struct landings;
struct queue;
struct queue_slot;
struct server_call;

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

/* Answer the call. The tip of the branch is read first if nobody knows it. */
void queue_view_answer(struct landings *landings, struct server_call *call);

/* The same, with what is known now. The caller owns it. */
struct json_object *queue_view(struct landings *landings);

#endif
