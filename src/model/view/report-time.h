/* SPDX-License-Identifier: ISC */

/*
 * What the workers' time of a period was used for. Every moment of every worker
 * is in exactly one row, so that the rows add up to the time of all workers.
 *
 * A worker's time begins when it first exists in the period, and ends with the
 * period, or with its last span if it is gone. Where several spans cover a
 * moment, the one that ends first has it. A moment without a span counts as
 * daemon_down, unless a span of another worker shows that the daemon ran: then
 * the worker did not exist. Pure.
 */
#ifndef REPORT_TIME_H
#define REPORT_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "work-span.h"

enum report_use {
	REPORT_LANDED, /* working, in the attempt that landed */
	REPORT_FAILED, /* working, in attempts that came to nothing */
	REPORT_OPEN, /* working: not ended yet, or by hand */
	REPORT_WAITING,
	REPORT_LANDING,
	REPORT_CONFLICT,
	REPORT_LIMITED,
	REPORT_OUTAGE,
	REPORT_PAUSED,
	REPORT_PERSON,
	REPORT_ERROR,
	REPORT_OFFLINE,
	REPORT_IDLE_QUEUE,
	REPORT_IDLE,
	REPORT_DOWN, /* the daemon did not run */
	REPORT_USE_COUNT
};

extern const char *const report_use_words[REPORT_USE_COUNT + 1];
extern const char *const report_use_titles[REPORT_USE_COUNT]; /* for people */

struct report_time_in {
	const struct work_span *spans; /* of the period and around it */
	size_t count;
	int64_t from_ms, to_ms;
	struct json_object *ended; /* rows of tasks by id: outcome, attempts */
	struct json_object *open; /* of those without an outcome */
	struct json_object *workers; /* that exist now, by name */
};

/* {"workers": n, "worker_ms": n, "wall_ms": n, "rows": {use: ms},
 * "by_worker": [{"worker": name, "worker_ms": n, "rows": {use: ms}}]}. The
 * caller owns it, and *ret_worked: what was worked on each task, by id. */
struct json_object *
report_time(const struct report_time_in *in, struct json_object **ret_worked);

#endif
