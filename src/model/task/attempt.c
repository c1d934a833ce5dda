/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "account.h"
#include "attempt.h"
#include "schema.h"
#include "task.h"

/* --- records --------------------------------------------------------- */

const char *const verification_state_words[VERIFICATION_STATE_COUNT + 1] = {
	[VERIFICATION_NONE] = "none",
	[VERIFICATION_PENDING] = "pending",
	[VERIFICATION_RUNNING] = "running",
	[VERIFICATION_PASSED] = "passed",
	[VERIFICATION_FAILED] = "failed",
};

const char *const review_state_words[REVIEW_STATE_COUNT + 1] = {
	[REVIEW_NONE] = "none",
	[REVIEW_OPEN] = "open",
	[REVIEW_APPROVED] = "approved",
	[REVIEW_FINDINGS] = "findings",
	[REVIEW_FAILED] = "failed",
};

#define FIELD(key, member, ...)                        \
	SCHEMA_FIELD(struct task_attempt, key, member, \
	    .flags = SCHEMA_OMIT_UNSET, ##__VA_ARGS__)

static const struct schema_field attempt_fields[] = {
	FIELD("base", base),
	FIELD("verification", verification, .words = verification_state_words),
	FIELD("verified", verified),
	FIELD("retry_of", retry_of),
	FIELD("session", session),
	FIELD("first_words", first_words),
	FIELD("last_tool", last_tool),
	FIELD("report", report),
	FIELD("report_by_tool", report_by_tool),
	FIELD("progress", progress),
	FIELD("progress_count", progress_count),
	FIELD("progress_ms", progress_ms),
	FIELD("progress_call", progress_call),
	FIELD("started_ms", started_ms),
	FIELD("spent_before", spent_before),
	FIELD("ended", ended),
	FIELD("announced", announced),
	FIELD("has_spawned", has_spawned),
	FIELD("elsewhere", elsewhere),
	FIELD("lost", lost),
	FIELD("untold", untold),
	FIELD("rebase_due", rebase_due),
	FIELD("children_landed", children_landed),
	FIELD("timed_out", timed_out),
	FIELD("by_mail", by_mail),
	FIELD("mail_turns", mail_turns),
	FIELD("waiting_ms", waiting_ms),
	FIELD("waited_ms", waited_ms),
	FIELD("review", review, .words = review_state_words),
	FIELD("review_of", review_of),
	FIELD("review_said", review_said),
	FIELD("review_rounds", review_rounds),
	FIELD("review_tries", review_tries),
	FIELD("review_why", review_why),
	FIELD("scope_checked", scope_checked),
	FIELD("violations", violations),
};

const struct schema task_attempt_schema =
    SCHEMA_OF(struct task_attempt, attempt_fields);

bool
task_is_spawned(const struct task *task)
{
	return task->launch.parent != NULL || task->launch.depth > 0;
}

bool
task_is_for_team(const struct task *task)
{
	return task_is_spawned(task) && !text_is(task->source, HOSTS_SOURCE);
}

bool
task_is_child(const struct task *task)
{
	return task->launch.parent != NULL;
}

const struct task *
task_purse(struct task *const *tasks, size_t count, const struct task *task)
{
	for (size_t i = 0;
	     task_is_child(task) && !task->launch.own_budget && i < count; i++)
		if (tasks[i] != task &&
		    strcmp(tasks[i]->id, task->launch.parent) == 0)
			return tasks[i];
	return NULL;
}

struct budget
task_family_spent(
    struct task *const *tasks, size_t count, const struct task *task)
{
	struct budget spent = { .tokens = task->tokens + task->family_tokens,
		.cost = task->spent.cost + task->family_cost };

	for (size_t i = 0; task->attempt.has_spawned && i < count; i++) {
		struct budget below;

		if (tasks[i]->step == TASK_SETTLING ||
		    task_purse(tasks, count, tasks[i]) != task)
			continue;
		below = task_family_spent(tasks, count, tasks[i]);
		spent.tokens += below.tokens;
		spent.cost += below.cost;
	}
	return spent;
}

void
task_family_ended(struct task *purse, const struct task *task)
{
	purse->family_tokens += task->tokens + task->family_tokens;
	purse->family_cost += task->spent.cost + task->family_cost;
}

bool
task_is_special(const struct task *task)
{
	const struct task_launch *launch = &task->launch;

	return task->attempts > 0 || task_is_spawned(task) ||
	    launch->role != NULL || launch->label != NULL ||
	    launch->contract != NULL || launch->report_only;
}

bool
task_has_landed(const struct task *task)
{
	return task->outcome == OUTCOME_LANDED || task->attempt.children_landed;
}

char *
task_attempt_id(const struct task *task)
{
	return xasprintf("%s-%d", task->id, task->attempts);
}

char *
task_actor(const struct task *task)
{
	return task->launch.actor != NULL ?
	    xstrdup(task->launch.actor) :
	    xasprintf("actor:task:%s", task->id);
}

void
task_attempt_begin(struct task *task, int64_t now_ms)
{
	struct task_attempt *attempt = &task->attempt;

	xstrset(&attempt->session, NULL);
	xstrset(&attempt->first_words, NULL);
	xstrset(&attempt->last_tool, NULL);
	json_object_put(take_ptr(&attempt->report));
	attempt->report_by_tool = false;
	json_object_put(take_ptr(&attempt->progress));
	attempt->progress_count = 0;
	attempt->progress_ms = 0;
	xstrset(&attempt->progress_call, NULL);
	attempt->started_ms = now_ms;
	attempt->timed_out = false;
	attempt->by_mail = false;
	attempt->mail_turns = 0;
	if (attempt->spent_before == NULL)
		task_attempt_spent(task);
}

void
task_attempt_spent(struct task *task)
{
	struct task_attempt *attempt = &task->attempt;

	json_object_put(attempt->spent_before);
	attempt->spent_before = json_object_new_object();
	schema_add(&spent_schema, &task->spent, attempt->spent_before);
}

bool
task_attempt_waits(struct task *task, bool waits, int64_t now_ms)
{
	struct task_attempt *attempt = &task->attempt;

	if (waits == (attempt->waiting_ms != 0))
		return false;
	if (!waits && now_ms > attempt->waiting_ms)
		attempt->waited_ms += now_ms - attempt->waiting_ms;
	attempt->waiting_ms = waits ? now_ms : 0;
	return true;
}

int64_t
task_attempt_time(const struct task *task, int64_t now_ms)
{
	const struct task_attempt *attempt = &task->attempt;
	int64_t time = now_ms - task->assigned_ms;

	if (attempt->waiting_ms != 0)
		time -= now_ms - attempt->waiting_ms;
	return time - attempt->waited_ms;
}

void
task_turn_ended(struct task *task)
{
	task->turns++;
	if (task->attempt.by_mail)
		task->attempt.mail_turns++;
	task->attempt.by_mail = false;
}

int
task_attempt_turns(const struct task *task)
{
	int resumed = task->turns_allowed - task->turns_before;
	int turns = task->turns - task->attempt.mail_turns -
	    (resumed > 0 ? resumed : 0);

	return turns > 0 ? turns : 0;
}

/* --- the status ------------------------------------------------------ */

const char *const run_status_words[RUN_STATUS_COUNT + 1] = { "queued",
	"running", "waiting", "blocked", "verifying", "landing", "done",
	"failed", "cancelled", "idle", NULL };

static enum run_status
by_outcome(enum task_outcome outcome, const char *why, const char **reason)
{
	switch (outcome) {
	case OUTCOME_LANDED:
	case OUTCOME_NO_CHANGES:
		return RUN_DONE;
	case OUTCOME_ABORTED:
		return RUN_CANCELLED;
	case OUTCOME_NONE:
	case OUTCOME_FAILED:
	case OUTCOME_DEAD_LETTER:
	case OUTCOME_COUNT:
		break;
	}
	*reason = why;
	return RUN_FAILED;
}

static enum run_status
at_work(const struct run_facts *f, const char **reason)
{
	if (f->pending > 0) {
		*reason = f->pending_reason;
		return RUN_BLOCKED;
	}
	if (f->worker == WORKER_PAUSED || f->worker == WORKER_LIMITED ||
	    f->worker == WORKER_ERROR) {
		*reason = f->worker_reason;
		return RUN_BLOCKED;
	}
	if (f->task->attempt.verification == VERIFICATION_RUNNING ||
	    (f->worker == WORKER_NEEDS_REVIEW &&
		f->task->attempt.review == REVIEW_OPEN))
		return RUN_VERIFYING;
	if (f->worker == WORKER_WAITING)
		return RUN_WAITING;
	return f->worker == WORKER_ACCEPTING ? RUN_LANDING : RUN_RUNNING;
}

enum run_status
run_status(const struct run_facts *f, const char **ret_reason)
{
	const char *unused = NULL,
		   **reason = ret_reason != NULL ? ret_reason : &unused;

	*reason = NULL;
	if (f->task == NULL && f->filed != OUTCOME_NONE)
		return by_outcome(f->filed, f->filed_reason, reason);
	if (f->task == NULL) {
		switch (f->node) {
		case NODE_DONE:
			return RUN_DONE;
		case NODE_CANCELLED:
			return RUN_CANCELLED;
		case NODE_BLOCKED:
			*reason = f->node_reason;
			return RUN_FAILED;
		case NODE_TODO:
		case NODE_QUEUED:
		case NODE_IN_PROGRESS:
			return RUN_QUEUED;
		case NODE_STATUS_COUNT:
			break;
		}
		if (f->pending == 0)
			return RUN_IDLE;
		*reason = f->pending_reason;
		return RUN_BLOCKED;
	}
	switch (f->task->step) {
	case TASK_OFFERED:
	case TASK_WAITING:
		return RUN_QUEUED;
	case TASK_ASSIGNED:
		return at_work(f, reason);
	case TASK_ELSEWHERE:
		return RUN_RUNNING;
	case TASK_QUEUED:
	case TASK_LANDED:
		return RUN_LANDING;
	case TASK_PARKED:
		*reason =
		    f->task->ask == ASK_QUESTION ? TASK_ASKS : f->task->reason;
		return RUN_BLOCKED;
	case TASK_SETTLING:
	case TASK_STEP_COUNT:
		break;
	}
	return by_outcome(f->task->outcome, f->task->reason, reason);
}

/* --- how it went --------------------------------------------------------- */

const char *const perf_outcome_words[PERF_OUTCOME_COUNT + 1] = { "success",
	"partial", "failure", "timeout", NULL };

#define PERF_FIELD(key, member, ...) \
	SCHEMA_FIELD(struct perf_record, key, member, ##__VA_ARGS__)
#define MUST(key, member, ...) \
	PERF_FIELD(key, member, .flags = SCHEMA_REQUIRED, ##__VA_ARGS__)
#define MAY(key, member) PERF_FIELD(key, member, .flags = SCHEMA_OMIT_UNSET)

static const struct schema_field report_fields[] = {
	MAY("status", report_status),
	MAY("confidence", report_confidence),
};
static const struct schema report =
    SCHEMA_OF(struct perf_record, report_fields);

static const struct schema_field token_fields[] = {
	PERF_FIELD("input", tokens_in, .flags = SCHEMA_UNKNOWN),
	PERF_FIELD("output", tokens_out, .flags = SCHEMA_UNKNOWN),
};
static const struct schema tokens = SCHEMA_OF(struct perf_record, token_fields);

static const struct schema_field fields[] = {
	MUST("runId", run),
	MUST("agentId", agent),
	MAY("taskType", task_type),
	PERF_FIELD("spawnerSessionKey", spawner),
	MAY("retryOf", retry_of),
	MAY("worker", worker),
	MAY("goal", goal),
	PERF_FIELD("startedAt", started_ms),
	MUST("endedAt", ended_ms),
	PERF_FIELD("runtimeMs", runtime_ms, .flags = SCHEMA_CLAMP),
	MUST("outcome", outcome, .words = perf_outcome_words),
	SCHEMA_AS(struct perf_record, "verificationPassed", TRUTH, verified,
	    .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("completionReport", report, .flags = SCHEMA_OMIT_UNSET),
	SCHEMA_GROUP("tokens", tokens),
	MAY("model", model),
	PERF_FIELD("costUsd", cost),
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
	record.reported = json_member(json, "completionReport") != NULL;
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

	if (task->attempt.spent_before != NULL)
		schema_read(&spent_schema, task->attempt.spent_before,
		    "spent_before", &before, NULL);
	return spent_beyond(&task->spent, &before);
}

const char *
perf_record_model(const struct usage *usage)
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
	cleanup_free char *id = NULL, *before = NULL, *goal = NULL;
	struct perf_record record;
	struct json_object *json;
	struct spent spent;

	if (task->attempt.started_ms == 0)
		return;
	id = task_attempt_id(task);
	if (task->attempts > 1)
		before = xasprintf("%s-%d", task->id, task->attempts - 1);
	/* Of a task on a node, its key begins with the goal. */
	if (task->source != NULL && task->key != NULL &&
	    strcmp(task->source, "plan") == 0)
		goal = xstrndup(task->key, strcspn(task->key, "/"));
	spent = perf_record_spent(task);
	record = (struct perf_record){
		.run = id,
		.agent = task->launch.agent != NULL ? task->launch.agent :
		    task->launch.role != NULL       ? task->launch.role :
						      PERF_AGENT_DEFAULT,
		.task_type = filled(task->launch.role),
		.spawner = task->launch.parent_actor != NULL ?
		    task->launch.parent_actor :
		    ACTOR_OVERSEER,
		.retry_of = before,
		.worker = filled(task->worker),
		.goal = filled(goal),
		.started_ms = task->attempt.started_ms,
		.ended_ms = now_ms,
		.runtime_ms = now_ms > task->attempt.started_ms ?
		    now_ms - task->attempt.started_ms :
		    0,
		.report_status = filled(
		    json_string_or(task->attempt.report, "status", NULL)),
		.report_confidence = filled(
		    json_string_or(task->attempt.report, "confidence", NULL)),
		.verified = task->attempt.verification == VERIFICATION_PASSED ?
		    1 :
		    task->attempt.verification == VERIFICATION_FAILED ? 0 :
									-1,
		.model = filled(perf_record_model(&spent.usage)),
		.cost = spent_source(&spent) == COST_UNKNOWN ?
		    NAN :
		    (double)spent.cost / 1e6,
		.tokens_in = -1,
		.tokens_out = -1,
	};
	record.outcome = perf_record_outcome(outcome, task->attempt.timed_out,
	    json_string_or(task->attempt.report, "status", NULL));
	if (record.model == NULL)
		record.model = filled(task->launch.model);
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
	if (task->attempt.report != NULL &&
	    json_member(json, "completionReport") == NULL)
		json_set(json, "completionReport", json_object_new_object());
	if (task->last_words != NULL)
		json_set_string(json, PERF_LAST_WORDS, task->last_words);
	if (task->attempt.ended == NULL)
		task->attempt.ended = json_object_new_object();
	json_set(task->attempt.ended, id, json);
	task->attempt.started_ms = 0;
	task_attempt_spent(task);
}

const char *const perf_by_words[PERF_BY_COUNT + 1] = { "agent", "model",
	"task-type", NULL };

struct sum {
	char *name;
	struct perf_group group;
	int64_t *times; /* of each run */
	size_t room;
};

struct perf_stats {
	enum perf_by by;
	struct sum *sums; /* by name */
	size_t count;
};

struct perf_stats *
perf_stats_new(enum perf_by by)
{
	struct perf_stats *stats = xcalloc(1, sizeof *stats);

	stats->by = by;
	return stats;
}

void
perf_stats_free(struct perf_stats *stats)
{
	if (stats == NULL)
		return;
	for (size_t i = 0; i < stats->count; i++) {
		free(stats->sums[i].name);
		free(stats->sums[i].times);
	}
	free(stats->sums);
	free(stats);
}

/* The sum of that name, made if there is none. */
static struct sum *
sum_of(struct perf_stats *stats, const char *name)
{
	size_t low = 0, high = stats->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(stats->sums[middle].name, name);

		if (order == 0)
			return &stats->sums[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	stats->sums =
	    xreallocarray(stats->sums, stats->count + 1, sizeof(struct sum));
	memmove(&stats->sums[low + 1], &stats->sums[low],
	    (stats->count - low) * sizeof(struct sum));
	stats->count++;
	stats->sums[low] = (struct sum){ .name = xstrdup(name) };
	return &stats->sums[low];
}

static int64_t
known(int64_t number)
{
	return number < 0 ? 0 : number;
}

void
perf_stats_add(struct perf_stats *stats, const struct perf_record *record)
{
	const char *names[] = {
		[PERF_BY_AGENT] = record->agent,
		[PERF_BY_MODEL] = record->model,
		[PERF_BY_TASK_TYPE] = record->task_type,
	};
	const char *name = names[stats->by];
	struct sum *sum = sum_of(stats, name != NULL ? name : "");
	struct perf_group *group = &sum->group;
	int64_t ms = record->runtime_ms;
	size_t runs = (size_t)sum->group.runs;

	if (runs == sum->room) {
		sum->room = sum->room == 0 ? 16 : sum->room * 2;
		sum->times =
		    xreallocarray(sum->times, sum->room, sizeof(int64_t));
	}
	sum->times[runs] = ms;
	group->runs++;
	group->outcomes[record->outcome]++;
	group->passed += record->verified == 1;
	group->failed += record->verified == 0;
	group->unverified += record->verified < 0;
	group->reports += record->reported;
	group->retries += record->retry_of != NULL;
	group->tokens_in += known(record->tokens_in);
	group->tokens_out += known(record->tokens_out);
	if (!isnan(record->cost)) {
		group->cost += record->cost;
		group->costed++;
	}
}

size_t
perf_stats_count(const struct perf_stats *stats)
{
	return stats->count;
}

static int
compare_times(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

	return (one > other) - (one < other);
}

/* So many hundredths of the runs took no longer. */
static int64_t
percentile(const struct sum *sum, int64_t percent)
{
	int64_t rank = (sum->group.runs * percent + 99) / 100;

	return sum->times[rank > 0 ? rank - 1 : 0];
}

struct perf_group
perf_stats_group(struct perf_stats *stats, size_t index)
{
	struct sum *sum = &stats->sums[index];
	struct perf_group group = sum->group;
	double all = 0;

	qsort(sum->times, (size_t)group.runs, sizeof(int64_t), compare_times);
	for (int64_t i = 0; i < group.runs; i++)
		all += (double)sum->times[i];
	group.name = sum->name;
	group.average_ms = (int64_t)llround(all / (double)group.runs);
	group.p50_ms = percentile(sum, 50);
	group.p90_ms = percentile(sum, 90);
	group.rate = (double)group.outcomes[PERF_SUCCESS] / (double)group.runs;
	group.tokens_all = group.tokens_in + group.tokens_out;
	group.uncosted = group.runs - group.costed;
	if (group.costed == 0)
		group.cost = NAN;
	return group;
}

#define SUM(key, member, ...) \
	SCHEMA_FIELD(struct perf_group, key, member, ##__VA_ARGS__)
#define GROUP(name, ...)                                                    \
	static const struct schema_field name##_fields[] = { __VA_ARGS__ }; \
	static const struct schema name =                                   \
	    SCHEMA_OF(struct perf_group, name##_fields)
#define NAME(key, words)                                                    \
	{                                                                   \
		.name = (key), .type = SCHEMA_STRING,                       \
		.flags = SCHEMA_OPTIONAL | SCHEMA_NULLABLE, .help = (words) \
	}

GROUP(outcomes, SUM("success", outcomes[PERF_SUCCESS]),
    SUM("partial", outcomes[PERF_PARTIAL]),
    SUM("failure", outcomes[PERF_FAILURE]),
    SUM("timeout", outcomes[PERF_TIMEOUT]));
GROUP(verification, SUM("passed", passed), SUM("failed", failed),
    SUM("unknown", unverified));
GROUP(runtime, SUM("average", average_ms), SUM("p50", p50_ms),
    SUM("p90", p90_ms));
GROUP(token_sums, SUM("input", tokens_in), SUM("output", tokens_out),
    SUM("total", tokens_all));

static const struct schema_field group_fields[] = {
	NAME("agent",
	    "the card or, without one, the role that was asked for; default: "
	    "neither was; with --by agent"),
	NAME("model", "null: not known; with --by model"),
	NAME("task_type",
	    "the role it was spawned with; null: none; with --by task-type"),
	SUM("runs", runs),
	SCHEMA_GROUP("outcomes", outcomes),
	SUM("success_rate", rate, .flags = SCHEMA_REQUIRED,
	    .help = "from 0 to 1"),
	SCHEMA_GROUP("verification", verification),
	SUM("reports", reports,
	    .help = "runs whose agent reported how it ended"),
	SUM("retries", retries,
	    .help = "runs that were not the first of their task"),
	SCHEMA_GROUP("runtime_ms", runtime),
	SCHEMA_GROUP("tokens", token_sums,
	    .help = "of the runs whose tokens are known, without those that "
		    "were read from the cache"),
	SUM("cost_usd", cost,
	    .help = "of the runs whose cost is known; null: of none"),
	SUM("runs_without_cost", uncosted),
};

const struct schema perf_group_schema =
    SCHEMA_OF(struct perf_group, group_fields);

struct json_object *
perf_stats_to_json(struct perf_stats *stats)
{
	static const char *const keys[] = { "agent", "model", "task_type" };
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < stats->count; i++) {
		struct perf_group group = perf_stats_group(stats, i);
		struct json_object *json = json_object_new_object();

		json_set_string(json, keys[stats->by],
		    *group.name != '\0' ? group.name : NULL);
		schema_add(&perf_group_schema, &group, json);
		json_object_array_add(list, json);
	}
	return list;
}
