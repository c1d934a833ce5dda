/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "priority.h"
#include "word.h"

const char *const priority_words[] = {
	[PRIORITY_URGENT] = "urgent",
	[PRIORITY_HIGH] = "high",
	[PRIORITY_NORMAL] = "normal",
	[PRIORITY_LOW] = "low",
	[PRIORITY_COUNT] = NULL,
};

static const int numbers[] = {
	[PRIORITY_URGENT] = 0,
	[PRIORITY_HIGH] = 1,
	[PRIORITY_NORMAL] = 3,
	[PRIORITY_LOW] = 4,
};

_Static_assert(
    nitems(numbers) == PRIORITY_COUNT, "a number for every priority");
_Static_assert(
    nitems(priority_words) == PRIORITY_COUNT + 1, "a word for every priority");

const char *
priority_name(enum priority priority)
{
	return priority_words[priority];
}

bool
priority_parse(const char *name, enum priority *ret_priority)
{
	unsigned index;

	if (!word_find(priority_words, name, &index))
		return false;
	*ret_priority = (enum priority)index;
	return true;
}

enum priority
priority_from_number(int64_t number)
{
	if (number <= 0)
		return PRIORITY_URGENT;
	if (number <= 2)
		return PRIORITY_HIGH;
	return number == 3 ? PRIORITY_NORMAL : PRIORITY_LOW;
}

int
priority_to_number(enum priority priority)
{
	return numbers[priority];
}

int
priority_compare(enum priority a, enum priority b)
{
	return a < b ? -1 : a > b;
}
