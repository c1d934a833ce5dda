/* SPDX-License-Identifier: ISC */

#include <limits.h>

#include "mem.h"
#include "priority.h"
#include "unit.h"

START_TEST(every_priority_has_a_name)
{
	enum priority priority;

	for (int i = 0; i < PRIORITY_COUNT; i++) {
		priority = PRIORITY_COUNT;
		ck_assert(
		    priority_parse(priority_name((enum priority)i), &priority));
		ck_assert_int_eq(priority, i);
	}
}
END_TEST

START_TEST(other_words_are_refused)
{
	static const char *const words[] = { "", "Urgent", "urgen", "3" };
	enum priority priority = PRIORITY_LOW;

	for (size_t i = 0; i < nitems(words); i++)
		ck_assert(!priority_parse(words[i], &priority));
	ck_assert_int_eq(priority, PRIORITY_LOW);
}
END_TEST

START_TEST(urgent_is_first_and_low_is_last)
{
	for (int i = 0; i < PRIORITY_COUNT; i++)
		for (int k = 0; k < PRIORITY_COUNT; k++)
			ck_assert_int_eq(priority_compare((enum priority)i,
					     (enum priority)k),
			    i < k ? -1 : i > k);
	ck_assert_int_lt(priority_compare(PRIORITY_URGENT, PRIORITY_LOW), 0);
}
END_TEST

START_TEST(numbers_of_task_files_have_a_priority)
{
	static const struct {
		int64_t number;
		enum priority priority;
	} rows[] = {
		{ INT64_MIN, PRIORITY_URGENT },
		{ 0, PRIORITY_URGENT },
		{ 1, PRIORITY_HIGH },
		{ 2, PRIORITY_HIGH },
		{ 3, PRIORITY_NORMAL },
		{ 4, PRIORITY_LOW },
		{ INT64_MAX, PRIORITY_LOW },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		ck_assert_int_eq(
		    priority_from_number(rows[i].number), rows[i].priority);
}
END_TEST

START_TEST(every_priority_has_a_number)
{
	for (int i = 0; i < PRIORITY_COUNT; i++)
		ck_assert_int_eq(
		    priority_from_number(priority_to_number((enum priority)i)),
		    i);
}
END_TEST

Suite *
unit_suite(void)
{
	const TTest *const tests[] = {
		every_priority_has_a_name,
		other_words_are_refused,
		urgent_is_first_and_low_is_last,
		numbers_of_task_files_have_a_priority,
		every_priority_has_a_number,
		NULL,
	};
	Suite *suite = suite_create("priority");

	unit_case(suite, "priority", tests);
	return suite;
}
