/* SPDX-License-Identifier: ISC */

/* Records of runs added up: how often agents, models or kinds of tasks succeed,
 * how long they take, and what they use. Pure. */
#ifndef PERF_STATS_H
#define PERF_STATS_H

#include "perf-record.h"

struct json_object;
struct schema;
struct perf_stats;

#define PERF_DAY_MS    (24 * 3600 * (int64_t)1000)
#define PERF_KEEP_DAYS 30

enum perf_by {
	PERF_BY_AGENT,
	PERF_BY_MODEL,
	PERF_BY_TASK_TYPE,
	PERF_BY_COUNT
};

extern const char *const perf_by_words[PERF_BY_COUNT + 1];

/* A sum; valid until the stats change. */
struct perf_group {
	const char *name; /* "" = they have none */
	int64_t runs, outcomes[PERF_OUTCOME_COUNT];
	int64_t passed, failed, unverified; /* verifications */
	int64_t reports, retries;
	double rate; /* of success */
	int64_t tokens_in, tokens_out; /* of those that are known */
	int64_t tokens_all;
	double cost; /* of those that are known, in dollars; NAN = of none */
	int64_t costed, uncosted; /* runs whose cost is known, and others */
	int64_t average_ms, p50_ms, p90_ms;
};

extern const struct schema perf_group_schema;

struct perf_stats *perf_stats_new(enum perf_by by);
void perf_stats_free(struct perf_stats *stats);

void perf_stats_add(struct perf_stats *stats, const struct perf_record *record);

size_t perf_stats_count(const struct perf_stats *stats);
/* By name. */
struct perf_group perf_stats_group(struct perf_stats *stats, size_t index);

/* The groups; the caller owns the array. */
struct json_object *perf_stats_to_json(struct perf_stats *stats);

#endif
