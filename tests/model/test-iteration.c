/* SPDX-License-Identifier: ISC */

#include "unit.h"

#include <math.h>

#include "error-signature.h"
#include "iteration.h"
#include "thresholds.h"

static struct iteration *
from(const char *text)
{
	cleanup_json struct json_object *json = NULL;
	struct iteration *it = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	ck_assert_msg(
	    iteration_from_json(json, "it", 7, &it, &err) == 0, "%s", err.msg);
	return it;
}

TEST(what_is_absent_is_not_known)
{
	cleanup_iteration struct iteration *it = from("{}");
	cleanup_json struct json_object *json = iteration_to_json(it);

	ck_assert_int_eq(it->number, 7);
	ck_assert(isnan(it->completion) && isnan(it->coverage) &&
	    isnan(it->cost) && isnan(it->estimated_cost));
	ck_assert_int_eq(it->tests, -1);
	ck_assert_int_eq(it->duration_ms, -1);
	ck_assert_int_eq(it->max_iterations, -1);
	ck_assert(!it->errors_known && !it->files_known);
	ck_assert_str_eq(json_object_to_json_string_ext(json, 0),
	    "{\"number\":7,\"analysis\":{},\"context\":{}}");
}

TEST(null_is_not_known_either)
{
	cleanup_iteration struct iteration *it =
	    from("{\"analysis\":{\"completionPercentage\":null,"
		 "\"testsPassing\":null,\"artifactsModified\":null},"
		 "\"context\":null,\"cost\":null}");

	ck_assert(isnan(it->completion) && isnan(it->cost));
	ck_assert_int_eq(it->tests, -1);
	ck_assert(!it->files_known);
}

TEST(zero_is_a_value)
{
	cleanup_iteration struct iteration *it =
	    from("{\"durationMs\":0,\"analysis\":{\"completionPercentage\":0,"
		 "\"testsPassing\":false,\"coveragePercent\":0},\"cost\":0,"
		 "\"tokens\":{\"input\":0}}");
	cleanup_json struct json_object *json = iteration_to_json(it);

	ck_assert(it->completion == 0 && it->coverage == 0 && it->cost == 0);
	ck_assert_int_eq(it->tests, 0);
	ck_assert_int_eq(it->duration_ms, 0);
	ck_assert_int_eq(it->tokens[ITERATION_INPUT], 0);
	ck_assert_int_eq(it->tokens[ITERATION_OUTPUT], -1);
	ck_assert(json_object_object_get_ex(json, "cost", NULL));
}

TEST(every_field_survives_writing_and_reading)
{
	static const char text[] =
	    "{\"number\":3,\"status\":\"failed\",\"durationMs\":1200,"
	    "\"analysis\":{\"failureClass\":\"E1\",\"errors\":[\"E1\",\"E2\"],"
	    "\"blockers\":[\"b\"],\"learnings\":\"l\","
	    "\"completionPercentage\":12.5,\"testsPassing\":true,"
	    "\"coveragePercent\":80.25,\"artifactsModified\":[\"a\",\"b\"]},"
	    "\"context\":{\"objective\":\"o\",\"maxIterations\":10,"
	    "\"estimatedCost\":2.5},\"cost\":0.5,"
	    "\"tokens\":{\"input\":1,\"output\":2,\"cacheRead\":3,"
	    "\"cacheWrite\":4},\"scope\":[\"src\"],"
	    "\"blobs\":{\"a\":\"1\",\"b\":null},\"treeHash\":\"t\"}";
	cleanup_iteration struct iteration *it = from(text);
	cleanup_json struct json_object *json = iteration_to_json(it);

	ck_assert_str_eq(json_object_to_json_string_ext(json, 0), text);
}

TEST(optional_fields_are_found_in_the_analysis_and_the_context_too)
{
	cleanup_iteration struct iteration *it =
	    from("{\"analysis\":{\"treeHash\":\"t\",\"blobs\":{\"a\":\"1\"},"
		 "\"cost\":2},\"context\":{\"scope\":\"src\"}}");

	ck_assert_str_eq(it->tree, "t");
	ck_assert_uint_eq(it->blob_count, 1);
	ck_assert(it->cost == 2);
	ck_assert_str_eq(it->scope[0], "src");
}

