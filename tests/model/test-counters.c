/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "account.h"
#include "metrics.h"

static struct json_object *
at(struct json_object *counters, const char *family, const char *key)
{
	return json_object_object_get(
	    json_object_object_get(counters, family), key);
}

static int64_t
number(struct json_object *counters, const char *family, const char *key)
{
	return json_object_get_int64(at(counters, family, key));
}

TEST(events_are_counted_by_type)
{
	cleanup_json struct json_object *c = NULL;

	counters_event(&c, "task_finished");
	counters_event(&c, "task_finished");
	counters_event(&c, "paused");
	ck_assert_int_eq(number(c, "events", "task_finished"), 2);
	ck_assert_int_eq(number(c, "events", "paused"), 1);
}

/* The reasons that the daemon gives, as they are worded. */
static const struct {
	const char *reason, *as;
} reasons[] = {
	{ NULL, "other" },
	{ "", "other" },
	{ "nobody has seen this before", "other" },
	{ "check_command failed with exit status 1", "check" },
	{ "main failed its check", "check" },
	{ "the work conflicts with main", "conflict" },
	{ "no sign of life for 30 minutes", "stall" },
	{ "the attempt took too long", "timeout" },
	{ "the agent asks a question", "question" },
	{ "the session ended", "session" },
};

TEST_ROWS(reasons_are_a_closed_list, nitems(reasons))
{
	const char *word = counters_reason(reasons[_i].reason);
	size_t known = 0;

	ck_assert_str_eq(word, reasons[_i].as);
	while (counters_reasons[known] != NULL &&
	    strcmp(counters_reasons[known], word) != 0)
		known++;
	ck_assert_ptr_nonnull(counters_reasons[known]);
}

TEST(durations_of_tasks_go_into_buckets)
{
	cleanup_json struct json_object *c = NULL;
	struct json_object *landed;

	counters_task(&c, "landed", 60000); /* at a bound: below it */
	counters_task(&c, "landed", 60001);
	counters_task(&c, "landed", INT64_C(1000000000));
	counters_task(&c, "failed", 0);
	landed = at(c, "tasks", "landed");
	ck_assert_int_eq(json_int_or(landed, "le0", 0), 1);
	ck_assert_int_eq(json_int_or(landed, "le1", 0), 1);
	ck_assert_int_eq(json_int_or(landed, "le9", 0), 1);
	ck_assert_int_eq(json_int_or(landed, "count", 0), 3);
	ck_assert_int_eq(json_int_or(landed, "sum_ms", 0), 1000120001);
	ck_assert_int_eq(json_int_or(at(c, "tasks", "failed"), "count", 0), 1);
}

#define OPUS  "claude-opus-5-5" /* $4 for a million tokens of input */
#define HAIKU "claude-haiku-5-5" /* $0.10 */

TEST(tokens_and_final_costs_are_counted_by_model)
{
	cleanup_json struct json_object *c = NULL;
	struct usage usage = { 0 }, none = { 0 };
	struct json_object *opus;

	usage_add(&usage, OPUS, USAGE_INPUT, 10000);
	usage_add(&usage, HAIKU, USAGE_INPUT, 1000000);
	usage_add(&usage, "unpriced", USAGE_INPUT, 7);
	usage_add(&usage, OPUS, USAGE_CACHE_WRITE_5M, 3);
	usage_add(&usage, OPUS, USAGE_CACHE_WRITE_1H, 4);
	counters_tokens(&c, &usage);
	counters_tokens(&c, &usage);
	opus = at(c, "tokens", OPUS);
	ck_assert_int_eq(json_int_or(opus, "input", 0), 20000);
	ck_assert_int_eq(json_int_or(opus, "cacheCreation", 0), 14);
	/* As Claude Code calculates it: each model has its own. */
	counters_cost(&c, &usage, NULL, COST_REPORTED, 40047 + 100000);
	counters_cost(&c, &usage, NULL, COST_ESTIMATE, 3);
	counters_cost(&c, &usage, NULL, COST_ESTIMATE, -700); /* only grow */
	counters_cost(&c, &none, NULL, COST_REPORTED, 9);
	ck_assert_int_eq(
	    json_int_or(at(c, "cost", OPUS), "reported", 0), 40047);
	ck_assert_int_eq(
	    json_int_or(at(c, "cost", HAIKU), "reported", 0), 100000);
	ck_assert_int_eq(json_int_or(at(c, "cost", "other"), "reported", 0), 9);
	ck_assert_ptr_null(at(c, "cost", "unpriced"));
	/* Nothing is lost to rounding. */
	ck_assert_int_eq(json_int_or(at(c, "cost", OPUS), "estimate", 0) +
		json_int_or(at(c, "cost", HAIKU), "estimate", 0),
	    3);
}

TEST(a_cost_of_models_without_a_price_is_theirs)
{
	cleanup_json struct json_object *c = NULL;
	struct usage usage = { 0 };

	usage_add(&usage, "unpriced", USAGE_INPUT, 7);
	counters_cost(&c, &usage, NULL, COST_REPORTED, 5);
	ck_assert_int_eq(
	    json_int_or(at(c, "cost", "unpriced"), "reported", 0), 5);
}

TEST(tasks_of_a_run_are_counted_from_its_beginning)
{
	cleanup_json struct json_object *c = NULL;

	counters_task(
	    &c, "landed", 1); /* of a run whose beginning is unknown */
	ck_assert(!json_object_object_get_ex(c, "run", NULL));
	counters_run_begins(&c);
	ck_assert_int_eq(number(c, "run", "landed"), 0);
	counters_task(&c, "landed", 1);
	counters_task(&c, "landed", 1);
	counters_task(&c, "failed", 1);
	ck_assert_int_eq(number(c, "run", "landed"), 2);
	ck_assert_int_eq(number(c, "run", "failed"), 1);
	counters_run_begins(&c);
	ck_assert_int_eq(number(c, "run", "landed"), 0);
	ck_assert_int_eq(json_int_or(at(c, "tasks", "landed"), "count", 0), 3);
}

TEST(numbers_do_not_overflow_and_only_grow)
{
	cleanup_json struct json_object *c = NULL;

	counters_work(&c, "idle", INT64_MAX - 1);
	counters_work(&c, "idle", 5);
	ck_assert_int_eq(number(c, "work_ms", "idle"), INT64_MAX);
	counters_work(&c, "idle", -5);
	ck_assert_int_eq(number(c, "work_ms", "idle"), INT64_MAX);
}

TEST(what_is_not_ours_in_a_state_is_replaced)
{
	cleanup_json struct json_object *c = json_tokener_parse(
	    "{\"events\": 7, \"work_ms\": {\"idle\": \"x\"}}");

	counters_event(&c, "paused");
	counters_work(&c, "idle", 5);
	ck_assert_int_eq(number(c, "events", "paused"), 1);
	ck_assert_int_eq(number(c, "work_ms", "idle"), 5);
}
