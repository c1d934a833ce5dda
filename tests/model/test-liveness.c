/* SPDX-License-Identifier: ISC */

#include "liveness.h"
#include "mem.h"
#include "unit.h"

#define TIMEOUT  900000
#define LONG_AGO (TIMEOUT * 100LL)

START_TEST(verdicts)
{
	static const struct {
		const char *rule;
		struct liveness_evidence evidence;
		enum liveness_verdict verdict;
	} cases[] = {
		{ "everything is recent", { 0, 0, 0, false, true },
		    LIVENESS_FINE },
		{ "no process outranks all", { 0, 0, 0, true, false },
		    LIVENESS_DEAD },
		{ "a third is not yet quiet",
		    { TIMEOUT / 3, TIMEOUT / 3, LONG_AGO, false, true },
		    LIVENESS_FINE },
		{ "nor is one of the two alone",
		    { TIMEOUT / 3, LONG_AGO, 0, false, true }, LIVENESS_FINE },
		{ "neither of them", { LONG_AGO, TIMEOUT / 3, 0, false, true },
		    LIVENESS_FINE },
		{ "more than a third is quiet",
		    { TIMEOUT / 3 + 1, TIMEOUT / 3 + 1, 0, false, true },
		    LIVENESS_QUIET },
		{ "growth of the transcript is life",
		    { LONG_AGO, 5, LONG_AGO, false, true }, LIVENESS_FINE },
		{ "a hook is life", { 5, LONG_AGO, LONG_AGO, false, true },
		    LIVENESS_FINE },
		{ "CPU use keeps it from being hung",
		    { LONG_AGO, LONG_AGO, TIMEOUT, false, true },
		    LIVENESS_QUIET },
		{ "the whole timeout is not yet hung",
		    { TIMEOUT, TIMEOUT, TIMEOUT, false, true },
		    LIVENESS_QUIET },
		{ "no evidence at all is hung",
		    { TIMEOUT + 1, TIMEOUT + 1, TIMEOUT + 1, false, true },
		    LIVENESS_HUNG },
		{ "a build may take four times that",
		    { TIMEOUT * 4, TIMEOUT * 4, TIMEOUT * 4, true, true },
		    LIVENESS_QUIET },
		{ "but not more",
		    { TIMEOUT * 4 + 1, TIMEOUT * 4 + 1, TIMEOUT * 4 + 1, true,
			true },
		    LIVENESS_HUNG },
		{ "what never was is old",
		    { INT64_MAX, INT64_MAX, INT64_MAX, true, true },
		    LIVENESS_HUNG },
		{ "a clock that went back proves nothing",
		    { -5, INT64_MIN, -5, false, true }, LIVENESS_FINE },
	};

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(liveness_judge(&cases[i].evidence, TIMEOUT) ==
			cases[i].verdict,
		    "%s: wanted %s", cases[i].rule,
		    liveness_verdict_name(cases[i].verdict));
}
END_TEST

START_TEST(timeout_of_zero_only_tells_the_dead)
{
	struct liveness_evidence evidence = { LONG_AGO, LONG_AGO, LONG_AGO,
		false, true };

	ck_assert_int_eq(liveness_judge(&evidence, 0), LIVENESS_FINE);
	ck_assert_int_eq(liveness_judge(&evidence, -1), LIVENESS_FINE);
	evidence.process = false;
	ck_assert_int_eq(liveness_judge(&evidence, 0), LIVENESS_DEAD);
}
END_TEST

START_TEST(huge_timeout_does_not_overflow)
{
	struct liveness_evidence evidence = { LONG_AGO, LONG_AGO, LONG_AGO,
		true, true };

	ck_assert_int_eq(liveness_judge(&evidence, INT64_MAX), LIVENESS_FINE);
	ck_assert_int_eq(
	    liveness_judge(&evidence, INT64_MAX / 4 + 1), LIVENESS_FINE);
}
END_TEST

START_TEST(verdicts_have_names)
{
	ck_assert_str_eq(liveness_verdict_name(LIVENESS_FINE), "fine");
	ck_assert_str_eq(liveness_verdict_name(LIVENESS_QUIET), "quiet");
	ck_assert_str_eq(liveness_verdict_name(LIVENESS_HUNG), "hung");
	ck_assert_str_eq(liveness_verdict_name(LIVENESS_DEAD), "dead");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("liveness");

	unit_case(suite, "judge",
	    (const TTest *[]){ verdicts, timeout_of_zero_only_tells_the_dead,
		huge_timeout_does_not_overflow, verdicts_have_names, NULL });
	return suite;
}
