/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "work-record.h"

TEST(every_priority_has_a_name)
{
	enum priority priority;

	for (int i = 0; i < PRIORITY_COUNT; i++) {
		priority = PRIORITY_COUNT;
		ck_assert(
		    priority_parse(priority_name((enum priority)i), &priority));
		ck_assert_int_eq(priority, i);
	}
}

TEST(other_words_are_refused)
{
	static const char *const words[] = { "", "Urgent", "urgen", "3" };
	enum priority priority = PRIORITY_LOW;

	for (size_t i = 0; i < nitems(words); i++)
		ck_assert(!priority_parse(words[i], &priority));
	ck_assert_int_eq(priority, PRIORITY_LOW);
}

TEST(urgent_is_first_and_low_is_last)
{
	for (int i = 0; i < PRIORITY_COUNT; i++)
		for (int k = 0; k < PRIORITY_COUNT; k++)
			ck_assert_int_eq(priority_compare((enum priority)i,
					     (enum priority)k),
			    i < k ? -1 : i > k);
	ck_assert_int_lt(priority_compare(PRIORITY_URGENT, PRIORITY_LOW), 0);
}

TEST(numbers_of_task_files_have_a_priority)
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

TEST(every_priority_has_a_number)
{
	for (int i = 0; i < PRIORITY_COUNT; i++)
		ck_assert_int_eq(
		    priority_from_number(priority_to_number((enum priority)i)),
		    i);
}
