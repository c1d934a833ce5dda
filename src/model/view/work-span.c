/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "work-span.h"
#include "worker-status.h"

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

struct json_object *
work_span_to_json(const struct work_span *span)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "worker", span->worker);
	json_set_string(json, "use", work_use_words[span->use]);
	json_set_string(json, "task", span->task);
	json_set_int(json, "attempt", span->attempt);
	json_set_int(json, "from_ms", span->from_ms);
	json_set_int(json, "to_ms", span->to_ms);
	return json;
}

bool
work_span_from_json(struct json_object *json, struct work_span *ret_span)
{
	const char *worker = json_string_or(json, "worker", NULL);
	const char *use = json_string_or(json, "use", "");
	const char *task = json_string_or(json, "task", NULL);
	int64_t from = json_int_or(json, "from_ms", -1);
	int64_t to = json_int_or(json, "to_ms", -1);
	int word = 0;

	while (word < WORK_USE_COUNT && strcmp(work_use_words[word], use) != 0)
		word++;
	if (worker == NULL || word == WORK_USE_COUNT || from < 0 || to < from)
		return false;
	*ret_span = (struct work_span){
		.worker = xstrdup(worker),
		.use = (enum work_use)word,
		.task = task != NULL ? xstrdup(task) : NULL,
		.attempt = (int)json_int_or(json, "attempt", 0),
		.from_ms = from,
		.to_ms = to,
	};
	return true;
}
