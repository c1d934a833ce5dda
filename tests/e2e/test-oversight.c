/* SPDX-License-Identifier: ISC */

/* llmc oversight check: local, without a daemon or a repository. */

#include <string.h>

#include "e2e.h"
#include "file.h"
#include "json.h"
#include "unit.h"

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

START_TEST(a_history_is_judged_without_a_repository)
{
	const char *file = write_history(RED);
	struct e2e_run *run = e2e_llmc(NULL, "oversight", "check", file, NULL);
	struct json_object *list = e2e_json(run, 0), *first;

	ck_assert_uint_eq(json_object_array_length(list), 1);
	first = json_object_array_get_idx(list, 0);
	ck_assert_str_eq(json_string_or(first, "type", ""), "regression");
	ck_assert_str_eq(json_string_or(first, "severity", ""), "high");
	/* The same with --json. */
	ck_assert_str_eq(
	    e2e_llmc(NULL, "--json", "oversight", "check", file, NULL)->out,
	    run->out);
}
END_TEST

START_TEST(thresholds_of_the_file_are_used)
{
	const char *file =
	    write_history("{\"history\":" RED ",\"thresholds\":{\"regression\":"
			  "{\"testPassToFail\":false}}}");
	struct json_object *list =
	    e2e_json(e2e_llmc(NULL, "oversight", "check", file, NULL), 0);

	ck_assert_uint_eq(json_object_array_length(list), 0);
}
END_TEST

START_TEST(mistakes_are_named)
{
	const char *file =
	    write_history("[{\"analysis\":{\"testsPassing\":3}}]");
	struct e2e_run *run = e2e_llmc(NULL, "oversight", "check", file, NULL);

	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "[0].analysis.testsPassing: expected");
	run = e2e_llmc(NULL, "oversight", "check", "/none/there", NULL);
	ck_assert_int_eq(run->status, 1);
	e2e_has(run->err, "/none/there");
	run = e2e_llmc(NULL, "oversight", "check", NULL);
	ck_assert_int_eq(run->status, 2);
	e2e_has(run->err, "check needs a FILE");
	run = e2e_llmc(NULL, "oversight", "chek", file, NULL);
	ck_assert_int_eq(run->status, 2);
	e2e_has(run->err, "llmc oversight check FILE");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("oversight");

	unit_case(suite, "oversight",
	    (const TTest *const[]){ a_history_is_judged_without_a_repository,
		thresholds_of_the_file_are_used, mistakes_are_named, NULL });
	return suite;
}
