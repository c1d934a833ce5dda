/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "perf-stats.h"
#include "schema.h"

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

#define FIELD(key, member, ...) \
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

GROUP(outcomes, FIELD("success", outcomes[PERF_SUCCESS]),
    FIELD("partial", outcomes[PERF_PARTIAL]),
    FIELD("failure", outcomes[PERF_FAILURE]),
    FIELD("timeout", outcomes[PERF_TIMEOUT]));
GROUP(verification, FIELD("passed", passed), FIELD("failed", failed),
    FIELD("unknown", unverified));
GROUP(runtime, FIELD("average", average_ms), FIELD("p50", p50_ms),
    FIELD("p90", p90_ms));
GROUP(tokens, FIELD("input", tokens_in), FIELD("output", tokens_out),
    FIELD("total", tokens_all));

static const struct schema_field fields[] = {
	NAME("agent",
	    "the card or, without one, the role that was asked for; default: "
	    "neither was; with --by agent"),
	NAME("model", "null: not known; with --by model"),
	NAME("task_type",
	    "the role it was spawned with; null: none; with --by task-type"),
	FIELD("runs", runs),
	SCHEMA_GROUP("outcomes", outcomes),
	FIELD("success_rate", rate, .flags = SCHEMA_REQUIRED,
	    .help = "from 0 to 1"),
	SCHEMA_GROUP("verification", verification),
	FIELD("reports", reports,
	    .help = "runs whose agent reported how it ended"),
	FIELD("retries", retries,
	    .help = "runs that were not the first of their task"),
	SCHEMA_GROUP("runtime_ms", runtime),
	SCHEMA_GROUP("tokens", tokens,
	    .help = "of the runs whose tokens are known, without those that "
		    "were read from the cache"),
	FIELD("cost_usd", cost,
	    .help = "of the runs whose cost is known; null: of none"),
	FIELD("runs_without_cost", uncosted),
};

const struct schema perf_group_schema = SCHEMA_OF(struct perf_group, fields);

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
