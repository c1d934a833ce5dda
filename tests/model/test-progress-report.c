/* SPDX-License-Identifier: ISC */

#include <math.h>

#include "unit.h"
#include "agent-report.h"

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &json, NULL), 0);
	return json;
}

static bool
is_percent(double percent)
{
	cleanup_free char *text =
	    xasprintf("{\"phase\": \"x\", \"percentComplete\": %g}", percent);
	cleanup_json struct json_object *args = parse(text), *report = NULL;

	return progress_report_from_args(args, &report, NULL) == 0;
}

static void
check_range(struct json_object *range)
{
	double least =
	    json_object_get_double(json_object_array_get_idx(range, 0));
	double most =
	    json_object_get_double(json_object_array_get_idx(range, 1));

	ck_assert(is_percent(least));
	ck_assert(is_percent(most));
	ck_assert(!is_percent(least - 1));
	ck_assert(!is_percent(most + 1));
}

TEST(the_vectors_hold)
{
	cleanup_free char *path = NULL;
	cleanup_json struct json_object *root = NULL;
	struct json_object *part, *rows, *stored;
	int64_t last = 0, wait = 0;
	struct err err = { 0 };
	int count = 0;

	if (unit_vectors() == NULL)
		unit_skip("the vectors are absent: set LLMC_VECTORS");
	path =
	    xasprintf("%s/openclaw_progress_perf_routing.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	part = json_object_object_get(root, "progress");
	rows = json_object_object_get(part, "levels");
	for (size_t i = 0; progress_level_words[i] != NULL; i++)
		ck_assert_str_eq(progress_level_words[i],
		    json_object_get_string(json_object_array_get_idx(rows, i)));
	rows = json_object_object_get(part, "vectors");
	stored = json_object_object_get(part, "stored_phases");
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		int64_t now = llround(1e12 +
		    1000 *
			json_object_get_double(
			    json_object_object_get(row, "at_s")));
		bool accepted = progress_report_rate(count, last, now, &wait) ==
		    PROGRESS_ACCEPTED;

		ck_assert_str_eq(json_string_or(row, "expect", ""),
		    accepted ? "accepted" : "rate_limited");
		if (!accepted)
			continue;
		ck_assert_str_eq(json_string_or(row, "phase", ""),
		    json_object_get_string(
			json_object_array_get_idx(stored, (size_t)count)));
		count++;
		last = now;
	}
	ck_assert_uint_eq((size_t)count, json_object_array_length(stored));
	check_range(json_object_object_get(part, "percent_range"));
	/* test-team-report: progress_is_answered_whatever_the_disk_does */
	ck_assert_str_eq(json_string_or(part, "non_blocking", ""),
	    "answer within 25 ms even if the write never finishes");
}

TEST(a_run_may_report_every_30_seconds_and_100_times)
{
	int64_t wait = 0;

	ck_assert_int_eq(
	    progress_report_rate(0, 0, 5, &wait), PROGRESS_ACCEPTED);
	ck_assert_int_eq(
	    progress_report_rate(1, 1000, 11000, &wait), PROGRESS_TOO_SOON);
	ck_assert_int_eq(wait, 20000);
	ck_assert_int_eq(
	    progress_report_rate(1, 1000, 31000, &wait), PROGRESS_ACCEPTED);
	ck_assert_int_eq(
	    progress_report_rate(99, 1000, 31000, &wait), PROGRESS_ACCEPTED);
	ck_assert_int_eq(
	    progress_report_rate(100, 1000, 99999999, &wait), PROGRESS_USED_UP);
	/* The clock was set back. */
	ck_assert_int_eq(
	    progress_report_rate(1, 99999999, 1000, &wait), PROGRESS_ACCEPTED);
}

TEST(arguments_are_cleaned)
{
	cleanup_json struct json_object *report = NULL, *latest = NULL;
	cleanup_json struct json_object *args =
	    parse("{\"phase\": \" tests\\n\", \"percentComplete\": 40, "
		  "\"level\": \"l1_PLAN_update\", \"metrics\": {\"done\": 3, "
		  "\"of\": \" 7 \"}}");

	ck_assert_int_eq(progress_report_from_args(args, &report, NULL), 0);
	ck_assert_str_eq(
	    json_object_to_json_string_ext(report, JSON_C_TO_STRING_PLAIN),
	    "{\"phase\":\"tests\",\"percentComplete\":40.0,\"level\":"
	    "\"L1_plan_update\",\"metrics\":{\"done\":3,\"of\":\"7\"}}");
	latest = progress_report_latest(report, 1234);
	ck_assert_str_eq(
	    json_object_to_json_string_ext(latest, JSON_C_TO_STRING_PLAIN),
	    "{\"phase\":\"tests\",\"percentComplete\":40.0,\"level\":"
	    "\"L1_plan_update\",\"updatedAt\":1234}");
	ck_assert(progress_report_percent(latest) == 40);
	ck_assert(isnan(progress_report_percent(NULL)));
}

TEST(wrong_arguments_are_refused_with_what_is_right)
{
	static const char *const rows[][2] = {
		{ "{}", "phase required" },
		{ "{\"phase\": \"\\t\"}", "phase required" },
		{ "{\"phase\": \"x\", \"percentComplete\": 101}",
		    "from 0 to 100" },
		{ "{\"phase\": \"x\", \"percentComplete\": -0.1}",
		    "from 0 to 100" },
		{ "{\"phase\": \"x\", \"percentComplete\": \"7\"}",
		    "percentComplete: expected a number" },
		{ "{\"phase\": \"x\", \"level\": \"L3\"}",
		    "level: expected L0_operational" },
		{ "{\"phase\": \"x\", \"metrics\": {\"a\": []}}",
		    "metrics.a: expected a string or a number" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *args = parse(rows[i][0]);
		struct json_object *report = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(
		    progress_report_from_args(args, &report, &err), -EINVAL);
		ck_assert_msg(strstr(err.msg, rows[i][1]) != NULL, "%s: %s",
		    rows[i][0], err.msg);
	}
}
