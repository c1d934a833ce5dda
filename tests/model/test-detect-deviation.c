/* SPDX-License-Identifier: ISC */

/* Deviation at, just below and just above its thresholds, and the rules about
 * what is said. */

#include "behaviour-scene.h"

#define found(words) ck_assert_str_eq(scene_found(), words)

static struct json_object *
evidence(const char *type)
{
	return json_object_object_get(scene_detection(type), "evidence");
}

/* --- words ----------------------------------------------------------- */

#define OBJECTIVE \
	"'context':{'objective':'Fix the login of the password service'}"
#define SAY(words) "{" OBJECTIVE ",'analysis':{'learnings':'" words "'}}"
#define NEAR       SAY("Repaired how the login checks a password")
#define FAR        SAY("Painted several icons for mobile phones")

TEST(two_turns_about_something_else_deviate)
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

TEST(a_turn_about_the_objective_ends_a_deviation)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, FAR);
	found("deviation medium");
	scene_add(NEAR);
	found("");
}

TEST(nothing_said_is_no_deviation)
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

TEST(words_that_every_turn_says_weigh_little)
{
	scene_begin(NULL);
	scene_add(SAY("The service checks the login password"));
	found("");
	/* "service" is all that is left of the objective, in every turn. */
	scene_add(SAY("The service paints several icons"));
	scene_add(SAY("The service mails invoices monthly"));
	found("");
	scene_add(SAY("The service translates foreign menus"));
	found("deviation medium");
	/* A word that few turns say weighs more. */
	scene_add(SAY("The login paints several icons"));
	found("");
}

TEST(words_of_any_task_weigh_little_from_the_beginning)
{
	scene_begin(NULL);
	scene_add(SAY("Fixed the headings of several pages"));
	found("");
	scene_add(SAY("Fixed the colours of several icons"));
	found("deviation medium");
	scene_begin(NULL);
	scene_repeat(2, SAY("Fixed API documentation examples"));
	found("deviation medium");
	/* Where nothing else is asked for, they are enough. */
	scene_begin(NULL);
	for (int i = 0; i < 4; i++)
		scene_add("{'context':{'objective':'Fix the bug'},'analysis':"
			  "{'learnings':'Fixed the bounds in several loops'}}");
	found("");
}

TEST(words_of_any_task_say_nothing)
{
	static const char *const words[] = {
		"Completed part 2 of the work, and started with the next one",
		"Everything is done so far; all tests pass",
		"Good progress: this is the last step that was to be fixed"
	};

	scene_begin(NULL);
	for (int i = 0; i < 6; i++) {
		scene_add("{" OBJECTIVE ",'analysis':{'learnings':'%s'}}",
		    words[i % 3]);
		found("");
	}
}

TEST(one_word_of_a_short_objective_is_much_of_it)
{
	static const char *const words[] = { "Lexer of the JSON parser",
		"Parser reads strings with escapes",
		"Parser reads numbers and exponents",
		"Parser reads nested arrays and objects" };

	scene_begin(NULL);
	for (int i = 0; i < 20; i++) {
		scene_add("{'context':{'objective':'Implement JSON parser'},"
			  "'analysis':{'learnings':'%s'}}",
		    words[i % 4]);
		found("");
	}
}

TEST(a_long_objective_is_not_said_at_once)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, "{'context':{'objective':'");
	for (int i = 0; i < 80; i++)
		buf_addf(&text, " word%d", i);
	buf_adds(&text, "'},'analysis':{'learnings':'");
	scene_begin(NULL);
	/* Much of it in one turn, and two words in the others. */
	scene_add(
	    "%s word1 word2 word3 word4 word5 word6 word7 word8'}}", text.data);
	for (int i = 10; i < 20; i++) {
		scene_add("%s word%d and word%d'}}", text.data, i, i + 10);
		found("");
	}
	/* One is less than half of what is expected. */
	scene_add("%s Painted icons for word31'}}", text.data);
	found("");
	scene_add("%s Painted icons for word32'}}", text.data);
	found("deviation medium");
}

/* While the percentage rises, a word that all turns say is enough; what has
 * nothing to do with the objective is not. */
TEST(progress_speaks_for_a_turn_that_says_little)
{
	for (int steady = 0; steady < 2; steady++) {
		scene_begin(NULL);
		scene_add(SAY("The service checks the login password"));
		for (int i = 0; i < 5; i++)
			scene_add("{" OBJECTIVE ",'analysis':{'learnings':'"
				  "The service paints several icons',"
				  "'completionPercentage':%d}}",
			    10 + (steady ? 2 * i : i));
		found(steady ? "" : "deviation medium");
		scene_add("{" OBJECTIVE ",'analysis':{'learnings':'"
			  "Painted several icons','completionPercentage':60}}");
		scene_add("{" OBJECTIVE ",'analysis':{'learnings':'"
			  "Painted several icons','completionPercentage':70}}");
		found("deviation medium");
	}
}

