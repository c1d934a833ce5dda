/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "notice.h"

TEST(every_class_has_a_name_and_words)
{
	for (int i = NOTICE_NONE + 1; i < NOTICE_CLASS_COUNT; i++) {
		struct notice n = { .class = (enum notice_class)i };

		ck_assert_ptr_nonnull(notice_name(n.class));
		ck_assert_ptr_nonnull(notice_title(&n));
	}
	ck_assert_ptr_null(notice_name(NOTICE_NONE));
}
