/* SPDX-License-Identifier: ISC */

/* The method overseer.events: what happened, from the store, newest pages
 * first. */
#ifndef EVENT_QUERY_H
#define EVENT_QUERY_H

struct plan_floor;

void event_query_register(struct plan_floor *floor);

#endif
