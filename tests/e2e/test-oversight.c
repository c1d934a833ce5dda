/* SPDX-License-Identifier: ISC */

/* llmc report oversight: local, without a daemon; check without a repository
 * too. */

#include "e2e.h"
#include "filed.h"

static const char *
write_history(const char *text)
{
	const char *file = unit_path("a history.json");

	ck_assert_int_eq(file_replace(file, text, strlen(text), 0600, NULL), 0);
	return file;
}

#define RED                                        \
	"[{\"analysis\":{\"testsPassing\":true}}," \
	"{\"analysis\":{\"testsPassing\":false}}]"

TEST(a_history_is_judged_without_a_repository)
{
	const char *file = write_history(RED);
	struct e2e_run *run =
	    e2e_llmc(NULL, "report", "oversight", "check", file, NULL);
	struct json_object *list = e2e_json(run, 0), *first;

	ck_assert_uint_eq(json_object_array_length(list), 1);
	first = json_object_array_get_idx(list, 0);
	ck_assert_str_eq(json_string_or(first, "type", ""), "regression");
	ck_assert_str_eq(json_string_or(first, "severity", ""), "high");
	/* The same with --json. */
	ck_assert_str_eq(
	    e2e_llmc(NULL, "--json", "report", "oversight", "check", file, NULL)
		->out,
	    run->out);
}

TEST(a_history_comes_from_anywhere)
{
	const char *script =
	    e2e_path("cat '%s' | '%s' report oversight check -",
		write_history(RED), e2e_llmc_path());
	struct e2e_run *run = e2e_sh(NULL, script);

	ck_assert_uint_eq(json_object_array_length(e2e_json(run, 0)), 1);
	script = e2e_path("cat '%s' | '%s' report oversight check /dev/stdin",
	    write_history(RED), e2e_llmc_path());
	ck_assert_str_eq(e2e_sh(NULL, script)->out, run->out);
	script = e2e_path(
	    "echo '[' | '%s' report oversight check -", e2e_llmc_path());
	e2e_expect(e2e_sh(NULL, script), 1, "-: byte");
}

TEST(thresholds_of_the_file_are_used)
{
	const char *file =
	    write_history("{\"history\":" RED ",\"thresholds\":{\"regression\":"
			  "{\"testPassToFail\":false}}}");
	struct json_object *list = e2e_json(
	    e2e_llmc(NULL, "report", "oversight", "check", file, NULL), 0);

	ck_assert_uint_eq(json_object_array_length(list), 0);
}

TEST(mistakes_are_named)
{
	const char *file =
	    write_history("[{\"analysis\":{\"testsPassing\":3}}]");
	struct e2e_run *run =
	    e2e_llmc(NULL, "report", "oversight", "check", file, NULL);

	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "[0].analysis.testsPassing: expected");
	run =
	    e2e_llmc(NULL, "report", "oversight", "check", "/none/there", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "/none/there");
	run = e2e_llmc(NULL, "report", "oversight", "check", NULL);
	ck_assert_int_eq(run->status, 2);
	e2e_has(run->err, "check needs a FILE");
	run = e2e_llmc(NULL, "report", "oversight", "chek", file, NULL);
	ck_assert_int_eq(run->status, 2);
	e2e_has(run->err, "llmc report oversight check FILE");
}

/* --- what was recorded ----------------------------------------------- */

/* The number in the report at one of its paths. */
static int64_t
count(struct json_object *report, const char *group, const char *key,
    const char *last)
{
	struct json_object *json = json_object_object_get(report, group);

	if (last != NULL)
		json = json_object_object_get(json, key);
	return json_int_or(json, last != NULL ? last : key, -1);
}

TEST(the_report_of_nothing_is_empty)
{
	const char *root = e2e_workspace("a b");
	struct e2e_run *run =
	    e2e_llmc(root, "report", "oversight", "report", NULL);

	e2e_has(run->out, "0 iterations");
	e2e_has(run->out, "Nothing to adjust.");
	run = e2e_llmc(
	    root, "report", "oversight", "replay", "--task", "t1", NULL);
	e2e_expect(run, 1, "no iteration of t1 is recorded");
	run = e2e_llmc(
	    root, "report", "oversight", "replay", "--task", "../config", NULL);
	e2e_expect(run, 1, "no iteration of ../config is recorded");
}

#define TURN(detections)                                                      \
	"{\"iteration\":{\"number\":1,\"analysis\":{\"failureClass\":\"x\","  \
	"\"completionPercentage\":9}},\"check\":{\"detections\":[" detections \
	"]}}\n"
#define TURN2(n)                                                              \
	"{\"iteration\":{\"number\":" #n                                      \
	",\"analysis\":{\"failureClass\":\"x\",\"completionPercentage\":9}}}" \
	"\n"
#define FOUND(type, severity) \
	"{\"type\":\"" type "\",\"severity\":\"" severity "\"}"
#define ACT(level) \
	"{\"intervention\":{\"type\":\"stuck\",\"level\":\"" level "\"}}\n"
#define OUTCOME(type, word) \
	"{\"outcome\":{\"type\":\"" type "\",\"outcome\":\"" word "\"}}\n"

