/* SPDX-License-Identifier: ISC */

/* Stuck and oscillation at, just below and just above their thresholds, and the
 * rules about what is known. */

#include "behaviour-scene.h"

#define found(words) ck_assert_str_eq(scene_found(), words)

static struct json_object *
evidence(const char *type)
{
	return json_object_object_get(scene_detection(type), "evidence");
}

/* --- stuck ----------------------------------------------------------- */

#define FLAT "{'analysis':{'failureClass':'x','completionPercentage':10}}"

TEST(stuck_begins_at_the_third_error)
{
	scene_begin(NULL);
	scene_repeat(2, FLAT);
	found("");
	scene_repeat(1, FLAT);
	found("stuck high");
	scene_repeat(1, FLAT);
	found("stuck high");
	scene_repeat(1, FLAT);
	found("stuck critical");
}

TEST(stuck_counts_up_to_a_given_number)
{
	scene_begin("{'stuck':{'sameErrorCount':6}}");
	scene_repeat(5, FLAT);
	found("");
	scene_repeat(1, FLAT);
	found("stuck critical");
	scene_begin("{'stuck':{'sameErrorCount':4}}");
	scene_repeat(3, FLAT);
	found("");
	scene_repeat(1, FLAT);
	found("stuck high");
	scene_repeat(1, FLAT);
	found("stuck critical");
	scene_begin("{'stuck':{'sameErrorCount':2}}");
	scene_repeat(1, FLAT);
	found("");
	scene_repeat(1, FLAT);
	found("stuck high");
}

TEST(stuck_needs_progress_below_two_percent)
{
	scene_begin(NULL);
	for (int i = 0; i < 15; i++) {
		scene_add("{'analysis':{'failureClass':'x',"
			  "'completionPercentage':%.2f}}",
		    10.8 + 2.0 * i);
		found("");
	}
	scene_begin(NULL);
	for (int i = 0; i < 5; i++)
		scene_add("{'analysis':{'failureClass':'x',"
			  "'completionPercentage':%.2f}}",
		    1.99 * i);
	found("stuck critical");
	ck_assert_double_eq_tol(json_object_get_double(json_object_object_get(
				    evidence("stuck"), "avgProgressRate")),
	    0.0199, 1e-9);
}

TEST(progress_is_looked_for_in_the_given_window)
{
	scene_begin("{'stuck':{'noProgressIterations':8}}");
	scene_add("{'analysis':{'completionPercentage':10}}");
	scene_repeat(
	    4, "{'analysis':{'failureClass':'x','completionPercentage':60}}");
	found("");
	scene_begin("{'stuck':{'noProgressIterations':3}}");
	scene_add("{'analysis':{'completionPercentage':10}}");
	scene_repeat(
	    3, "{'analysis':{'failureClass':'x','completionPercentage':60}}");
	found("stuck high");
}

/* Whether `turns`, from the oldest, are stuck: x has an error, - has none. */
static bool
is_stuck(const char *thresholds, const char *turns)
{
	scene_begin(thresholds);
	for (; *turns != '\0'; turns++)
		scene_add("{'analysis':{'completionPercentage':10,"
			  "'failureClass':%s}}",
		    *turns == 'x' ? "'x'" : "null");
	return strcmp(scene_found(), "stuck high") == 0;
}

TEST(errors_are_counted_in_five_iterations_or_more)
{
	static const char *const short_one =
	    "{'stuck':{'noProgressIterations':3}}";
	static const char *const long_one =
	    "{'stuck':{'noProgressIterations':6}}";

	ck_assert(is_stuck(NULL, "x-x-x"));
	ck_assert(!is_stuck(NULL, "x-x--x"));
	ck_assert(is_stuck(short_one, "x-x-x"));
	ck_assert(!is_stuck(short_one, "x-x--x"));
	ck_assert(is_stuck(long_one, "x-x--x"));
	ck_assert(!is_stuck(long_one, "x-x---x"));
	ck_assert(!is_stuck("{'stuck':{'sameErrorCount':7}}", "xxxxxx"));
}