TEST(the_average_is_that_of_the_examples)
{
	struct json_object *average, *example;

	scene_begin(NULL);
	scene_add(NEAR);
	scene_add(FAR);
	scene_add("{'analysis':{'artifactsModified':['icons.c'],'learnings':"
		  "'Painted several icons for mobile phones'}}");
	example = json_object_array_get_idx(
	    json_object_object_get(evidence("deviation"), "deviationExamples"),
	    1);
	ck_assert_int_eq(json_int_or(example, "iteration", 0), 3);
	ck_assert_str_eq(json_object_get_string(json_object_array_get_idx(
			     json_object_object_get(example, "artifacts"), 0)),
	    "icons.c");
	average =
	    json_object_object_get(evidence("deviation"), "averageSimilarity");
	ck_assert_double_eq_tol(json_object_get_double(average), 0, 1e-9);
}

TEST(fillers_are_no_words_of_the_objective)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, SAY("Painted icons of the shops in the town"));
	found("deviation medium");
}

TEST(case_and_endings_do_not_matter)
{
	scene_begin(NULL);
	scene_add(NEAR);
	scene_repeat(3, SAY("FIXING several LOGINS everywhere today"));
	found("");
}

TEST(the_same_words_in_every_turn_are_no_deviation)
{
	scene_begin(NULL);
	for (int i = 0; i < 20; i++) {
		scene_add(SAY("Looked into the login once more"));
		found("");
	}
}

TEST(the_similarity_is_compared_with_the_threshold)
{
	/* One word that all five turns say, where one said more: of what is
	 * expected, it is 0.2 + 0.8 * log2(6 / 5) = 0.4104. */
	static const char *const above =
	    "{'deviation':{'objectiveSimilarity':0.411}}";
	static const char *const below =
	    "{'deviation':{'objectiveSimilarity':0.410}}";

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

/* --- scope ----------------------------------------------------------- */

#define SCOPED(files)                               \
	"{'scope':['src/a','doc/*.md'],'analysis':" \
	"{'artifactsModified':[" files "]}}"

TEST(files_outside_the_scope_are_compared_with_those_inside)
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

TEST(one_iteration_outside_the_scope_is_an_outlier)
{
	scene_begin(NULL);
	scene_add(SCOPED("'src/a/1'"));
	scene_add(SCOPED("'x1','x2','x3','x4'"));
	found("");
	scene_add(SCOPED("'x5'"));
	found("deviation medium");
	scene_add(SCOPED("")); /* changes nothing */
	found("deviation medium");
	/* Of five changes, only the last one left it. */
	scene_begin(NULL);
	scene_add(SCOPED("'x1','x2','x3','x4'"));
	scene_repeat(4, SCOPED("'src/a/1'"));
	scene_add(SCOPED("'x5'"));
	found("");
}

TEST(a_file_counts_once_however_often_it_changes)
{
	scene_begin(NULL);
	for (int i = 0; i < 5; i++)
		scene_add(SCOPED("'src/a/1','x%d'"), i);
	found("deviation medium");
	ck_assert_int_eq(
	    json_int_or(evidence("deviation"), "filesOutside", 0), 5);
	ck_assert_int_eq(
	    json_int_or(evidence("deviation"), "filesInside", 0), 1);
	scene_begin(NULL);
	for (int i = 0; i < 5; i++)
		scene_add(SCOPED("'src/a/%d','x1','x2'"), i);
	found("");
	/* More files than are kept are counted each time. */
	scene_begin(NULL);
	for (int i = 0; i < 2; i++) {
		cleanup_buf struct buf text = BUF_INIT;

		for (int f = 0; f < 50; f++)
			buf_addf(&text, "%s'x%d'", f > 0 ? "," : "", f);
		scene_add("{'scope':['src'],'analysis':{'artifactsModified':"
			  "[%s]}}",
		    text.data);
	}
	ck_assert_int_eq(
	    json_int_or(evidence("deviation"), "filesOutside", 0), 100);
}

TEST(a_scope_may_be_written_with_dots)
{
	static const char *const scopes[] = { "./src/", "src", ".", "./",
		"./src/?" };

	for (size_t i = 0; i < nitems(scopes); i++) {
		scene_begin(NULL);
		for (int n = 0; n < 3; n++)
			scene_add("{'scope':['%s'],'analysis':{"
				  "'artifactsModified':['src/a','./src/b']}}",
			    scopes[i]);
		found("");
	}
}

TEST(without_a_scope_no_file_is_outside)
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