TEST(no_failure_is_known_by_null_and_by_success)
{
	cleanup_iteration struct iteration *null =
	    from("{\"analysis\":{\"failureClass\":null}}");
	cleanup_iteration struct iteration *success =
	    from("{\"status\":\"success\",\"analysis\":{}}");
	cleanup_iteration struct iteration *absent = from("{\"analysis\":{}}");

	ck_assert(null->errors_known && null->errors == NULL);
	ck_assert(success->errors_known);
	ck_assert(!absent->errors_known);
}

TEST(errors_that_are_not_known_stay_so)
{
	cleanup_iteration struct iteration *it = iteration_new(1);
	cleanup_iteration struct iteration *again = NULL;
	cleanup_json struct json_object *json = NULL;

	it->coverage = 80;
	json = iteration_to_json(it);
	ck_assert_int_eq(iteration_from_json(json, "x", 1, &again, NULL), 0);
	ck_assert(again->coverage == 80 && !again->errors_known);
}

TEST(lists_and_texts_are_bounded)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_iteration struct iteration *it = NULL;

	buf_adds(&text, "{\"analysis\":{\"learnings\":\"");
	for (int i = 0; i < ITERATION_TEXT_MAX; i++)
		buf_adds(&text, "\xc3\xa9");
	buf_adds(&text, "\",\"errors\":[\"0\"");
	for (int i = 1; i < 100; i++)
		buf_addf(&text, ",\"%d\"", i);
	buf_adds(&text, "]}}");
	it = from(text.data);
	ck_assert_uint_eq(strlen(it->learnings), ITERATION_TEXT_MAX);
	ck_assert_uint_eq(strv_count(it->errors), ITERATION_ERRORS);
}

/* --- error signatures ------------------------------------------------ */

TEST_ROWS(signatures_leave_out_what_changes, 23)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "  plain \t text\n\n", "plain text" },
		{ "null_pointer", "null_pointer" },
		{ "src/a.c:12:5: error: x", "<path>: error: x" },
		{ "main.c:12:5: error: x", "<path>: error: x" },
		{ "main.c(12): x", "<path>: x" },
		{ "cannot open '/tmp/a b/c': denied",
		    "cannot open '<path>': denied" },
		{ "at f (/usr/lib/x.js:1:2)", "at f (<path>)" },
		{ "GET https://example.org/a?b=1 failed", "GET <path> failed" },
		{ "line 12 of 300", "line <n> of <n>" },
		{ "took 1.5s, 12ms", "took <n>, <n>" },
		{ "fail at Mon Nov 16 10:30 PM, on Monday",
		    "fail at <n> <n> <n> <n> <n>, on Monday" },
		{ "bad type in main.c line 3", "bad type in <path> line <n>" },
		{ "obj.name is no function", "obj.name is no function" },
		{ "error TS2304, E0308", "error TS2304, E0308" },
		{ "at 0x7ffe12ab: fault", "at <addr>: fault" },
		{ "commit 3f2a9c1 is bad", "commit <hash> is bad" },
		{ "id 123e4567-e89b-12d3-a456-426614174000 gone",
		    "id <hash> gone" },
		{ "2026-11-16T13:05:01.123Z boom", "<n> boom" },
		{ "13:05:01 boom", "<n> boom" },
		{ "\033[31mred\033[0m text", "red text" },
		{ "defaced facade", "defaced facade" },
		{ "Cannot read property 'length' of null",
		    "Cannot read property 'length' of null" },
	};
	cleanup_buf struct buf out = BUF_INIT;

	ck_assert_uint_lt((size_t)_i, nitems(rows));
	error_signature(rows[_i][0], strlen(rows[_i][0]), &out);
	ck_assert_str_eq(out.data, rows[_i][1]);
}