TEST(a_percentage_of_zero_is_known)
{
	scene_begin(NULL);
	scene_repeat(
	    3, "{'analysis':{'failureClass':'x','completionPercentage':0}}");
	found("stuck high");
}

TEST(no_percentage_is_needed)
{
	scene_begin(NULL);
	scene_repeat(2, "{'analysis':{'failureClass':'x'}}");
	found("");
	scene_repeat(1, "{'analysis':{'failureClass':'x'}}");
	found("stuck high");
	/* One value alone shows no trend. */
	scene_repeat(
	    2, "{'analysis':{'failureClass':'x','completionPercentage':10}}");
	found("stuck critical");
}

/* That is how grep says that it found nothing. */
TEST(a_bare_exit_code_is_no_error)
{
	static const char *const bare[] = { "Exit code 1", "exit status 2",
		"Command failed with exit code 1", "Error: exited with code 1",
		"Exit code 1\\n0", "  " };

	for (size_t i = 0; i < nitems(bare); i++) {
		scene_begin(NULL);
		for (int n = 0; n < 8; n++)
			scene_add("{'treeHash':'t','analysis':{"
				  "'failureClass':'%s'}}",
			    bare[i]);
		found("");
	}
	scene_begin(NULL);
	scene_repeat(3,
	    "{'treeHash':'t','analysis':{'failureClass':"
	    "'Exit code 2\\nmake: no rule to make it'}}");
	found("stuck high");
}

/* --- stuck: checks --------------------------------------------------- */

#define RED(text) \
	"{'analysis':{'testsPassing':false,'checkFailure':'" text "'}}"

TEST(a_check_that_fails_three_times_in_the_same_way_is_stuck)
{
	scene_begin(NULL);
	scene_add("{'treeHash':'a','analysis':{'checkFailure':"
		  "'FAIL sum: expected 4 at /a/sum.c:12 after 30ms'}}");
	/* Parts of turns that nobody checks, as many as there are. */
	for (int i = 0; i < 40; i++)
		scene_add("{'treeHash':'p%d','analysis':{}}", i);
	scene_add("{'treeHash':'b','analysis':{'completionPercentage':50,"
		  "'checkFailure':"
		  "'FAIL sum: expected 5 at /b/sum.c:99 after 1.2s'}}");
	found("");
	scene_add("{'treeHash':'c','analysis':{'completionPercentage':90,"
		  "'checkFailure':"
		  "'FAIL sum: expected 6 at sum.c:7 after 9ms'}}");
	found("stuck high");
	ck_assert_str_eq(
	    json_string_or(scene_detection("stuck"), "message", ""),
	    "Stuck: The check failed 3 times in the same way: FAIL sum: "
	    "expected 6 at sum.c:7 after 9ms");
	scene_add("{'analysis':{'checkFailure':"
		  "'FAIL sum: expected 1 at /x/sum.c:7 after 9ms'}}");
	found("stuck high");
	scene_add("{'analysis':{'checkFailure':"
		  "'FAIL sum: expected 2 at /x/sum.c:7 after 9ms'}}");
	found("stuck critical");
	scene_add("{'analysis':{'testsPassing':true}}");
	found("");
}

TEST(a_check_that_prints_nothing_fails_in_the_same_way)
{
	scene_begin(NULL);
	scene_repeat(2, RED(""));
	found("");
	scene_repeat(1, RED(""));
	found("stuck high");
}

TEST(another_failure_is_progress)
{
	static const char *const texts[] = { "error: no such header",
		"error: x", "FAIL: adds", "FAIL: subtracts", "FAIL: divides" };

	scene_begin(NULL);
	for (size_t i = 0; i < nitems(texts); i++) {
		scene_add("{'analysis':{'testsPassing':false,"
			  "'checkFailure':'%s'}}",
		    texts[i]);
		found("");
	}
}

