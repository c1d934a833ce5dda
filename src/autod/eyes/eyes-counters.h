/* SPDX-License-Identifier: ISC */

/* Counts events, tasks, attempts and the time of workers, in the state
 * (counters.h). What is spent is counted where it is booked. */
#ifndef EYES_COUNTERS_H
#define EYES_COUNTERS_H

struct eyes_floor;
struct work_span;

void eyes_counters_register(struct eyes_floor *eyes);
void eyes_counters_end(struct eyes_floor *eyes);

/* A span has ended. */
void eyes_counters_span(struct eyes_floor *eyes, const struct work_span *span);

#endif
