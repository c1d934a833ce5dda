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
 * and kept in task->run->ended until it is in its file. */
void
perf_record_end(struct task *task, enum task_outcome outcome, int64_t now_ms);

/* What was used for it and is in no record: by the attempt that goes on, or
 * known since the last one ended. */
struct spent perf_record_spent(const struct task *task);

/* What an attempt that ended so counts as. reported: the status of its report,
 * NULL = none. */
enum perf_outcome perf_record_outcome(
    enum task_outcome outcome, bool timed_out, const char *reported);

#endif