/* A few failures in turn are none: each was met before. */
TEST(failures_that_come_back_in_turn_are_stuck)
{
	static const char *const texts[] = { "FAIL: adds", "FAIL: subtracts" };

	scene_begin(NULL);
	for (size_t i = 0; i < 6; i++) {
		scene_add("{'treeHash':'t%zu','analysis':{"
			  "'testsPassing':false,'checkFailure':'%s'}}",
		    i, texts[i % nitems(texts)]);
		found(i < 4 ? "" : "stuck high");
	}
	ck_assert_str_eq(
	    json_string_or(scene_detection("stuck"), "message", ""),
	    "Stuck: The last 4 failures of the check were there before, in "
	    "turn; now: FAIL: subtracts");
	scene_add(RED("FAIL: divides"));
	found(""); /* a new one */
	/* What the work has gained counts, and so does a check that passes. */
	scene_begin(NULL);
	for (size_t i = 0; i < 6; i++)
		scene_add("{'analysis':{'completionPercentage':%zu,"
			  "'checkFailure':'%s'}}",
		    10 * i, texts[i % nitems(texts)]);
	found("");
	scene_begin(NULL);
	for (size_t i = 0; i < 8; i++)
		scene_add(i % 4 == 3 ? "{'analysis':{'testsPassing':true}}" :
			i % 2 == 0   ? RED("FAIL: adds") :
				       RED("FAIL: subtracts"));
	found("");
}

/* What passes beside it, and in which order, does not matter. */
TEST(the_lines_that_fail_count_in_any_order)
{
	scene_begin(NULL);
	scene_add(RED("ok a\\nFAIL b\\nok c\\nFAIL d"));
	scene_add(RED("FAIL d\\nok x\\nFAIL b"));
	scene_add(RED("FAIL b\\n\\n  FAIL d\\n"));
	found("stuck high");
	scene_add(RED("FAIL b\\nFAIL e"));
	found("");
}

TEST(less_of_the_same_failure_is_a_better_tree)
{
	scene_begin(NULL);
	for (int left = 40; left > 0; left -= 4) {
		scene_add("{'analysis':{'testsPassing':false,"
			  "'checkFailure':'%d tests failed, 100 passed'}}",
		    left);
		found("");
	}
	scene_begin(NULL);
	for (int left = 9; left > 0; left--) {
		char text[200] = "";

		for (int i = 0; i < left; i++)
			snprintf(text + strlen(text), 20, "a.c:%d: error\\n",
			    10 + i);
		scene_add("{'analysis':{'checkFailure':'%s'}}", text);
		found("");
	}
	/* Up and down is none. */
	scene_begin(NULL);
	for (int i = 0; i < 4; i++)
		scene_add("{'analysis':{'checkFailure':'failures: %d'}}",
		    i % 2 == 0 ? 9 : 3);
	found("stuck high");
}

/* The tools' errors say nothing while the failures of the check differ. */
TEST(the_same_tool_error_beside_other_trees_is_work)
{
	scene_begin(NULL);
	for (int i = 0; i < 12; i++) {
		scene_add("{'treeHash':'t%d','analysis':{'testsPassing':false,"
			  "'failureClass':'the file was changed',"
			  "'completionPercentage':10,"
			  "'checkFailure':'FAIL: %c'}}",
		    i, 'a' + i);
		found("");
	}
}

TEST(a_gap_does_not_hide_that_there_is_no_progress)
{
	scene_begin(NULL);
	scene_add(FLAT);
	scene_add("{'analysis':{'failureClass':'x'}}");
	scene_add(FLAT);
	found("stuck high");
}

TEST(progress_is_compared_with_the_best_so_far)
{
	scene_begin(NULL);
	scene_add("{'analysis':{'completionPercentage':50}}");
	for (int i = 0; i < 4; i++)
		scene_add("{'analysis':{'failureClass':'x',"
			  "'completionPercentage':%d}}",
		    10 + 10 * i);
	found("stuck high");
}

TEST(an_unchanged_tree_shows_that_nothing_moves)
{
	scene_begin(NULL);
	scene_repeat(3, "{'analysis':{'failureClass':'x'},'treeHash':'t'}");
	found("stuck high");
	scene_begin(NULL);
	for (int i = 0; i < 3; i++)
		scene_add("{'analysis':{'failureClass':'x'},"
			  "'treeHash':'t%d'}",
		    i);
	found("");
}

