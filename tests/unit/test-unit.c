/* SPDX-License-Identifier: ISC */

/* Tests the test framework: this program runs itself with SAMPLE set, and
 * checks the output. */
#include "unit.h"

#define SAMPLE "LLMC_UNIT_SAMPLE"

START_TEST(passes)
{
	ck_assert(true);
}
END_TEST

START_TEST(is_skipped)
{
	unit_path("so that there is a scratch folder");
	unit_skip("there is no moon");
}
END_TEST

START_TEST(fails)
{
	ck_abort_msg("as it should");
}
END_TEST

static const TTest *const *
sample(void)
{
	static const TTest *tests[] = { NULL, NULL, NULL };
	const char *name = getenv(SAMPLE);

	tests[0] = passes;
	tests[1] = strcmp(name, "fails") == 0 ? fails : is_skipped;
	return tests;
}

/* Without the file name before the test names. */
static void
run_sample(const char *name, int status, const char *second)
{
	cleanup_free char *self = realpath("/proc/self/exe", NULL);
	const char *const argv[] = { self, NULL };
	cleanup_free char *edit = xasprintf(SAMPLE "=%s", name);
	const char *const env[] = { edit, "CK_FORK", NULL };
	struct child_spec spec = { .argv = argv,
		.env = env,
		.output_max = 4096,
		.deadline_ms = 20000 };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf out = BUF_INIT;
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(result.status, status);
	child_output_text(&result.out, &out);
	ck_assert_ptr_nonnull(strstr(out.data, ":sample:passes: Passed\n"));
	ck_assert_msg(strstr(out.data, second) != NULL, "%s", out.data);
	ck_assert_ptr_nonnull(strstr(out.data, "\n1..2\n"));
}

START_TEST(a_skipped_test_has_neither_passed_nor_failed)
{
	run_sample("skips", 0, ":sample:is_skipped # SKIP there is no moon\n");
}
END_TEST

START_TEST(a_failed_test_is_told_by_the_status)
{
	run_sample("fails", 1, ":sample:fails: as it should\n");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *s = suite_create("unit");

	if (getenv(SAMPLE) != NULL) {
		unit_case(s, "sample", sample());
		return s;
	}
	unit_case(s, "skipping",
	    (const TTest *[]){ a_skipped_test_has_neither_passed_nor_failed,
		a_failed_test_is_told_by_the_status, NULL });
	return s;
}
