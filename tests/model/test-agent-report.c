/* SPDX-License-Identifier: ISC */

#include <math.h>

#include "unit.h"
#include "agent-report.h"

/* --- completion report ------------------------------------------------- */

static struct json_object *
load(void)
{
	cleanup_free char *path = NULL;
	struct json_object *root = NULL;
	struct err err = { 0 };

	path = xasprintf("%s/openclaw_completion_report.json", unit_vectors());
	ck_assert_msg(
	    json_load(path, 1048576, &root, &err) == 0, "%s", err.msg);
	return root;
}

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 65536, &json, NULL), 0);
	return json;
}

static void
expect_text(const char *text, const char *json)
{
	cleanup_json struct json_object *found =
	    completion_report_from_text(text, strlen(text));
	cleanup_json struct json_object *expect =
	    json != NULL ? parse(json) : NULL;

	ck_assert_msg(json_object_equal(found, expect), "%s",
	    json_object_to_json_string(found));
}

TEST(the_vectors_of_texts_hold)
{
	cleanup_json struct json_object *root = load();
	struct json_object *rows = json_object_object_get(root, "vectors");

	ck_assert_uint_ge(json_object_array_length(rows), 7);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *text = json_string_or(row, "text", NULL);
		cleanup_json struct json_object *found =
		    completion_report_from_text(text, strlen(text));

		ck_assert_msg(json_object_equal(
				  found, json_object_object_get(row, "expect")),
		    "row %zu: %s", i, json_object_to_json_string(found));
	}
}

TEST(the_vectors_of_the_tool_hold)
{
	cleanup_json struct json_object *root = load();
	struct json_object *rows = json_object_object_get(root, "tool_vectors");

	ck_assert_uint_ge(json_object_array_length(rows), 3);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *error = json_string_or(row, "expect_error", NULL);
		cleanup_json struct json_object *found = NULL;
		struct err err = { 0 };
		int r = completion_report_from_args(
		    json_object_object_get(row, "args"), &found, &err);

		if (error != NULL) {
			ck_assert_int_eq(r, -EINVAL);
			ck_assert_ptr_nonnull(strstr(err.msg, error));
			continue;
		}
		ck_assert_msg(r == 0, "row %zu: %s", i, err.msg);
		ck_assert_msg(json_object_equal(
				  found, json_object_object_get(row, "expect")),
		    "row %zu: %s", i, json_object_to_json_string(found));
	}
}

TEST(markdown_around_the_names_does_not_matter)
{
	expect_text("## Report\n\n**Status:** complete\r\n"
		    "**Confidence** = `high`.\n### Summary: all of it\nand "
		    "more\n\nBye.",
	    "{\"summary\": \"all of it\\nand more\", \"confidence\": \"high\", "
	    "\"status\": \"complete\"}");
	expect_text("artifacts:\n\n1. `a b.c` \xe2\x80\x94 the code\n2) d.md\n",
	    "{\"artifacts\": [{\"path\": \"a b.c\", \"description\": \"the "
	    "code\"}, {\"path\": \"d.md\"}]}");
}

TEST(what_stands_in_a_code_block_is_no_report)
{
	expect_text("status: complete\n~~~ text\nstatus: failed\n```\n"
		    "summary: no\n~~~\n",
	    "{\"status\": \"complete\"}");
	/* One that is not closed goes to the end. */
	expect_text("status: partial\n```\nstatus: failed\n",
	    "{\"status\": \"partial\"}");
	expect_text("```\nstatus: failed\n", NULL);
}

TEST(prose_is_no_report)
{
	expect_text("The status: complete.", NULL);
	expect_text("statuses: complete", NULL);
	expect_text("- status: complete", NULL);
	expect_text("", NULL);
}

TEST(wrong_arguments_are_refused_with_what_is_right)
{
	static const char *const rows[][2] = {
		{ "{\"summary\": 3}", "summary: expected a string" },
		{ "{\"summary\": \" \"}", "summary required" },
		{ "{\"summary\": \"x\", \"status\": \"done\"}",
		    "status: expected complete, partial or failed" },
		{ "{\"summary\": \"x\", \"confidence\": \"sure\"}",
		    "confidence: expected high, medium or low" },
		{ "{\"summary\": \"x\", \"blockers\": [\"a\", 3]}",
		    "blockers[1]: expected a string" },
		{ "{\"summary\": \"x\", \"artifacts\": [[]]}",
		    "artifacts[0]: expected an object with a path" },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		cleanup_json struct json_object *args = parse(rows[i][0]);
		struct json_object *report = NULL;
		struct err err = { 0 };

		ck_assert_int_eq(
		    completion_report_from_args(args, &report, &err), -EINVAL);
		ck_assert_msg(strstr(err.msg, rows[i][1]) != NULL, "%s: %s",
		    rows[i][0], err.msg);
		ck_assert_ptr_null(report);
	}
}

TEST(a_report_is_bounded_and_has_no_controls)
{
	cleanup_json struct json_object *args = json_object_new_object(),
					*report = NULL;
	struct json_object *list = json_object_new_array();
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };

	for (size_t i = 0; i < 100000; i++)
		buf_adds(&text, "\xc3\xa4");
	json_set_string(args, "summary", text.data);
	ck_assert_int_eq(
	    completion_report_from_args(args, &report, &err), -EINVAL);
	ck_assert_ptr_nonnull(
	    strstr(err.msg, "summary: 200000 bytes, and 16384"));
	json_set_string(args, "summary", "short");
	for (size_t i = 0; i < COMPLETION_ENTRIES_MAX; i++)
		json_object_array_add(
		    list, json_object_new_string("a\x1b[31m\nb"));
	json_set(args, "blockers", list);
	ck_assert_int_eq(completion_report_from_args(args, &report, NULL), 0);
	list = json_object_object_get(report, "blockers");
	ck_assert_uint_eq(
	    json_object_array_length(list), COMPLETION_ENTRIES_MAX);
	ck_assert_str_eq(
	    json_object_get_string(json_object_array_get_idx(list, 0)),
	    "a[31m b");
	json_object_put(take_ptr(&report));
	json_object_array_add(json_object_object_get(args, "blockers"),
	    json_object_new_string("one too many"));
	ck_assert_int_eq(
	    completion_report_from_args(args, &report, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "blockers: at most 50 entries"));
}

TEST(the_tools_of_llmc_lose_their_prefix)
{
	ck_assert_str_eq(completion_report_tool("mcp__llmc__report_completion"),
	    COMPLETION_TOOL);
	ck_assert_str_eq(
	    completion_report_tool("mcp__other__report_completion"),
	    "mcp__other__report_completion");
	ck_assert_str_eq(completion_report_tool("Bash"), "Bash");
}

/* --- progress report --------------------------------------------------- */

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

TEST(wrong_arguments_of_progress_are_refused_with_what_is_right)
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