TEST(tests_that_keep_failing_show_that_nothing_moves)
{
	scene_begin(NULL);
	scene_repeat(
	    3, "{'analysis':{'failureClass':'x','testsPassing':false}}");
	found("stuck high");
	scene_begin(NULL);
	scene_add("{'analysis':{'failureClass':'x','testsPassing':true}}");
	scene_repeat(
	    3, "{'analysis':{'failureClass':'x','testsPassing':false}}");
	ck_assert_ptr_null(strstr(scene_found(), "stuck"));
}

TEST(an_error_that_is_gone_is_not_reported)
{
	scene_begin(NULL);
	scene_repeat(4, FLAT);
	scene_add("{'analysis':{'failureClass':null,"
		  "'completionPercentage':10}}");
	found("");
	scene_begin(NULL);
	scene_repeat(4, FLAT);
	scene_add("{'status':'success',"
		  "'analysis':{'completionPercentage':10}}");
	found("");
	/* An analysis that names none has found none. */
	scene_begin(NULL);
	scene_repeat(4, FLAT);
	scene_add("{'analysis':{'completionPercentage':10}}");
	found("");
	/* Another one took its place. */
	scene_begin(NULL);
	scene_repeat(4, FLAT);
	scene_add("{'analysis':{'failureClass':'y',"
		  "'completionPercentage':10}}");
	found("");
}

TEST(an_iteration_that_says_nothing_of_errors_changes_nothing)
{
	scene_begin(NULL);
	scene_repeat(3, FLAT);
	scene_add("{}");
	found("stuck high");
	scene_add("{'analysis':{}}");
	found("stuck high");
}

TEST(the_same_error_elsewhere_is_the_same_error)
{
	scene_begin(NULL);
	scene_add("{'analysis':{'completionPercentage':10,'failureClass':"
		  "'/a/b.c:12:5: read of 0x7f12 at 10:30:01 failed'}}");
	scene_add("{'analysis':{'completionPercentage':10,'failureClass':"
		  "'/home/x/c.c:9:1: read of 0xffa0 at 11:02:59 failed'}}");
	scene_add("{'analysis':{'completionPercentage':10,'failureClass':"
		  "'src/d.c:700: read of 0x01 at 23:00:00 failed'}}");
	found("stuck high");
}

TEST(stuck_is_described_as_it_was_counted)
{
	struct json_object *stuck, *blockers;

	scene_begin(NULL);
	scene_repeat(4,
	    "{'analysis':{'failureClass':'Missing null check',"
	    "'blockers':['Unhandled null'],'completionPercentage':12}}");
	stuck = scene_detection("stuck");
	ck_assert_str_eq(json_string_or(stuck, "message", ""),
	    "Stuck: Same error repeated 4 times with minimal progress");
	stuck = evidence("stuck");
	ck_assert_str_eq(
	    json_string_or(stuck, "repeatedError", ""), "Missing null check");
	ck_assert_int_eq(json_int_or(stuck, "occurrences", 0), 4);
	ck_assert_int_eq(
	    json_get_array(stuck, "", "recentBlockers", &blockers, NULL), 0);
	ck_assert_uint_eq(json_object_array_length(blockers), 4);
}

TEST(one_of_several_errors_can_be_the_same_one)
{
	scene_begin(NULL);
	for (int i = 0; i < 3; i++)
		scene_add("{'analysis':{'completionPercentage':10,"
			  "'errors':['kind%c','again']}}",
		    'a' + i);
	found("stuck high");
	ck_assert_str_eq(
	    json_string_or(evidence("stuck"), "repeatedError", ""), "again");
}

/* --- oscillation ----------------------------------------------------- */

#define BLOB(hash) \
	"{'analysis':{'artifactsModified':['a']},'blobs':{'a':'" hash "'}}"

TEST(content_that_returns_twice_oscillates)
{
	scene_begin(NULL);
	scene_add(BLOB("1"));
	scene_add(BLOB("2"));
	scene_add(BLOB("1"));
	found("");
	scene_add(BLOB("2"));
	found("oscillation high");
	ck_assert_str_eq(
	    json_string_or(json_object_object_get(
			       evidence("oscillation"), "returnedBlobs"),
		"a", ""),
	    "2");
}

