/* SPDX-License-Identifier: ISC */

/* Resource burn and regression at, just below and just above their
 * thresholds, and the rules about what is known. */

#include "behaviour-scene.h"

#define found(words) ck_assert_str_eq(scene_found(), words)

static struct json_object *
evidence(const char *type)
{
	return json_object_object_get(scene_detection(type), "evidence");
}

/* --- resource burn --------------------------------------------------- */

static void
burn(int iterations, const char *analysis)
{
	scene_begin(NULL);
	for (int i = 0; i < iterations; i++)
		scene_add("{'context':{'maxIterations':10},'analysis':{%s}}",
		    analysis);
}

TEST(burn_begins_above_twice_the_iterations)
{
	burn(19, "");
	found("");
	burn(20, "");
	found("");
	burn(21, "");
	found("resource_burn high");
	burn(24, "");
	found("resource_burn high");
	burn(25, "");
	found("resource_burn critical");
}

TEST(burn_of_a_task_that_is_nearly_done_is_not_critical)
{
	burn(26, "'completionPercentage':89.9");
	found("resource_burn critical");
	burn(26, "'completionPercentage':90");
	found("resource_burn high");
	burn(26, "'completionPercentage':100");
	found("");
}

TEST(burn_without_an_estimate_is_not_known)
{
	scene_begin(NULL);
	scene_repeat(100, "{'cost':9}");
	found("");
	scene_repeat(1, "{'context':{'maxIterations':0,'estimatedCost':0}}");
	found("");
	/* Zero takes no estimate away. */
	burn(21, "");
	scene_add("{'context':{'maxIterations':0}}");
	found("resource_burn high");
	scene_begin(NULL);
	scene_add("{'cost':2.2,'context':{'estimatedCost':1}}");
	scene_add("{'context':{'estimatedCost':0}}");
	found("resource_burn high");
}

TEST(costs_are_compared_with_the_estimate)
{
	scene_begin(NULL);
	scene_add("{'cost':1.5,'context':{'estimatedCost':1}}");
	scene_add("{}"); /* not known: adds nothing */
	scene_add("{'cost':0.5}");
	found(""); /* exactly twice */
	scene_add("{'cost':0.25}");
	found("resource_burn high");
	scene_add("{'cost':9}");
	found("resource_burn high"); /* what others cost is no budget */
}

TEST(what_equals_the_limit_is_not_above_it)
{
	/* Three times 0.1 is more than 0.3. */
	scene_begin(NULL);
	scene_add("{'cost':0.1,'estimatedCost':0.15}");
	scene_repeat(2, "{'cost':0.1}");
	found("");
	scene_add("{'cost':0.001}");
	found("resource_burn high");
}

static const char *
first_recommendation(const char *type)
{
	return json_object_get_string(json_object_array_get_idx(
	    json_object_object_get(scene_detection(type), "recommendations"),
	    0));
}

TEST(burn_is_described_by_what_was_used)
{
	burn(22, "'completionPercentage':45");
	ck_assert_str_eq(
	    json_string_or(scene_detection("resource_burn"), "message", ""),
	    "Resource burn: Used 22/10 iterations (220% of budget); 45% done");
	burn(22, "'completionPercentage':50");
	ck_assert_str_eq(first_recommendation("resource_burn"),
	    "Consider aborting if little progress made");
	burn(22, "'completionPercentage':51");
	ck_assert_str_eq(first_recommendation("resource_burn"),
	    "Increase iteration budget if task is viable");
}

TEST(a_cost_of_zero_is_known)
{
	scene_begin("{'resource':{'costMultiplier':0}}");
	scene_add("{'cost':0,'context':{'estimatedCost':1}}");
	found("");
	scene_add("{'cost':0.01}");
	found("resource_burn high");
}

TEST(a_later_part_of_a_history_counts_by_its_numbers)
{
	scene_begin(NULL);
	scene_add("{'number':22,'context':{'maxIterations':10}}");
	found("resource_burn high");
}

TEST(the_multiplier_of_iterations_can_be_set)
{
	scene_begin("{'resource':{'iterationMultiplier':3}}");
	for (int i = 0; i < 30; i++)
		scene_add("{'context':{'maxIterations':10}}");
	found("");
	scene_add("{}");
	found("resource_burn critical"); /* more than 2.5 times */
}

/* --- regression ------------------------------------------------------ */

#define TESTS(word) "{'analysis':{'testsPassing':" word "}}"

TEST(tests_that_fail_after_passing_are_high_then_critical)
{
	scene_begin(NULL);
	scene_add(TESTS("false"));
	found("");
	scene_add(TESTS("true"));
	found("");
	scene_add(TESTS("false"));
	found("regression high");
	scene_add("{}");
	found("regression high");
	scene_add(TESTS("false"));
	found("regression critical");
	/* It began with the third iteration. */
	ck_assert_int_eq(
	    json_int_or(json_object_array_get_idx(
			    json_object_object_get(
				evidence("regression"), "regressions"),
			    0),
		"iteration", 0),
	    3);
	scene_add(TESTS("true"));
	found("");
}

TEST(a_result_is_compared_with_the_last_known_one)
{
	scene_begin(NULL);
	scene_add(TESTS("true"));
	scene_repeat(50, TESTS("null"));
	scene_add(TESTS("false"));
	found("regression high");
}

TEST(failing_tests_can_be_left_out)
{
	scene_begin("{'regression':{'testPassToFail':false}}");
	scene_add(TESTS("true"));
	scene_repeat(3, TESTS("false"));
	found("");
}

static void
cover(double from, double to)
{
	scene_begin(NULL);
	scene_add("{'analysis':{'coveragePercent':%.2f}}", from);
	scene_add("{'analysis':{}}");
	scene_add("{'analysis':{'coveragePercent':%.2f}}", to);
}

TEST(coverage_may_drop_by_the_threshold)
{
	cover(85, 75.01);
	found("");
	cover(85.3, 75.3);
	found("");
	cover(85, 74.99);
	found("regression high");
	cover(11, 0); /* zero is a value */
	found("regression high");
	cover(0, 11);
	found("");
}

TEST(slow_erosion_counts_as_much_as_a_drop)
{
	scene_begin(NULL);
	for (int i = 0; i <= 10; i++)
		scene_add("{'analysis':{'coveragePercent':%d}}", 85 - i);
	found("");
	scene_add("{'analysis':{'coveragePercent':74}}");
	found("regression high");
	ck_assert_str_eq(
	    json_string_or(scene_detection("regression"), "message", ""),
	    "Regression: Coverage dropped 11.0%");
	scene_add("{'analysis':{'coveragePercent':75}}");
	found("");
}

TEST(tests_and_coverage_together_are_critical)
{
	struct json_object *list;

	scene_begin(NULL);
	scene_add("{'analysis':{'testsPassing':true,'coveragePercent':85}}");
	scene_add("{'analysis':{'testsPassing':false,'coveragePercent':70}}");
	found("regression critical");
	list = json_object_object_get(evidence("regression"), "regressions");
	ck_assert_uint_eq(json_object_array_length(list), 2);
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(list, 0), "message", ""),
	    "Tests went from passing to failing");
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(list, 1), "message", ""),
	    "Coverage dropped 15.0%");
}
