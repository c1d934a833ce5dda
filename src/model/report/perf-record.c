/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "perf-record.h"
#include "task-run.h"
#include "word.h"

const char *const perf_outcome_words[PERF_OUTCOME_COUNT + 1] = { "success",
	"partial", "failure", "timeout", NULL };

/* --- reading ---------------------------------------------------------- */

static int64_t
number_or_unknown(struct json_object *json, const char *key)
{
	int64_t number = json_int_or(json, key, -1);

	return number < 0 ? -1 : number;
}

int
perf_record_read(
    struct json_object *json, struct perf_record *ret_record, struct err *err)
{
	struct perf_record record = { .verified = -1, .cost = NAN };
	struct json_object *report = NULL, *tokens = NULL;
	unsigned outcome = 0;
	bool passed = false;
	int r;

	if ((r = json_get_string(json, "", "runId", &record.run, err)) < 0 ||
	    (r = json_get_string(json, "", "agentId", &record.agent, err)) <
		0 ||
	    (r = json_get_int(json, "", "endedAt", 0, INT64_MAX,
		 &record.ended_ms, err)) < 0 ||
	    (r = word_get(
		 json, "", "outcome", perf_outcome_words, &outcome, err)) < 0)
		return r == -ENOENT ? -EINVAL : r;
	record.outcome = (enum perf_outcome)outcome;
	record.started_ms = json_int_or(json, "startedAt", record.ended_ms);
	record.runtime_ms = json_int_or(json, "runtimeMs", 0);
	if (record.runtime_ms < 0)
		record.runtime_ms = 0;
	if (json_get_bool(json, "", "verificationPassed", &passed, NULL) == 0)
		record.verified = passed;
	json_object_object_get_ex(json, "completionReport", &report);
	record.reported = report != NULL;
	record.report_status = json_string_or(report, "status", NULL);
	record.report_confidence = json_string_or(report, "confidence", NULL);
	json_object_object_get_ex(json, "tokens", &tokens);
	record.tokens_in = number_or_unknown(tokens, "input");
	record.tokens_out = number_or_unknown(tokens, "output");
	json_get_double(json, "", "costUsd", &record.cost, NULL);
	record.task_type = json_string_or(json, "taskType", NULL);
	record.spawner = json_string_or(json, "spawnerSessionKey", NULL);
	record.retry_of = json_string_or(json, "retryOf", NULL);
	record.model = json_string_or(json, "model", NULL);
	record.worker = json_string_or(json, "worker", NULL);
	record.goal = json_string_or(json, "goal", NULL);
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

static void
set_if(struct json_object *json, const char *key, const char *value)
{
	if (value != NULL && *value != '\0')
		json_set_string(json, key, value);
}

/* What this attempt has used. */
static struct spent
spent_by(const struct task *task)
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

/* As budgets count: what was read from the cache is not counted. */
static void
set_tokens(struct json_object *json, const struct usage *usage)
{
	struct json_object *tokens = json_object_new_object();
	int64_t out = 0;

	for (size_t i = 0; i < usage->count; i++)
		out += usage->models[i].tokens[USAGE_OUTPUT];
	if (usage->count == 0) {
		json_set(tokens, "input", NULL);
		json_set(tokens, "output", NULL);
	} else {
		json_set_int(tokens, "input", usage_budget_tokens(usage) - out);
		json_set_int(tokens, "output", out);
	}
	json_set(json, "tokens", tokens);
}

static void
set_spent(struct json_object *json, const struct task *task)
{
	struct spent spent = spent_by(task);
	const char *model = model_of(&spent.usage);

	set_tokens(json, &spent.usage);
	set_if(json, "model", model != NULL ? model : task->run->model);
	json_set(json, "costUsd",
	    spent_source(&spent) == COST_UNKNOWN ?
		NULL :
		json_object_new_double((double)spent.cost / 1e6));
}

static void
set_report(struct json_object *json, struct json_object *report)
{
	struct json_object *part;

	if (report == NULL)
		return;
	part = json_object_new_object();
	set_if(part, "status", json_string_or(report, "status", NULL));
	set_if(part, "confidence", json_string_or(report, "confidence", NULL));
	json_set(json, "completionReport", part);
}

/* Of a task on a node, its key begins with the goal. */
static void
set_goal(struct json_object *json, const struct task *task)
{
	bool planned = task->source != NULL && task->key != NULL &&
	    strcmp(task->source, "plan") == 0;
	cleanup_free char *goal =
	    planned ? xstrndup(task->key, strcspn(task->key, "/")) : NULL;

	set_if(json, "goal", goal != NULL ? goal : task->goal);
}

static void
set_place(struct json_object *json, const struct task *task, const char *id)
{
	const struct task_run *run = task->run;
	cleanup_free char *before = task->attempts > 1 ?
	    xasprintf("%s-%d", task->id, task->attempts - 1) :
	    NULL;

	json_set_string(json, "runId", id);
	json_set_string(json, "agentId",
	    run->agent != NULL    ? run->agent :
		run->role != NULL ? run->role :
				    PERF_AGENT_DEFAULT);
	set_if(json, "taskType", run->role);
	json_set_string(json, "spawnerSessionKey",
	    run->parent_actor != NULL ? run->parent_actor : ACTOR_OVERSEER);
	set_if(json, "retryOf", before);
	set_if(json, "worker", task->worker);
	set_goal(json, task);
}

void
perf_record_end(struct task *task, enum task_outcome outcome, int64_t now_ms)
{
	struct task_run *run = task->run;
	cleanup_free char *id = NULL;
	struct json_object *json;
	int64_t ran;

	if (run == NULL || run->started_ms == 0)
		return;
	id = task_run_id(task);
	ran = now_ms > run->started_ms ? now_ms - run->started_ms : 0;
	json = json_object_new_object();
	set_place(json, task, id);
	json_set_int(json, "startedAt", run->started_ms);
	json_set_int(json, "endedAt", now_ms);
	json_set_int(json, "runtimeMs", ran);
	json_set_string(json, "outcome",
	    perf_outcome_words[perf_record_outcome(outcome, run->timed_out,
		json_string_or(run->report, "status", NULL))]);
	if (run->verification == VERIFICATION_PASSED ||
	    run->verification == VERIFICATION_FAILED)
		json_set_bool(json, "verificationPassed",
		    run->verification == VERIFICATION_PASSED);
	set_report(json, run->report);
	set_spent(json, task);
	if (run->ended == NULL)
		run->ended = json_object_new_object();
	json_set(run->ended, id, json);
	run->started_ms = 0;
}