TEST(new_content_in_the_same_file_is_work)
{
	scene_begin(NULL);
	for (int i = 0; i < 20; i++) {
		scene_add("{'analysis':{'artifactsModified':['%c']},"
			  "'blobs':{'%c':'%d'}}",
		    'a' + i % 2, 'a' + i % 2, i);
		found("");
	}
}

TEST(content_that_stays_does_not_return)
{
	scene_begin(NULL);
	scene_repeat(10, BLOB("1"));
	found("");
}

TEST(a_file_that_comes_and_goes_oscillates)
{
	scene_begin(NULL);
	for (int i = 0; i < 4; i++)
		scene_add("{'blobs':{'a':%s}}", i % 2 == 0 ? "'1'" : "null");
	found("oscillation high");
}

/* Five files; `back` of them flip, the others move on. */
static void
flip(int back)
{
	scene_begin(NULL);
	for (int i = 0; i < 4; i++) {
		char blobs[5][8];

		for (int f = 0; f < 5; f++)
			snprintf(blobs[f], sizeof blobs[f], "%d",
			    f < back ? i % 2 : i);
		scene_add("{'blobs':{'a':'%s','b':'%s','c':'%s','d':'%s',"
			  "'e':'%s'}}",
		    blobs[0], blobs[1], blobs[2], blobs[3], blobs[4]);
	}
}

TEST(more_than_four_fifths_of_the_files_must_return)
{
	flip(3);
	found("");
	flip(4);
	found("");
	flip(5);
	found("oscillation high");
}

TEST(cycles_are_counted_up_to_the_threshold)
{
	scene_begin("{'oscillation':{'undoRedoCycles':3}}");
	scene_add(BLOB("1"));
	scene_add(BLOB("2"));
	scene_add(BLOB("1"));
	scene_add(BLOB("2"));
	found("");
	scene_add(BLOB("1"));
	found("oscillation high");
}

TEST(the_churn_threshold_can_be_lowered)
{
	scene_begin("{'oscillation':{'fileChurnThreshold':0.4}}");
	for (int i = 0; i < 4; i++)
		scene_add("{'blobs':{'a':'%d','b':'%d'}}", i % 2, i);
	found("oscillation high");
}

TEST(oscillation_that_ended_is_not_reported)
{
	scene_begin(NULL);
	for (int i = 0; i < 4; i++)
		scene_add("{'blobs':{'a':'%d'}}", i % 2);
	found("oscillation high");
	scene_add("{}");
	found("oscillation high"); /* nothing is known to have changed */
	scene_add(BLOB("9"));
	found("");
}

TEST(names_are_compared_where_blobs_are_unknown)
{
	scene_begin(NULL);
	for (int i = 0; i < 3; i++)
		scene_add(
		    "{'analysis':{'artifactsModified':['%c']}}", 'a' + i % 2);
	found("");
	scene_add("{'analysis':{'artifactsModified':['b']}}");
	found("oscillation high");
	/* Turns that change nothing are left out. */
	scene_begin(NULL);
	for (int i = 0; i < 4; i++) {
		scene_add(
		    "{'analysis':{'artifactsModified':['%c']}}", 'a' + i % 2);
		scene_add("{'analysis':{'artifactsModified':[]}}");
	}
	found("oscillation high");
	/* Neither is it seen while the task progresses; contents still are.
	 */
	for (int rate = 1; rate <= 2; rate++) {
		scene_begin(NULL);
		for (int i = 0; i < 6; i++)
			scene_add("{'analysis':{'artifactsModified':['%c'],"
				  "'completionPercentage':%d}}",
			    'a' + i % 2, rate * i);
		found(rate < 2 ? "oscillation high" : "");
	}
	scene_begin(NULL);
	for (int i = 0; i < 6; i++)
		scene_add("{'analysis':{'completionPercentage':%d},"
			  "'blobs':{'a':'%d'}}",
		    10 * i, i % 2);
	found("oscillation high");
	/* The same file all the time is work on it. */
	scene_begin(NULL);
	scene_repeat(8, "{'analysis':{'artifactsModified':['a']}}");
	found("");
}
