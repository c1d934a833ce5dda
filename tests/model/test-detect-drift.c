/* SPDX-License-Identifier: ISC */

/* Deviation, resource burn and regression at, just below and just above their
 * thresholds, and the rules about what is known. */

#include <string.h>

#include "behaviour-scene.h"
#include "json.h"
#include "unit.h"

#define found(words) ck_assert_str_eq(scene_found(), words)

static struct json_object *
evidence(const char *type)
{
	return json_object_object_get(scene_detection(type), "evidence");
}

/* --- deviation ------------------------------------------------------- */

#define OBJECTIVE \
	"'context':{'objective':'Fix the login of the password service'}"
#define SAY(words) "{" OBJECTIVE ",'analysis':{'learnings':'" words "'}}"
#define NEAR       SAY("Repaired how the login checks a password")
#define FAR        SAY("Painted several icons for mobile phones")

START_TEST(two_turns_about_something_else_deviate)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_add(FAR);
	found("");
	scene_add(FAR);
	found("deviation medium");
	ck_assert_uint_eq(json_object_array_length(json_object_object_get(
			      evidence("deviation"), "deviationExamples")),
	    2);
}
END_TEST

START_TEST(a_turn_about_the_objective_ends_a_deviation)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, FAR);
	found("deviation medium");
	scene_add(NEAR);
	found("");
}
END_TEST

START_TEST(nothing_said_is_no_deviation)
{
	scene_begin(NULL);
	scene_add(NEAR);
	for (int i = 0; i < 5; i++) {
		scene_add("{" OBJECTIVE ",'analysis':{}}");
		scene_add("{" OBJECTIVE ",'analysis':{'learnings':''}}");
		scene_add(SAY("Done."));
		found("");
	}
	/* Nor is anything said without an objective. */
	scene_begin(NULL);
	scene_repeat(
	    5, "{'analysis':{'learnings':'Painted icons for phones'}}");
	found("");
}
END_TEST

START_TEST(words_that_every_turn_says_weigh_little)
{
	scene_begin(NULL);
	scene_add(SAY("The service checks the login password"));
	found("");
	/* "service" is all that is left of the objective, in every turn. */
	for (int i = 0; i < 4; i++) {
		scene_add(SAY("The service paints several icons"));
		scene_add(SAY("The service mails invoices monthly"));
		scene_add(SAY("The service translates foreign menus"));
	}
	found("deviation medium");
	/* A word that few turns say weighs more. */
	scene_add(SAY("The login paints several icons"));
	found("");
}
END_TEST

START_TEST(fillers_are_no_words_of_the_objective)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, SAY("Painted icons of the shops in the town"));
	found("deviation medium");
}
END_TEST

START_TEST(case_and_endings_do_not_matter)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, SAY("FIXING several LOGINS everywhere today"));
	found("");
}
END_TEST

START_TEST(the_same_words_in_every_turn_are_no_deviation)
{
	scene_begin(NULL);
	for (int i = 0; i < 20; i++) {
		scene_add(SAY("Looked into the login once more"));
		found("");
	}
}
END_TEST

START_TEST(the_similarity_is_compared_with_the_threshold)
{
	/* One word that all turns say, where one said more. Of what is
	 * expected, it is 0.4 + 0.6 * log2(5 / 4) = 0.5932 at the fourth turn,
	 * and less at the fifth: the last two are below, or only one. */
	static const char *const above =
	    "{'deviation':{'objectiveSimilarity':0.594}}";
	static const char *const below =
	    "{'deviation':{'objectiveSimilarity':0.593}}";

	for (int i = 0; i < 2; i++) {
		scene_begin(i == 0 ? above : below);
		scene_add(SAY("The service checks the login password"));
		for (int n = 0; n < 4; n++)
			scene_add(SAY("The service paints several icons"));

		found(i == 0 ? "deviation medium" : "");
	}
	/* A similarity that equals the threshold is not below it. */
	scene_begin("{'deviation':{'objectiveSimilarity':1}}");
	scene_repeat(3, NEAR);
	found("");
	scene_begin("{'deviation':{'objectiveSimilarity':0}}");
	scene_add(NEAR);
	scene_repeat(3, FAR);
	found("");
}
END_TEST

