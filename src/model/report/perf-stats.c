/* SPDX-License-Identifier: ISC */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "perf-stats.h"

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

bool
perf_stats_is_kept(int64_t ended_ms, int64_t now_ms)
{
	return ended_ms >= now_ms - PERF_KEEP_DAYS * PERF_DAY_MS;
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

static void
add_time(struct sum *sum, int64_t ms)
{
	size_t runs = (size_t)sum->group.runs;

	if (runs == sum->room) {
		sum->room = sum->room == 0 ? 16 : sum->room * 2;
		sum->times =
		    xreallocarray(sum->times, sum->room, sizeof(int64_t));
	}
	sum->times[runs] = ms;
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

	add_time(sum, record->runtime_ms);
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
	return group;
}

static struct json_object *
group_to_json(const struct perf_group *group, const char *by)
{
	struct json_object *json = json_object_new_object();
	struct json_object *part = json_object_new_object();

	json_set_string(json, by, *group->name != '\0' ? group->name : NULL);
	json_set_int(json, "runs", group->runs);
	for (size_t i = 0; i < PERF_OUTCOME_COUNT; i++)
		json_set_int(part, perf_outcome_words[i], group->outcomes[i]);
	json_set(json, "outcomes", part);
	json_set(json, "success_rate",
	    json_object_new_double(
		(double)group->outcomes[PERF_SUCCESS] / (double)group->runs));
	part = json_object_new_object();
	json_set_int(part, "passed", group->passed);
	json_set_int(part, "failed", group->failed);
	json_set_int(part, "unknown", group->unverified);
	json_set(json, "verification", part);
	json_set_int(json, "reports", group->reports);
	json_set_int(json, "retries", group->retries);
	part = json_object_new_object();
	json_set_int(part, "average", group->average_ms);
	json_set_int(part, "p50", group->p50_ms);
	json_set_int(part, "p90", group->p90_ms);
	json_set(json, "runtime_ms", part);
	part = json_object_new_object();
	json_set_int(part, "input", group->tokens_in);
	json_set_int(part, "output", group->tokens_out);
	json_set_int(part, "total", group->tokens_in + group->tokens_out);
	json_set(json, "tokens", part);
	json_set(json, "cost_usd",
	    group->costed == 0 ? NULL : json_object_new_double(group->cost));
	json_set_int(json, "runs_without_cost", group->runs - group->costed);
	return json;
}

struct json_object *
perf_stats_to_json(struct perf_stats *stats)
{
	static const char *const keys[] = { "agent", "model", "task_type" };
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < stats->count; i++) {
		struct perf_group group = perf_stats_group(stats, i);

		json_object_array_add(
		    list, group_to_json(&group, keys[stats->by]));
	}
	return list;
}
