/* SPDX-License-Identifier: ISC */

/*
 * What is measured, as text in the exposition format of Prometheus. No series
 * has a task, a title or a session in its labels, so that their number does not
 * grow with the work that is done. Pure.
 */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include "task.h"
#include "work-span.h"
#include "worker.h"

struct buf;
struct json_object;

enum metrics_mode {
	METRICS_AUTO,
	METRICS_TEAM,
	METRICS_HAND,
	METRICS_MODES
};

/* What the kernel says of the daemon's process. */
struct metrics_process {
	double cpu_s, start_s; /* start: since 1970 */
	int64_t resident, virtual; /* bytes */
	int64_t open_fds, max_fds;
};

struct metrics {
	const char *version;
	int64_t workers[METRICS_MODES][WORKER_STATUS_COUNT];
	int64_t tasks[TASK_STEP_COUNT];
	int64_t limit_until_ms; /* wall clock; 0 = nobody waits for a limit */
	/* Of today; limit 0 = none. Costs are in millionths of a dollar. */
	int64_t day_cost, day_cost_limit;
	int64_t day_tokens, day_tokens_limit;
	int64_t cost_open; /* estimates that a report may still replace */
	struct json_object *counters; /* counters.h; borrowed, may be NULL */
	int64_t uses[WORK_USE_COUNT]; /* of spans that go on, in ms */
	int64_t beat_s; /* the daemon's last heartbeat, also if it was killed;
			 * 0 = it writes none, or was stopped */
	/* What only a daemon has: */
	bool live;
	int64_t lag_ms;
	struct metrics_process process;
};

/* Appended. */
void metrics_text(const struct metrics *metrics, struct buf *out);

#endif
