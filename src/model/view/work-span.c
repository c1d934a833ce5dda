/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "schema.h"
#include "view-private.h"
#include "work-span.h"
#include "worker.h"

const char *const work_use_words[WORK_USE_COUNT + 1] = { "working", "landing",
	"conflict", "waiting", "limited", "outage", "paused", "person", "error",
	"offline", "idle_queue", "idle", NULL };

/* One row for each status. */
static const enum work_use uses[WORKER_STATUS_COUNT] = {
	[WORKER_IDLE] = WORK_IDLE,
	[WORKER_STARTING] = WORK_WORKING,
	[WORKER_WORKING] = WORK_WORKING,
	[WORKER_NEEDS_REVIEW] = WORK_PERSON,
	[WORKER_REVIEWING] = WORK_WORKING,
	[WORKER_REJECTED] = WORK_WORKING,
	[WORKER_REBASING] = WORK_CONFLICT,
	[WORKER_NO_CHANGES] = WORK_PERSON,
	[WORKER_ACCEPTING] = WORK_LANDING,
	[WORKER_PAUSED] = WORK_PAUSED,
	[WORKER_LIMITED] = WORK_LIMITED,
	[WORKER_ERROR] = WORK_ERROR,
	[WORKER_OFFLINE] = WORK_OFFLINE,
	[WORKER_WAITING] = WORK_WAITING,
};

void
work_span_release(struct work_span *span)
{
	free(span->worker);
	free(span->task);
	memset(span, 0, sizeof *span);
}

enum work_use
work_use_of(const char *status, bool hand, bool queue, bool outage)
{
	enum worker_status known = WORKER_OFFLINE;

	worker_status_parse(status, &known);
	if (known == WORKER_IDLE && queue && !hand)
		return WORK_IDLE_QUEUE;
	if (known == WORKER_LIMITED && outage)
		return WORK_OUTAGE;
	/* Without a person, finished work lands by itself. */
	if (uses[known] == WORK_PERSON && !hand)
		return WORK_LANDING;
	return uses[known];
}

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct work_span, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("worker", worker, .flags = SCHEMA_REQUIRED),
	FIELD("use", use, .flags = SCHEMA_REQUIRED, .words = work_use_words),
	FIELD("task", task),
	FIELD("attempt", attempt, .flags = SCHEMA_CLAMP),
	FIELD("from_ms", from_ms, .flags = SCHEMA_REQUIRED),
	FIELD("to_ms", to_ms, .flags = SCHEMA_REQUIRED),
};

static const struct schema schema = SCHEMA_OF(struct work_span, fields);

bool
work_span_from_json(struct json_object *json, struct work_span *ret_span)
{
	struct work_span span = { 0 };

	if (schema_read(&schema, json, "", &span, NULL) < 0 ||
	    span.to_ms < span.from_ms) {
		schema_release(&schema, &span);
		return false;
	}
	*ret_span = span;
	return true;
}
