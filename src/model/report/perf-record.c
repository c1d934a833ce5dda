/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "perf-record.h"
#include "schema.h"
#include "task-run.h"

const char *const perf_outcome_words[PERF_OUTCOME_COUNT + 1] = { "success",
	"partial", "failure", "timeout", NULL };

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct perf_record, key, member, ##__VA_ARGS__)
#define MUST(key, member, ...) \
	FIELD(key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)
#define MAY(key, member) FIELD(key, member, .flags = SCHEMA_OMIT_UNSET)

static const struct schema_field report_fields[] = {
	MAY("status", report_status),
	MAY("confidence", report_confidence),
};
static const struct schema report =
    SCHEMA_OF(struct perf_record, report_fields);

static const struct schema_field token_fields[] = {
	FIELD("input", tokens_in, .flags = SCHEMA_UNKNOWN),
	FIELD("output", tokens_out, .flags = SCHEMA_UNKNOWN),
};
static const struct schema tokens = SCHEMA_OF(struct perf_record, token_fields);

static const struct schema_field fields[] = {
	MUST("runId", run),
	MUST("agentId", agent),
	MAY("taskType", task_type),
	FIELD("spawnerSessionKey", spawner),
	MAY("retryOf", retry_of),
	MAY("worker", worker),
	MAY("goal", goal),
	FIELD("startedAt", started_ms),
	MUST("endedAt", ended_ms),
	FIELD("runtimeMs", runtime_ms, .flags = SCHEMA_CLAMP),
	MUST("outcome", outcome, .words = perf_outcome_words),
	SCHEMA_AS(struct perf_record, "verificationPassed", TRUTH, verified,
	    .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("completionReport", report, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("tokens", tokens),
	MAY("model", model),
	FIELD("costUsd", cost),
};

static const struct schema schema = SCHEMA_OF(struct perf_record, fields);

int
perf_record_read(
    struct json_object *json, struct perf_record *ret_record, struct err *err)
{
	struct perf_record record = { .started_ms = -1,
		.verified = -1,
		.tokens_in = -1,
		.tokens_out = -1,
		.cost = NAN };

	if (schema_read(&schema, json, "", &record, err) < 0)
		return -EINVAL;
	if (record.started_ms < 0)
		record.started_ms = record.ended_ms;
	record.reported =
	    json_object_object_get(json, "completionReport") != NULL;
	*ret_record = record;
	return 0;
}

/* --- making ----------------------------------------------------------- */

enum perf_outcome
perf_record_outcome(
    enum task_outcome outcome, bool timed_out, const char *reported)
{
	bool done = outcome == OUTCOME_LANDED || outcome == OUTCOME_NO_CHANGES;

	if (!done)
		return timed_out ? PERF_TIMEOUT : PERF_FAILURE;
	return reported != NULL && strcmp(reported, "complete") != 0 ?
	    PERF_PARTIAL :
	    PERF_SUCCESS;
}

struct spent
perf_record_spent(const struct task *task)
{
	struct spent before = { 0 };

	if (task->run->spent_before != NULL)
		spent_from_json(
		    task->run->spent_before, "spent_before", &before, NULL);
	return spent_beyond(&task->spent, &before);
}

/* The model that has written most. */
static const char *
model_of(const struct usage *usage)
{
	const struct usage_model *most = NULL;

	for (size_t i = 0; i < usage->count; i++)
		if (most == NULL ||
		    usage->models[i].tokens[USAGE_OUTPUT] >
			most->tokens[USAGE_OUTPUT])
			most = &usage->models[i];
	return most != NULL ? most->name : NULL;
}

/* NULL = there is nothing in it. */
static const char *
filled(const char *text)
{
	return text != NULL && *text != '\0' ? text : NULL;
}

void
perf_record_end(struct task *task, enum task_outcome outcome, int64_t now_ms)
{
	struct task_run *run = task->run;
	cleanup_free char *id = NULL, *before = NULL, *goal = NULL;
	struct perf_record record;
	struct json_object *json;
	struct spent spent;

	if (run == NULL || run->started_ms == 0)
		return;
	id = task_run_id(task);
	if (task->attempts > 1)
		before = xasprintf("%s-%d", task->id, task->attempts - 1);
	/* Of a task on a node, its key begins with the goal. */
	if (task->source != NULL && task->key != NULL &&
	    strcmp(task->source, "plan") == 0)
		goal = xstrndup(task->key, strcspn(task->key, "/"));
	spent = perf_record_spent(task);
	record = (struct perf_record){
		.run = id,
		.agent = run->agent != NULL ? run->agent :
		    run->role != NULL       ? run->role :
					      PERF_AGENT_DEFAULT,
		.task_type = filled(run->role),
		.spawner = run->parent_actor != NULL ? run->parent_actor :
						       ACTOR_OVERSEER,
		.retry_of = before,
		.worker = filled(task->worker),
		.goal = filled(goal),
		.started_ms = run->started_ms,
		.ended_ms = now_ms,
		.runtime_ms =
		    now_ms > run->started_ms ? now_ms - run->started_ms : 0,
		.report_status =
		    filled(json_string_or(run->report, "status", NULL)),
		.report_confidence =
		    filled(json_string_or(run->report, "confidence", NULL)),
		.verified = run->verification == VERIFICATION_PASSED ? 1 :
		    run->verification == VERIFICATION_FAILED         ? 0 :
								       -1,
		.model = filled(model_of(&spent.usage)),
		.cost = spent_source(&spent) == COST_UNKNOWN ?
		    NAN :
		    (double)spent.cost / 1e6,
		.tokens_in = -1,
		.tokens_out = -1,
	};
	record.outcome = perf_record_outcome(outcome, run->timed_out,
	    json_string_or(run->report, "status", NULL));
	if (record.model == NULL)
		record.model = filled(run->model);
	if (spent.usage.count > 0) {
		/* As budgets count: what was read from the cache is not. */
		record.tokens_out = 0;
		for (size_t i = 0; i < spent.usage.count; i++)
			record.tokens_out +=
			    spent.usage.models[i].tokens[USAGE_OUTPUT];
		record.tokens_in =
		    usage_budget_tokens(&spent.usage) - record.tokens_out;
	}
	json = schema_json(&schema, &record);
	if (run->report != NULL &&
	    json_object_object_get(json, "completionReport") == NULL)
		json_set(json, "completionReport", json_object_new_object());
	if (task->last_words != NULL)
		json_set_string(json, PERF_LAST_WORDS, task->last_words);
	if (run->ended == NULL)
		run->ended = json_object_new_object();
	json_set(run->ended, id, json);
	run->started_ms = 0;
	task_run_spent(task);
}