TEST(equal_signatures_have_equal_hashes)
{
	static const char a[] = "src/a.c:1: read of 0x10 failed \n",
			  b[] = "/b/c.c:22:7: read of 0xff failed",
			  c[] = "/b/c.c:22:7: write of 0xff failed";

	ck_assert(error_signature_hash(a, strlen(a)) ==
	    error_signature_hash(b, strlen(b)));
	ck_assert(error_signature_hash(b, strlen(b)) !=
	    error_signature_hash(c, strlen(c)));
}

/* --- thresholds ------------------------------------------------------ */

TEST(profiles_have_the_values_of_the_design)
{
	struct thresholds t;

	thresholds_init(&t, PROFILE_STRICT);
	ck_assert_int_eq(t.same_error_count, 2);
	ck_assert_int_eq(t.no_progress_iterations, 3);
	ck_assert(t.cost_multiplier == 1.5 && t.iteration_multiplier == 1.5 &&
	    t.coverage_drop == 5 && t.file_churn == 0.8);
	thresholds_init(&t, PROFILE_EXPLORATORY);
	ck_assert_int_eq(t.same_error_count, 5);
	ck_assert_int_eq(t.no_progress_iterations, 8);
	ck_assert(t.cost_multiplier == 3 && t.iteration_multiplier == 3 &&
	    t.objective_similarity == 0.3 && t.coverage_drop == 10);
	thresholds_init(&t, PROFILE_CI);
	ck_assert_int_eq(t.same_error_count, 3);
	ck_assert_int_eq(t.no_progress_iterations, 3);
	ck_assert(t.coverage_drop == 1 && t.test_pass_to_fail);
}

TEST(one_threshold_is_set_by_its_name)
{
	struct thresholds t;
	struct err err = { 0 };

	thresholds_init(&t, PROFILE_DEFAULT);
	ck_assert_int_eq(thresholds_set(&t, "stuck.sameErrorCount=4", NULL), 0);
	ck_assert_int_eq(
	    thresholds_set(&t, "regression.testPassToFail=false", NULL), 0);
	ck_assert_int_eq(
	    thresholds_set(&t, "deviation.scopeCreepRatio=2.5", NULL), 0);
	ck_assert_int_eq(t.same_error_count, 4);
	ck_assert(!t.test_pass_to_fail && t.scope_creep_ratio == 2.5);
	ck_assert_int_eq(
	    thresholds_set(&t, "stuck.sameErorCount=4", &err), -EINVAL);
	ck_assert_msg(
	    strstr(err.msg, "did you mean \"sameErrorCount\"") != NULL, "%s",
	    err.msg);
}

TEST_ROWS(wrong_thresholds_are_refused_and_change_nothing, 13)
{
	static const char *const texts[] = { "", "stuck", "stuck.", "a.b=1",
		"stuck.sameErrorCount",
		"stuck.sameErrorCount=", "stuck.sameErrorCount=x",
		"stuck.sameErrorCount=1.5", "stuck.sameErrorCount=0",
		"stuck.sameErrorCount=33", "stuck.sameErrorCount=[]",
		"oscillation.fileChurnThreshold=1.1",
		"regression.testPassToFail=1" };
	struct thresholds t, before;
	struct err err = { 0 };

	ck_assert_uint_lt((size_t)_i, nitems(texts));
	thresholds_init(&t, PROFILE_DEFAULT);
	before = t;
	ck_assert_int_eq(thresholds_set(&t, texts[_i], &err), -EINVAL);
	ck_assert_str_ne(err.msg, "");
	ck_assert_mem_eq(&t, &before, sizeof t);
}

TEST(a_merge_with_a_mistake_changes_nothing)
{
	static const char text[] =
	    "{\"stuck\":{\"sameErrorCount\":4,\"noProgressIterations\":0}}";
	cleanup_json struct json_object *json = NULL;
	struct thresholds t;

	thresholds_init(&t, PROFILE_DEFAULT);
	ck_assert_int_eq(json_parse(text, strlen(text), 4096, &json, NULL), 0);
	ck_assert_int_eq(thresholds_merge(&t, json, "t", NULL), -EINVAL);
	ck_assert_int_eq(t.same_error_count, 3);
}
