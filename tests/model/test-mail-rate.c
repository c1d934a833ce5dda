/* SPDX-License-Identifier: ISC */

/* How much mail an agent has sent of late. */
#include "unit.h"
#include "mail.h"

TEST(each_sender_counts_for_itself_for_a_minute)
{
	struct mail_rate rate = { 0 };

	for (int64_t ms = 1000; ms < 1000 + 30; ms++)
		mail_rate_add(&rate, "a", ms, ms);
	mail_rate_add(&rate, "b", 1030, 1030);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 1030), 30);
	ck_assert_uint_eq(mail_rate_count(&rate, "b", 1030), 1);
	ck_assert_uint_eq(mail_rate_count(&rate, "c", 1030), 0);
	ck_assert_uint_eq(
	    mail_rate_count(&rate, "a", 1029 + MAIL_RATE_MS - 1), 1);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 1029 + MAIL_RATE_MS), 0);
	/* Nothing that is too old is kept. */
	mail_rate_add(&rate, "a", 1029 + MAIL_RATE_MS, 1029 + MAIL_RATE_MS);
	ck_assert_uint_eq(rate.count, 2);
	mail_rate_release(&rate);
}

TEST(clock_that_was_set_back_holds_nobody_up)
{
	struct mail_rate rate = { 0 };

	mail_rate_add(&rate, "a", 1000000, 1000000);
	ck_assert_uint_eq(mail_rate_count(&rate, "a", 5000), 0);
	mail_rate_add(&rate, "a", 5000, 5000);
	ck_assert_uint_eq(rate.count, 1);
	mail_rate_release(&rate);
}
