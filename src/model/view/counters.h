/* SPDX-License-Identifier: ISC */

/*
 * What has been counted since the workspace exists, for metrics: a JSON object
 * that is a part of the state, so that a restart loses nothing. It only grows
 * in its numbers: names come from closed lists. Pure.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "account.h"

struct json_object;

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

#endif
