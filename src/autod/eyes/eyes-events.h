/* SPDX-License-Identifier: ISC */

/* The last events, as the view shows them (view_row_event()). Those from before
 * somebody looked are read from logs/auto.log, which has them all. */
#ifndef EYES_EVENTS_H
#define EYES_EVENTS_H

struct eyes_events;
struct eyes_floor;
struct json_object;

struct eyes_events *eyes_events_new(struct eyes_floor *eyes);
void eyes_events_free(struct eyes_events *events);

/* The list, oldest first. The caller owns it; the rows are not to be
 * changed. */
struct json_object *eyes_events_list(struct eyes_events *events);

#endif
