/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "account.h"
#include "counters.h"
#include "view-private.h"

const int64_t counters_bounds[COUNTERS_BUCKETS] = { 60, 300, 600, 1800, 3600,
	7200, 14400, 28800, 86400 };

const char *const counters_reasons[] = { "check", "conflict", "contract",
	"stall", "timeout", "uncommitted", "question", "refused", "no_commit",
	"session", "other", NULL };

/* Words of a reason, and what it is counted as. Those that come first in it
 * count: what an agent or a program said follows ours. */
static const struct {
	const char *words;
	const char *as;
} reasons[] = {
	{ "check of your work", "check" },
	{ "check_command", "check" },
	{ "failed its check", "check" },
	{ "conflict", "conflict" },
	{ "rebase", "conflict" },
	{ "contract", "contract" },
	{ "verif", "contract" },
	{ "sign of life", "stall" },
	{ "stall", "stall" },
	{ "took too long", "timeout" },
	{ "timed out", "timeout" },
	{ "timeout", "timeout" },
	{ "not committed", "uncommitted" },
	{ "uncommitted", "uncommitted" },
	{ "question", "question" },
	{ "refused", "refused" },
	{ "no commit", "no_commit" },
	{ "session", "session" },
};

const char *
counters_reason(const char *reason)
{
	const char *as = "other", *first = NULL;

	for (size_t i = 0; reason != NULL && i < nitems(reasons); i++) {
		const char *at = strstr(reason, reasons[i].words);

		if (at != NULL && (first == NULL || at < first)) {
			first = at;
			as = reasons[i].as;
		}
	}
	return as;
}

/* --- numbers --------------------------------------------------------- */

/* The object of that name, made if there is none. */
static struct json_object *
part(struct json_object *json, const char *name)
{
	struct json_object *object = json_object_object_get(json, name);

	if (!json_object_is_type(object, json_type_object)) {
		object = json_object_new_object();
		json_set(json, name, object);
	}
	return object;
}

static struct json_object *
family(struct json_object **counters, const char *name)
{
	if (*counters == NULL)
		*counters = json_object_new_object();
	return part(*counters, name);
}

static void
add(struct json_object *object, const char *key, int64_t more)
{
	int64_t old = json_int_or(object, key, 0);

	if (more > 0)
		json_set_int(object, key,
		    old > INT64_MAX - more ? INT64_MAX : old + more);
}

/* --- what is counted ------------------------------------------------- */

void
counters_event(struct json_object **counters, const char *type)
{
	add(family(counters, "events"), type, 1);
}

void
counters_attempt_failed(struct json_object **counters, const char *reason)
{
	add(family(counters, "attempts_failed"), counters_reason(reason), 1);
}

void
counters_task(
    struct json_object **counters, const char *outcome, int64_t duration_ms)
{
	struct json_object *of = part(family(counters, "tasks"), outcome);
	struct json_object *run = NULL;
	cleanup_free char *bucket = NULL;
	size_t i = 0;

	while (i < COUNTERS_BUCKETS && duration_ms > counters_bounds[i] * 1000)
		i++;
	bucket = xasprintf("le%zu", i);
	add(of, bucket, 1);
	add(of, "count", 1);
	add(of, "sum_ms", duration_ms);
	if (json_object_object_get_ex(*counters, "run", &run))
		add(run, outcome, 1);
}

void
counters_run_begins(struct json_object **counters)
{
	family(counters, "run");
	json_set(*counters, "run", json_object_new_object());
}

void
counters_work(struct json_object **counters, const char *use, int64_t ms)
{
	add(family(counters, "work_ms"), use, ms);
}

/* As the API calls them. */
static const char *const types[USAGE_KINDS] = {
	[USAGE_INPUT] = "input",
	[USAGE_OUTPUT] = "output",
	[USAGE_CACHE_READ] = "cacheRead",
	[USAGE_CACHE_WRITE_5M] = "cacheCreation",
	[USAGE_CACHE_WRITE_1H] = "cacheCreation",
};

/* A model of a family: past the first ones, all others are one. */
static struct json_object *
model_part(struct json_object *models, const char *name)
{
	if (json_object_object_length(models) >= COUNTERS_MODELS - 1 &&
	    !json_object_object_get_ex(models, name, NULL))
		name = USAGE_OTHERS;
	return part(models, name);
}

void
counters_tokens(struct json_object **counters, const struct usage *usage)
{
	for (size_t m = 0; m < usage->count; m++) {
		const struct usage_model *used = &usage->models[m];
		struct json_object *tokens =
		    model_part(family(counters, "tokens"), used->name);

		for (int k = 0; k < USAGE_KINDS; k++)
			add(tokens, types[k], used->tokens[k]);
	}
}

/* What a model has cost by the prices, or nearly nothing if it has none. */
static double
weight_of(const struct usage_model *used, const struct price_list *prices)
{
	const struct usage alone = { .models = { *used }, .count = 1 };
	struct price_sum sum = price_of(prices, &alone);

	return (double)sum.cost + (double)sum.unpriced * 1e-9;
}

void
counters_cost(struct json_object **counters, const struct usage *usage,
    const struct price_list *prices, enum cost_source source, int64_t cost)
{
	const char *word = cost_source_words[source];
	struct json_object *models;
	double all = 0;
	int64_t left = cost;

	if (cost <= 0)
		return;
	models = family(counters, "cost");
	for (size_t m = 0; m < usage->count; m++)
		all += weight_of(&usage->models[m], prices);
	for (size_t m = 0; m < usage->count && all > 0; m++) {
		const struct usage_model *used = &usage->models[m];
		double part = (double)cost * weight_of(used, prices) / all;
		/* The last one has what rounding leaves. */
		int64_t take = m + 1 < usage->count && part < (double)left ?
		    (int64_t)(part + 0.5) :
		    left;

		if (take > left)
			take = left;
		if (take > 0)
			add(model_part(models, used->name), word, take);
		left -= take;
	}
	if (left > 0)
		add(model_part(models, USAGE_OTHERS), word, left);
}
