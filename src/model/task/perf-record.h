/* SPDX-License-Identifier: ISC */

/*
 * How one run, an attempt at a task, went: numbers and names. What its agent
 * said last goes with it into the book, and is no part of the record. Pure.
 *
 * In JSON: {"runId", "agentId", "taskType", "spawnerSessionKey", "startedAt",
 * "endedAt", "runtimeMs", "outcome", "verificationPassed",
 * "completionReport": {"status", "confidence"}, "tokens": {"input", "output"},
 * "retryOf", "model", "costUsd", "worker", "goal"}. Times are
 * wall clock milliseconds; tokens and costs that are not known are null; what
 * does not apply is missing.
 */
#ifndef PERF_RECORD_H
#define PERF_RECORD_H

#include "task.h"

struct err;
struct json_object;
struct perf_stats;
struct schema;

enum perf_outcome {
	PERF_SUCCESS,
	PERF_PARTIAL, /* done, but not all of it, as its agent says */
	PERF_FAILURE,
	PERF_TIMEOUT,
	PERF_OUTCOME_COUNT
};

extern const char *const perf_outcome_words[PERF_OUTCOME_COUNT + 1];

/* The member that has it until then. */
#define PERF_LAST_WORDS "lastMessage"

/* Who was asked for neither by the name of a card nor by a role is this one. */
#define PERF_AGENT_DEFAULT "default"

/* Valid as long as the object it was read from. NULL = not given. */
struct perf_record {
	const char *run, *agent, *task_type, *spawner;
	int64_t started_ms, ended_ms, runtime_ms;
	enum perf_outcome outcome;
	int verified; /* 1 = yes, 0 = no, -1 = not known */
	bool reported; /* by its agent, how it ended */
	const char *report_status, *report_confidence;
	int64_t tokens_in, tokens_out; /* -1 = not known */
	double cost; /* dollars; NAN = not known */
	const char *retry_of, *model, *worker, *goal;
};

/* -EINVAL with the member that is wrong. */
int perf_record_read(
    struct json_object *json, struct perf_record *ret_record, struct err *err);

/* The attempt that goes on, if one does, ends in this way: its record is made
 * and kept in task->attempt.ended until it is in its table. */
void
perf_record_end(struct task *task, enum task_outcome outcome, int64_t now_ms);

/* What was used for it and is in no record: by the attempt that goes on, or
 * known since the last one ended. */
struct spent perf_record_spent(const struct task *task);

/* The model that has written most; NULL = none has. */
const char *perf_record_model(const struct usage *usage);

/* What an attempt that ended so counts as. reported: the status of its report,
 * NULL = none. */
enum perf_outcome perf_record_outcome(
    enum task_outcome outcome, bool timed_out, const char *reported);

/* --- added up ----------------------------------------------------------- */

/* How often agents, models or kinds of tasks succeed, how long they take, and
 * what they use. */

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
