/* SPDX-License-Identifier: ISC */

#include <time.h>

#include "moment.h"
#include "unit.h"

#define AT_MS INT64_C(1769847330123) /* 2026-01-31 08:15:30.123 UTC */

static void
zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

TEST(a_stamp_of_a_log_is_shown_in_local_time)
{
	cleanup_buf struct buf text = BUF_INIT;
	int64_t at = 0;

	ck_assert(moment_parse("2026-01-31T08:15:30.123Z", &at));
	ck_assert_int_eq(at, AT_MS);
	zone("TEST-5:30");
	moment_add(&text, at);
	ck_assert_str_eq(text.data, "2026-01-31 13:45:30");
	buf_clear(&text);
	zone("UTC");
	moment_add(&text, at);
	ck_assert_str_eq(text.data, "2026-01-31 08:15:30");
}

TEST(a_name_begins_with_its_time)
{
	static const char *const bad[] = { "", "checks-t1", "20260131",
		"20260131T081530", "20260131T081530Zx", "new-20260131T081530Z",
		"20261331T081530Z" };
	int64_t at = 0;

	zone("TEST-5:30");
	ck_assert(moment_parse_compact("20260131T081530Z", &at));
	ck_assert_int_eq(at, AT_MS / 1000 * 1000);
	at = 0;
	ck_assert(moment_parse_compact("20260131T081530Z-t17", &at));
	ck_assert_int_eq(at, AT_MS / 1000 * 1000);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(!moment_parse_compact(bad[i], &at), "%s", bad[i]);
}

TEST(what_is_no_time_is_not_taken_for_one)
{
	int64_t at = 7;

	ck_assert(!moment_parse("", &at));
	ck_assert(!moment_parse("2026-01-31", &at));
	ck_assert(!moment_parse("2026-01-31T08:15:30", &at));
	ck_assert(!moment_parse("2026-01-31T08:15:30+01:00", &at));
	ck_assert_int_eq(at, 7);
}

TEST(an_age_is_never_negative)
{
	cleanup_buf struct buf text = BUF_INIT;

	moment_add_age(&text, 185999);
	ck_assert_str_eq(text.data, "3m5s");
	buf_clear(&text);
	moment_add_age(&text, -1);
	ck_assert_str_eq(text.data, "0s");
}
