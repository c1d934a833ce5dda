/* SPDX-License-Identifier: ISC */

/* The table itself. Whether its rows get out of a box is tested by
 * tests/e2e/test-doctor-box.c. */
#include <string.h>

#include "escape-table.h"
#include "unit.h"

TEST(every_row_is_complete_and_named_once)
{
	for (size_t i = 0; i < escape_count(); i++) {
		const struct escape *row = &escape_table[i];

		ck_assert_ptr_nonnull(row->words);
		ck_assert_ptr_nonnull(row->script);
		ck_assert_ptr_nonnull(row->look);
		ck_assert_uint_ne(row->modes & ESCAPE_ALL, 0);
		ck_assert_msg(
		    (row->group == ESCAPE_DEPUTIES) == (row->deputy != NULL),
		    "%s", row->id);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(row->id, escape_table[j].id);
	}
}

TEST(every_group_has_rows_in_its_modes)
{
	unsigned modes[ESCAPE_GROUP_COUNT] = { 0 };

	for (size_t i = 0; i < escape_count(); i++)
		modes[escape_table[i].group] |= escape_table[i].modes;
	for (size_t i = 0; i < ESCAPE_GROUP_COUNT; i++)
		ck_assert_uint_eq(modes[i] & ESCAPE_BOTH,
		    i == ESCAPE_NETWORK ? ESCAPE_STRICT : ESCAPE_BOTH);
}

TEST(only_what_escapes_without_a_box_is_evidence)
{
	ck_assert_int_eq(escape_judge(false, true), ESCAPE_HELD);
	ck_assert_int_eq(escape_judge(true, true), ESCAPE_NOT_HELD);
	ck_assert_int_eq(escape_judge(true, false), ESCAPE_NOT_HELD);
	ck_assert_int_eq(escape_judge(false, false), ESCAPE_NO_EVIDENCE);
	ck_assert_str_eq(escape_verdict_word(ESCAPE_NOT_HELD), "NOT held");
	ck_assert_str_eq(escape_group_word(ESCAPE_DEPUTIES), "deputies");
}
