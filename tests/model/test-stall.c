/* SPDX-License-Identifier: ISC */

#include <limits.h>

#include "mem.h"
#include "stall.h"
#include "unit.h"

#define TIMEOUT 600000
#define LATE    (TIMEOUT + 1)
#define NONE    INT64_MAX

START_TEST(actions)
{
	static const struct {
		const char *rule;
		struct stall_facts facts;
		enum stall_action action;
	} cases[] = {
		{ "signs of life are waited for", { 0, 0, NONE, false, 0 },
		    STALL_WAIT },
		{ "a hook is one", { 5, LATE, NONE, false, 0 }, STALL_WAIT },
		{ "so is a growing transcript", { LATE, 5, NONE, false, 0 },
		    STALL_WAIT },
		{ "the whole timeout is not yet a stall",
		    { TIMEOUT, TIMEOUT, NONE, false, 0 }, STALL_WAIT },
		{ "silence is interrupted", { LATE, LATE, NONE, false, 0 },
		    STALL_INTERRUPT },
		{ "what never spoke too", { NONE, NONE, NONE, false, 0 },
		    STALL_INTERRUPT },
		{ "what was tried gets its time",
		    { LATE * 2, LATE * 2, TIMEOUT, false, 1 }, STALL_WAIT },
		{ "then the session is begun anew",
		    { LATE * 2, LATE * 2, LATE, false, 1 }, STALL_RESTART },
		{ "which gets its time", { NONE, NONE, 0, false, 2 },
		    STALL_WAIT },
		{ "then it failed", { NONE, NONE, LATE, false, 2 },
		    STALL_FAIL },
		{ "and stays so", { NONE, NONE, NONE, false, INT_MAX },
		    STALL_FAIL },
		{ "life between the stages is waited for",
		    { 5, LATE, LATE, false, 2 }, STALL_WAIT },
		{ "a tool may take four times that",
		    { TIMEOUT * 4, TIMEOUT * 4, NONE, true, 0 }, STALL_WAIT },
		{ "but not more",
		    { TIMEOUT * 4 + 1, TIMEOUT * 4 + 1, NONE, true, 0 },
		    STALL_INTERRUPT },
		{ "at every stage", { NONE, NONE, TIMEOUT * 4, true, 1 },
		    STALL_WAIT },
		{ "a clock that went back proves nothing",
		    { -1, NONE, NONE, false, 0 }, STALL_WAIT },
		{ "neither way", { NONE, NONE, INT64_MIN, false, 1 },
		    STALL_WAIT },
		{ "a stage below the first is the first",
		    { LATE, LATE, NONE, false, -1 }, STALL_INTERRUPT },
	};

	for (size_t i = 0; i < nitems(cases); i++)
		ck_assert_msg(
		    stall_judge(&cases[i].facts, TIMEOUT) == cases[i].action,
		    "%s: %s", cases[i].rule,
		    stall_action_name(stall_judge(&cases[i].facts, TIMEOUT)));
}
END_TEST

START_TEST(no_timeout_never_stalls)
{
	struct stall_facts facts = { NONE, NONE, NONE, true, 2 };

	ck_assert_int_eq(stall_judge(&facts, 0), STALL_WAIT);
	ck_assert_int_eq(stall_judge(&facts, -1), STALL_WAIT);
	ck_assert_int_eq(stall_judge(&facts, INT64_MAX), STALL_WAIT);
	ck_assert_int_eq(stall_judge(&facts, INT64_MAX / 2), STALL_WAIT);
	ck_assert_int_eq(stall_judge(&facts, 1), STALL_FAIL);
}
END_TEST

START_TEST(actions_have_names)
{
	ck_assert_str_eq(stall_action_name(STALL_WAIT), "wait");
	ck_assert_str_eq(stall_action_name(STALL_INTERRUPT), "interrupt");
	ck_assert_str_eq(stall_action_name(STALL_RESTART), "restart");
	ck_assert_str_eq(stall_action_name(STALL_FAIL), "fail");
}
END_TEST

Suite *
unit_suite(void)
{
	Suite *suite = suite_create("stall");

	unit_case(suite, "judge",
	    (const TTest *[]){
		actions, no_timeout_never_stalls, actions_have_names, NULL });
	return suite;
}
