/* SPDX-License-Identifier: ISC */

/*
 * How a worker has spent a stretch of time: one status of it, with its reason.
 * The time of all workers is the sum of their spans; what no span covers, the
 * daemon did not run. Pure.
 */
#ifndef WORK_SPAN_H
#define WORK_SPAN_H

struct json_object;

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

/* What a worker's status is used for. hand: a person drives it; queue: tasks
 * wait for one that nobody drives; outage: the service is unavailable. */
enum work_use
work_use_of(const char *status, bool hand, bool queue, bool outage);

/* Of a line of .llmc/spans/, as the version before wrote it. False: it is none,
 * or ends before it begins. */
bool work_span_from_json(struct json_object *json, struct work_span *ret_span);

#endif