TEST(the_report_adds_up_all_tasks)
{
	const char *root = e2e_workspace("a b");
	struct json_object *report, *tips;

	for (int i = 1; i <= 4; i++)
		filed_put_turns(root, e2e_path("t%d", i),
		    TURN("") TURN(FOUND("stuck", "high")) ACT("pause")
			OUTCOME("stuck", "improved") OUTCOME("burn", "improved")
			    OUTCOME("regression", "unchanged")
				OUTCOME("regression", "worse")
				    OUTCOME("regression", "pending")
					TURN(FOUND("resource_burn", "critical"))
					    ACT("warn"));
	filed_put_turns(root, "t5", TURN("") ACT("retry"));
	filed_put_tasks(root,
	    "{\"id\":\"t1\",\"outcome\":\"landed\"}\n"
	    "{\"id\":\"t2\",\"outcome\":\"landed\"}\n"
	    "{\"id\":\"t3\",\"outcome\":\"landed\"}\n"
	    "{\"id\":\"t4\",\"outcome\":\"failed\"}\n"
	    "{\"id\":\"t9\",\"outcome\":\"landed\"}\n");
	report = e2e_json(
	    e2e_llmc(root, "--json", "report", "oversight", "report", NULL), 0);
	ck_assert_int_eq(json_int_or(report, "iterations", 0), 13);
	ck_assert_int_eq(count(report, "detections", "stuck", "high"), 4);
	ck_assert_int_eq(
	    count(report, "detections", "resource_burn", "critical"), 4);
	ck_assert_int_eq(count(report, "interventions", "pause", NULL), 4);
	ck_assert_int_eq(count(report, "interventions", "warn", NULL), 4);
	ck_assert_int_eq(count(report, "interventions", "retry", NULL), 1);
	ck_assert_int_eq(count(report, "positives", "stuck", "true"), 4);
	ck_assert_int_eq(count(report, "positives", "regression", "false"), 8);
	/* Three of five that were stopped have landed. */
	tips = json_object_object_get(report, "indicators");
	ck_assert_uint_eq(json_object_array_length(tips), 2);
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(tips, 0), "name", ""),
	    "stops_good_work");
	ck_assert_str_eq(
	    json_string_or(json_object_array_get_idx(tips, 1), "name", ""),
	    "burns_late");
}

TEST(a_recorded_task_is_replayed_with_the_thresholds_of_the_settings)
{
	const char *root = e2e_workspace("a b");
	struct json_object *list, *first, *steps;

	filed_put_turns(root, "t1", TURN2(1) TURN2(2) ACT("warn") TURN2(3));
	list = e2e_json(e2e_llmc(root, "report", "oversight", "replay",
			    "--task", "t1", NULL),
	    0);
	ck_assert_uint_eq(json_object_array_length(list), 1);
	first = json_object_array_get_idx(list, 0);
	ck_assert_str_eq(json_string_or(first, "name", ""), "t1");
	steps = json_object_object_get(first, "steps");
	ck_assert_uint_eq(json_object_array_length(steps), 1);
	first = json_object_array_get_idx(steps, 0);
	ck_assert_str_eq(json_string_or(first, "type", ""), "stuck");
	ck_assert_str_eq(json_string_or(first, "step", ""), "warn");
	ck_assert_int_eq(json_int_or(first, "iteration", 0), 3);
	e2e_expect(e2e_llmc(root, "config", "set", "oversight.profile",
		       "exploratory", NULL),
	    0, "");
	list = e2e_json(e2e_llmc(root, "report", "oversight", "replay",
			    "--task", "t1", NULL),
	    0);
	steps =
	    json_object_object_get(json_object_array_get_idx(list, 0), "steps");
	ck_assert_uint_eq(json_object_array_length(steps), 0);
}

TEST(a_history_of_a_file_is_replayed)
{
	const char *file =
	    write_history("[{\"name\":\"a\",\"history\":["
			  "{\"analysis\":{\"checkFailure\":\"error: x\"}},"
			  "{\"analysis\":{\"checkFailure\":\"error: x\"}},"
			  "{\"analysis\":{\"checkFailure\":\"error: x\"}}]},"
			  "{\"name\":\"b\",\"history\":[]}]");
	struct json_object *list =
	    e2e_json(e2e_llmc(NULL, "report", "oversight", "replay", file,
			 "--json", NULL),
		0);
	struct json_object *first = json_object_array_get_idx(list, 0);
	struct json_object *steps = json_object_object_get(first, "steps");

	ck_assert_uint_eq(json_object_array_length(list), 2);
	ck_assert_str_eq(json_string_or(first, "name", ""), "a");
	ck_assert_uint_eq(json_object_array_length(steps), 1);
	first = json_object_array_get_idx(steps, 0);
	ck_assert_str_eq(json_string_or(first, "step", ""), "warn");
	ck_assert_int_eq(json_int_or(first, "iteration", 0), 3);
}

TEST(members_that_no_rule_knows_are_named)
{
	const char *file = write_history(
	    "[{\"analysis\":{\"coverage\":3},\"turn\":1,\"number\":1}]");
	struct e2e_run *run =
	    e2e_llmc(NULL, "report", "oversight", "check", file, NULL);

	ck_assert_int_eq(run->status, 0);
	e2e_has(run->err, "\"analysis.coverage\"");
	e2e_has(run->err, "\"turn\"");
	e2e_lacks(run->err, "\"number\"");
}
