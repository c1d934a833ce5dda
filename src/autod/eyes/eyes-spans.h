/* SPDX-License-Identifier: ISC */

/* Records how the workers spend their time (work-span.h): a span ends when its
 * worker does something else, or the daemon ends. */
#ifndef EYES_SPANS_H
#define EYES_SPANS_H

#include "work-span.h"

struct eyes_floor;
struct json_object;
struct eyes_spans;

/* Call it before anything has changed: what a daemon that was killed did not
 * record is recorded. */
struct eyes_spans *eyes_spans_new(struct eyes_floor *eyes);
void eyes_spans_free(struct eyes_spans *spans);

/* The floor begins; the patrol, which sees what no event tells; the end. */
void eyes_spans_begin(struct eyes_spans *spans);
void eyes_spans_patrol(struct eyes_spans *spans);
void eyes_spans_close(struct eyes_spans *spans);

/* Milliseconds of the spans that go on, added to uses[WORK_USE_COUNT]. */
void
eyes_spans_sum(const struct eyes_spans *spans, int64_t now_ms, int64_t *uses);

/* How a worker has spent its time since the daemon began, in its row of the
 * view: times {use: ms} of what has ended; time_use, time_from_ms of what goes
 * on, so that the row stays the same meanwhile. */
void eyes_spans_fill(
    struct eyes_spans *spans, const char *worker, struct json_object *row);

#endif
