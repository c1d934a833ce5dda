/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "plan-node.h"

TEST(a_word_says_how_many_iterations_are_expected)
{
	ck_assert_int_eq(plan_effort_iterations("XS"), 3);
	ck_assert_int_eq(plan_effort_iterations("small"), 6);
	ck_assert_int_eq(plan_effort_iterations("Medium"), 12);
	ck_assert_int_eq(plan_effort_iterations("l"), 24);
	ck_assert_int_eq(plan_effort_iterations("huge"), 48);
	ck_assert_int_eq(plan_effort_iterations("15"), 15);
}

TEST(other_words_say_nothing)
{
	static const char *const words[] = { NULL, "", "0", "-1", "2 days",
		"small or large", "99999999", "1.5", NULL };

	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(plan_effort_iterations(words[i]), -1);
}