#define SCOPED(files)                               \
	"{'scope':['src/a','doc/*.md'],'analysis':" \
	"{'artifactsModified':[" files "]}}"

START_TEST(files_outside_the_scope_are_compared_with_those_inside)
{
	/* 3 outside, 2 inside: exactly 1.5. */
	scene_begin(NULL);
	scene_add(SCOPED("'src/a/1','x1'"));
	scene_add(SCOPED("'doc/b.md','x2','x3'"));
	found("");
	scene_begin(NULL);
	scene_add(SCOPED("'src/a/1','x1','x4'"));
	scene_add(SCOPED("'src/a','x2','x3'"));
	found("deviation medium");
	ck_assert_int_eq(
	    json_int_or(evidence("deviation"), "filesOutside", 0), 4);
	/* Back inside, though most of the window is not. */
	scene_begin(NULL);
	scene_repeat(3, SCOPED("'x1','x2','x3'"));
	found("deviation medium");
	scene_add(SCOPED("'src/a/2'"));
	found("");
}
END_TEST

START_TEST(one_iteration_outside_the_scope_is_an_outlier)
{
	scene_begin(NULL);
	scene_add(SCOPED("'src/a/1'"));
	scene_add(SCOPED("'x1','x2','x3','x4'"));
	found("");
	scene_add(SCOPED("'x5'"));
	found("deviation medium");
}
END_TEST

START_TEST(without_a_scope_no_file_is_outside)
{
	scene_begin(NULL);
	for (int i = 0; i < 5; i++)
		scene_add("{'analysis':{'artifactsModified':['x%d']}}", i);
	scene_add("{'scope':[],'analysis':{'artifactsModified':['y']}}");
	found("");
	/* "src/ab" is not below "src/a". */
	scene_begin(NULL);
	scene_add(SCOPED("'src/ab'"));
	scene_add(SCOPED("'src/abc'"));
	found("deviation medium");
}
END_TEST

/* --- resource burn --------------------------------------------------- */

static void
burn(int iterations, const char *analysis)
{
	scene_begin(NULL);
	for (int i = 0; i < iterations; i++)
		scene_add("{'context':{'maxIterations':10},'analysis':{%s}}",
		    analysis);
}

START_TEST(burn_begins_above_twice_the_iterations)
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
END_TEST

START_TEST(burn_of_a_task_that_is_nearly_done_is_not_critical)
{
	burn(26, "'completionPercentage':89.9");
	found("resource_burn critical");
	burn(26, "'completionPercentage':90");
	found("resource_burn high");
	burn(26, "'completionPercentage':100");
	found("");
}
END_TEST

START_TEST(burn_without_an_estimate_is_not_known)
{
	scene_begin(NULL);
	scene_repeat(100, "{'cost':9}");
	found("");
	scene_repeat(1, "{'context':{'maxIterations':0}}");
	found("");
}
END_TEST

START_TEST(costs_are_compared_with_the_estimate)
{
	scene_begin(NULL);
	scene_add("{'cost':1.5,'context':{'estimatedCost':1}}");
	scene_add("{}"); /* not known: adds nothing */
	scene_add("{'cost':0.5}");
	found(""); /* exactly twice */
	scene_add("{'cost':0.25}");
	found("resource_burn high");
	scene_add("{'cost':0.25}");
	found("resource_burn critical");
}
END_TEST

START_TEST(a_cost_of_zero_is_known)
{
	scene_begin("{'resource':{'costMultiplier':0}}");
	scene_add("{'cost':0,'context':{'estimatedCost':1}}");
	found("");
	scene_add("{'cost':0.01}");
	found("resource_burn high");
}
END_TEST

START_TEST(a_later_part_of_a_history_counts_by_its_numbers)
{
	scene_begin(NULL);
	scene_add("{'number':22,'context':{'maxIterations':10}}");
	found("resource_burn high");
}
END_TEST

