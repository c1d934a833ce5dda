/* SPDX-License-Identifier: ISC */

/* What the view has from the book: the last tasks that have ended, and when the
 * run began that goes on. Also removes what is kept no longer. */
#ifndef EYES_HISTORY_H
#define EYES_HISTORY_H

struct eyes_floor;
struct eyes_history;
struct json_object;

#define EYES_ENDED_MAX 200 /* rows */

struct eyes_history *eyes_history_new(struct eyes_floor *eyes);
void eyes_history_free(struct eyes_history *history);

/* Fill "ended". What was read is kept for the next time, until it is to be
 * forgotten. */
void eyes_history_fill(struct eyes_history *history, struct json_object *view);
void eyes_history_forget(struct eyes_history *history);

void eyes_history_patrol(struct eyes_history *history);

#endif
