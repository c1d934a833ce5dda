/* SPDX-License-Identifier: ISC */

#include "unit.h"

/* Each comes before the next. */
static const char *const names[] = { "", "1", "02", "2", "10", "010a",
	"99999999999999999999999", "100000000000000000000000", "a", "auto",
	"auto-2", "auto-9", "auto-10", "auto-10b", "b", "t01", "t1", "t1a2",
	"t1a11", "\xc3\xa4" };

TEST(numbers_in_names_are_compared_as_numbers)
{
	for (size_t i = 0; i < nitems(names); i++)
		for (size_t j = 0; j < nitems(names); j++) {
			int order = natural_compare(names[i], names[j]);

			ck_assert_msg(i == j ? order == 0 :
				i < j        ? order < 0 :
					       order > 0,
			    "%s, %s: %d", names[i], names[j], order);
		}
}