START_TEST(the_multiplier_of_iterations_can_be_set)
{
	scene_begin("{'resource':{'iterationMultiplier':3}}");
	for (int i = 0; i < 30; i++)
		scene_add("{'context':{'maxIterations':10}}");
	found("");
	scene_add("{}");
	found("resource_burn high");
	for (int i = 31; i < 38; i++)
		scene_add("{}");
	found("resource_burn critical"); /* a quarter above the threshold */
}
END_TEST

/* --- regression ------------------------------------------------------ */

#define TESTS(word) "{'analysis':{'testsPassing':" word "}}"

START_TEST(tests_that_fail_after_passing_are_high_then_critical)
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
	scene_add(TESTS("true"));
	found("");
}
END_TEST

START_TEST(a_result_is_compared_with_the_last_known_one)
{
	scene_begin(NULL);
	scene_add(TESTS("true"));
	scene_repeat(50, TESTS("null"));
	scene_add(TESTS("false"));
	found("regression high");
}
END_TEST

START_TEST(failing_tests_can_be_left_out)
{
	scene_begin("{'regression':{'testPassToFail':false}}");
	scene_add(TESTS("true"));
	scene_repeat(3, TESTS("false"));
	found("");
}
END_TEST

static void
cover(double from, double to)
{
	scene_begin(NULL);
	scene_add("{'analysis':{'coveragePercent':%.2f}}", from);
	scene_add("{'analysis':{}}");
	scene_add("{'analysis':{'coveragePercent':%.2f}}", to);
}

START_TEST(coverage_may_drop_by_the_threshold)
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
END_TEST

START_TEST(slow_erosion_counts_as_much_as_a_drop)
{
	scene_begin(NULL);
	for (int i = 0; i <= 10; i++)
		scene_add("{'analysis':{'coveragePercent':%d}}", 85 - i);
	found("");
	scene_add("{'analysis':{'coveragePercent':74}}");
	found("regression high");
	scene_add("{'analysis':{'coveragePercent':75}}");
	found("");
}
END_TEST

START_TEST(tests_and_coverage_together_are_critical)
{
	scene_begin(NULL);
	scene_add("{'analysis':{'testsPassing':true,'coveragePercent':85}}");
	scene_add("{'analysis':{'testsPassing':false,'coveragePercent':70}}");
	found("regression critical");
	ck_assert_uint_eq(json_object_array_length(json_object_object_get(
			      evidence("regression"), "regressions")),
	    2);
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("detect-drift");

	unit_case(suite, "deviation",
	    (const TTest *const[]){ two_turns_about_something_else_deviate,
		a_turn_about_the_objective_ends_a_deviation,
		nothing_said_is_no_deviation,
		words_that_every_turn_says_weigh_little,
		fillers_are_no_words_of_the_objective,
		case_and_endings_do_not_matter,
		the_same_words_in_every_turn_are_no_deviation,
		the_similarity_is_compared_with_the_threshold,
		files_outside_the_scope_are_compared_with_those_inside,
		one_iteration_outside_the_scope_is_an_outlier,
		without_a_scope_no_file_is_outside, NULL });
	unit_case(suite, "burn",
	    (const TTest *const[]){ burn_begins_above_twice_the_iterations,
		burn_of_a_task_that_is_nearly_done_is_not_critical,
		burn_without_an_estimate_is_not_known,
		costs_are_compared_with_the_estimate, a_cost_of_zero_is_known,
		a_later_part_of_a_history_counts_by_its_numbers,
		the_multiplier_of_iterations_can_be_set, NULL });
	unit_case(suite, "regression",
	    (const TTest *const[]){
		tests_that_fail_after_passing_are_high_then_critical,
		a_result_is_compared_with_the_last_known_one,
		failing_tests_can_be_left_out,
		coverage_may_drop_by_the_threshold,
		slow_erosion_counts_as_much_as_a_drop,
		tests_and_coverage_together_are_critical, NULL });
	return suite;
}
