/* SPDX-License-Identifier: ISC */

/* What is measured: how workers spend their time, what has been counted, and
 * both as text for llmc report metrics. Pure. */
#ifndef METRICS_H
#define METRICS_H

#include "account.h"
#include "task.h"
#include "worker.h"

struct buf;
struct json_object;

/* --- spans -------------------------------------------------------------- */

/* A span is a stretch of a worker's time in one status. The time of all workers
 * is the sum of their spans; what no span covers, the daemon did not run. */

/* What the time was used for. */
enum work_use {
	WORK_WORKING, /* turns, with their start */
	WORK_LANDING, /* its work is being landed */
	WORK_CONFLICT, /* it resolves a conflict */
	WORK_WAITING, /* for agents that it has spawned */
	WORK_LIMITED, /* by a usage limit */
	WORK_OUTAGE, /* the service was unavailable */
	WORK_PAUSED,
	WORK_PERSON, /* finished work waits for a decision */
	WORK_ERROR,
	WORK_OFFLINE, /* no session, with nothing to do */
	WORK_IDLE_QUEUE, /* idle, although tasks were waiting */
	WORK_IDLE, /* idle, without one */
	WORK_USE_COUNT
};

extern const char *const work_use_words[WORK_USE_COUNT + 1];

/* Strings are owned, NULL = none; times are wall clock milliseconds. */
struct work_span {
	char *worker;
	enum work_use use;
	char *task;
	int attempt;
	int64_t from_ms, to_ms;
};

void work_span_release(struct work_span *span);

/* What a worker's status (worker_shown_words()) is used for. hand: a person
 * drives it; queue: tasks wait for a worker of auto mode; outage: the service
 * is unavailable. */
enum work_use
work_use_of(const char *status, bool hand, bool queue, bool outage);

/* --- counters ----------------------------------------------------------- */

/* What has been counted since the workspace exists: a JSON object that is a
 * part of the state, so that a restart loses nothing. It only grows in its
 * numbers: names come from closed lists. */

/* Upper bounds of the buckets of a task's duration, in seconds; a last one has
 * no bound. */
#define COUNTERS_BUCKETS 9
extern const int64_t counters_bounds[COUNTERS_BUCKETS];

#define COUNTERS_MODELS 32 /* the last one stands for all others */

/* Why attempts fail: "check", ..., "other"; NULL terminated. */
extern const char *const counters_reasons[];

/* *counters NULL: nothing was counted yet; it is made. */
void counters_event(struct json_object **counters, const char *type);
void counters_attempt_failed(struct json_object **counters, const char *reason);
void counters_task(
    struct json_object **counters, const char *outcome, int64_t duration_ms);
/* The time of a worker. */
void counters_work(struct json_object **counters, const char *use, int64_t ms);
/* A run of auto mode begins: from now on "run" has how many of its tasks ended
 * in which way, for what is shown. */
void counters_run_begins(struct json_object **counters);
void counters_tokens(struct json_object **counters, const struct usage *usage);
/* A cost that is final, in millionths of a dollar: what the agent has reported,
 * or an estimate that no report replaces any more. It is divided among the
 * models of this usage by what they cost by the prices. Counters only grow: an
 * estimate that a report may still replace is not counted. */
void counters_cost(struct json_object **counters, const struct usage *usage,
    const struct price_list *prices, enum cost_source source, int64_t cost);

/* The word of counters_reasons for a reason, which may be NULL. */
const char *counters_reason(const char *reason);

/* --- as text ------------------------------------------------------------ */

/* In the exposition format of Prometheus. No series has a task, a title or a
 * session in its labels, so that their number does not grow with the work that
 * is done. */

enum metrics_mode {
	METRICS_AUTO,
	METRICS_TEAM,
	METRICS_HAND,
	METRICS_MODES
};

extern const char *const metrics_modes[METRICS_MODES]; /* "auto", ... */
enum metrics_mode metrics_mode_of(const char *worker);

/* What the kernel says of the daemon's process. */
struct metrics_process {
	double cpu_s, start_s; /* start: since 1970 */
	int64_t resident, virtual; /* bytes */
	int64_t open_fds, max_fds;
};

struct metrics {
	const char *version;
	const char *host; /* a label of all series; NULL = no fleet */
	int64_t workers[METRICS_MODES][WORKER_STATUS_COUNT];
	int64_t tasks[TASK_STEP_COUNT];
	int64_t limit_until_ms; /* wall clock; 0 = no limit */
	/* Of today; limit 0 = none. Costs are in millionths of a dollar. */
	int64_t day_cost, day_cost_limit;
	int64_t day_tokens, day_tokens_limit;
	int64_t cost_open; /* estimates that a report may still replace */
	struct json_object *counters; /* borrowed, may be NULL */
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
