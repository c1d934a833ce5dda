/* SPDX-License-Identifier: ISC */

#include "liveness.h"
#include "mem.h"
#include "unit.h"

#define TIMEOUT  900000
#define LONG_AGO (TIMEOUT * 100LL)

START_TEST(hung_is_what_gives_no_sign_at_all)
{
	static const struct {
		const char *rule;
		struct liveness_evidence evidence;
		bool hung;
	} cases[] = {
		{ "everything is recent", { 0, 0, 0, false, true }, false },
		{ "without a process it has ended",
		    { LONG_AGO, LONG_AGO, LONG_AGO, true, false }, false },
		{ "growth of the transcript is life",
		    { LONG_AGO, 5, LONG_AGO, false, true }, false },
		{ "a hook is life", { 5, LONG_AGO, LONG_AGO, false, true },
		    false },
		{ "CPU use is life",
		    { LONG_AGO, LONG_AGO, TIMEOUT, false, true }, false },
		{ "the whole timeout is not yet hung",
		    { TIMEOUT, TIMEOUT, TIMEOUT, false, true }, false },
		{ "no evidence at all is hung",
		    { TIMEOUT + 1, TIMEOUT + 1, TIMEOUT + 1, false, true },
		    true },
		{ "a build may take four times that",
		    { TIMEOUT * 4, TIMEOUT * 4, TIMEOUT * 4, true, true },
		    false },
		{ "but not more",
		    { TIMEOUT * 4 + 1, TIMEOUT * 4 + 1, TIMEOUT * 4 + 1, true,
			true },
		    true },
		{ "what never was is old",
		    { INT64_MAX, INT64_MAX, INT64_MAX, true, true }, true },
		{ "a clock that went back proves nothing",
		    { -5, INT64_MIN, -5, false, true }, false },
	};

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(liveness_is_hung(&cases[i].evidence, TIMEOUT) ==
			cases[i].hung,
		    "%s", cases[i].rule);
}
END_TEST

START_TEST(timeout_of_zero_is_never)
{
	struct liveness_evidence evidence = { LONG_AGO, LONG_AGO, LONG_AGO,
		false, true };

	ck_assert(!liveness_is_hung(&evidence, 0));
	ck_assert(!liveness_is_hung(&evidence, -1));
}
END_TEST

START_TEST(huge_timeout_does_not_overflow)
{
	struct liveness_evidence evidence = { LONG_AGO, LONG_AGO, LONG_AGO,
		true, true };

	ck_assert(!liveness_is_hung(&evidence, INT64_MAX));
	ck_assert(!liveness_is_hung(&evidence, INT64_MAX / 4 + 1));
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("liveness");

	unit_case(suite, "judge",
	    (const TTest *[]){ hung_is_what_gives_no_sign_at_all,
		timeout_of_zero_is_never, huge_timeout_does_not_overflow,
		NULL });
	return suite;
}
