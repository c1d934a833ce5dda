/* SPDX-License-Identifier: ISC */

#include <time.h>

#include "moment.h"
#include "unit.h"

#define NEW_YORK "America/New_York"
#define DAY_MS   (86400 * (int64_t)1000)

/* "2026-03-08 06:59:00", UTC, in ms. */
static int64_t
utc(const char *text)
{
	struct tm tm = { 0 };

	ck_assert_ptr_nonnull(strptime(text, "%Y-%m-%d %H:%M:%S", &tm));
	return (int64_t)timegm(&tm) * 1000;
}

static void
expect(const struct zone_time *when, int64_t now_ms, const char *want)
{
	time_t at = (time_t)(time_zone_next(when, now_ms) / 1000);
	struct tm tm;
	char text[32];

	gmtime_r(&at, &tm);
	strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
	ck_assert_str_eq(text, want);
}

static void
expect_daily(
    int hour, int minute, const char *zone, const char *now, const char *want)
{
	expect(&(struct zone_time){ 0, 0, hour, minute, zone }, utc(now), want);
}

static void
expect_dated(int month, int day, int hour, const char *zone, const char *now,
    const char *want)
{
	expect(
	    &(struct zone_time){ month, day, hour, 0, zone }, utc(now), want);
}

static void
machine_in(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void
begin(void)
{
	machine_in("UTC");
}

void
unit_begin(void)
{
	if (!file_exists("/usr/share/zoneinfo/" NEW_YORK))
		unit_skip_all("no tzdata here");
}

TEST(time_of_day_is_today_or_tomorrow)
{
	begin();
	expect_daily(
	    17, 30, "UTC", "2026-06-10 10:00:00", "2026-06-10 17:30:00");
	expect_daily(
	    17, 30, "UTC", "2026-06-10 17:29:59", "2026-06-10 17:30:00");
	expect_daily(
	    17, 30, "UTC", "2026-06-10 17:30:00", "2026-06-11 17:30:00");
	expect_daily(0, 0, "UTC", "2026-12-31 00:00:01", "2027-01-01 00:00:00");
	expect_daily(
	    23, 59, "UTC", "2028-02-28 23:59:30", "2028-02-29 23:59:00");
}

TEST(part_of_a_second_is_after_it)
{
	int64_t now = utc("2026-06-10 17:30:00");

	begin();
	expect(&(struct zone_time){ 0, 0, 17, 30, "UTC" }, now - 1,
	    "2026-06-10 17:30:00");
	expect(&(struct zone_time){ 0, 0, 17, 30, "UTC" }, now + 1,
	    "2026-06-11 17:30:00");
}

TEST(zone_decides_what_clocks_show)
{
	begin();
	expect_daily(
	    17, 0, NEW_YORK, "2026-01-10 10:00:00", "2026-01-10 22:00:00");
	expect_daily(
	    17, 0, NEW_YORK, "2026-07-10 10:00:00", "2026-07-10 21:00:00");
	expect_daily(
	    9, 0, "Asia/Kolkata", "2026-07-10 10:00:00", "2026-07-11 03:30:00");
	/* There it is already the next day. */
	expect_daily(9, 0, "Pacific/Kiritimati", "2026-07-10 12:00:00",
	    "2026-07-10 19:00:00");
	expect_daily(9, 0, "Pacific/Pago_Pago", "2026-07-10 21:00:00",
	    "2026-07-11 20:00:00");
}

TEST(without_a_zone_the_machine_decides)
{
	static const char *const zones[] = { "", "Mars/Olympus", "america/nope",
		"../../../etc/passwd", "/etc/localtime", "America", "EST9XYZ" };

	machine_in("Asia/Tokyo");
	for (size_t i = 0; i < nitems(zones); i++)
		expect_daily(9, 0, zones[i], "2026-07-10 10:00:00",
		    "2026-07-11 00:00:00");
}

TEST(skipped_time_is_taken_from_before_the_change)
{
	begin();
	/* 02:00 became 03:00 at 07:00 UTC. */
	expect_daily(
	    2, 30, NEW_YORK, "2026-03-08 06:00:00", "2026-03-08 07:30:00");
	expect_daily(
	    2, 30, NEW_YORK, "2026-03-08 07:30:00", "2026-03-09 06:30:00");
	expect_daily(
	    3, 0, NEW_YORK, "2026-03-08 06:59:59", "2026-03-08 07:00:00");
	expect_dated(
	    3, 8, 2, NEW_YORK, "2026-03-08 06:00:00", "2026-03-08 07:00:00");
	/* Where winter time is the exception, according to tzdata. */
	expect_daily(1, 30, "Europe/Dublin", "2026-03-29 00:00:00",
	    "2026-03-29 01:30:00");
	/* Midnight itself is skipped. */
	expect_daily(
	    0, 0, "Africa/Cairo", "2026-04-23 12:00:00", "2026-04-23 22:00:00");
}

TEST(time_shown_twice_is_the_next_of_the_two)
{
	begin();
	expect_daily(
	    1, 30, NEW_YORK, "2026-11-01 05:00:00", "2026-11-01 05:30:00");
	expect_daily(
	    1, 30, NEW_YORK, "2026-11-01 05:30:00", "2026-11-01 06:30:00");
	expect_daily(
	    1, 30, NEW_YORK, "2026-11-01 06:30:00", "2026-11-02 06:30:00");
}

TEST(day_of_a_month_is_this_year_or_next)
{
	begin();
	expect_dated(
	    11, 3, 17, NEW_YORK, "2026-10-30 10:00:00", "2026-11-03 22:00:00");
	expect_dated(
	    11, 3, 17, NEW_YORK, "2026-11-03 22:00:00", "2027-11-03 21:00:00");
	expect_dated(
	    1, 1, 0, "UTC", "2026-12-31 23:59:59", "2027-01-01 00:00:00");
	expect_dated(
	    12, 31, 23, "UTC", "2027-01-01 00:00:00", "2027-12-31 23:00:00");
	/* New year's eve in New York is next year in UTC. */
	expect_dated(
	    12, 31, 22, NEW_YORK, "2027-01-01 02:00:00", "2027-01-01 03:00:00");
}

TEST(leap_day_waits_for_a_leap_year)
{
	begin();
	expect_dated(
	    2, 29, 5, "UTC", "2026-03-01 00:00:00", "2028-02-29 05:00:00");
	expect_dated(
	    2, 29, 5, "UTC", "2096-03-01 00:00:00", "2104-02-29 05:00:00");
}

TEST(half_a_date_is_none)
{
	begin();
	expect(&(struct zone_time){ 11, 0, 17, 0, "UTC" },
	    utc("2026-06-10 10:00:00"), "2026-06-10 17:00:00");
}

TEST(impossible_times_are_a_day_away)
{
	static const struct zone_time times[] = {
		{ 2, 30, 5, 0, "UTC" },
		{ 13, 40, 5, 0, "UTC" },
		{ 0, 0, 24, 0, "UTC" },
		{ 0, 0, 5, 60, "UTC" },
		{ 0, 0, 99, 99, "UTC" },
		{ 0, 0, -1, 0, "UTC" },
	};
	int64_t now = utc("2026-06-10 10:00:00");

	begin();
	for (size_t i = 0; i < nitems(times); i++) {
		int64_t at = time_zone_next(&times[i], now);

		ck_assert_msg(at > now && at <= now + 2 * DAY_MS, "%zu: %ld", i,
		    at - now);
	}
}

/* For any zone and any time of the year: the answer is later than now, soon
 * enough, and shows that time unless it is skipped there. */
TEST(answer_is_always_near_and_shown)
{
	static const char *const zones[] = { "UTC", NEW_YORK, "Europe/Dublin",
		"Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca" };
	int64_t begin_ms = utc("2026-01-01 00:00:00");
	int missed = 0;

	for (size_t z = 0; z < nitems(zones); z++) {
		machine_in(zones[z]);
		for (int i = 0; i < 365 * 6; i++) {
			struct zone_time when = { 0, 0, i % 24, i % 60,
				zones[z] };
			int64_t now = begin_ms + i * (DAY_MS / 6) + i;
			time_t at = (time_t)(time_zone_next(&when, now) / 1000);
			struct tm tm;

			ck_assert_int_gt((int64_t)at * 1000, now);
			ck_assert_int_le(
			    (int64_t)at * 1000, now + DAY_MS + DAY_MS / 24);
			localtime_r(&at, &tm);
			missed +=
			    tm.tm_hour != when.hour || tm.tm_min != when.minute;
		}
	}
	ck_assert_int_le(missed, 12);
}

TEST(zone_of_the_machine_is_left_as_it_was)
{
	time_t at = (time_t)(utc("2026-07-10 00:00:00") / 1000);
	struct tm tm;

	machine_in("Asia/Tokyo");
	expect_daily(
	    17, 0, NEW_YORK, "2026-07-10 10:00:00", "2026-07-10 21:00:00");
	ck_assert_str_eq(getenv("TZ"), "Asia/Tokyo");
	localtime_r(&at, &tm);
	ck_assert_int_eq(tm.tm_hour, 9);
	unsetenv("TZ");
	tzset();
	expect_daily(
	    17, 0, NEW_YORK, "2026-07-10 10:00:00", "2026-07-10 21:00:00");
	ck_assert_ptr_null(getenv("TZ"));
	machine_in("");
	expect_daily(
	    17, 0, NEW_YORK, "2026-07-10 10:00:00", "2026-07-10 21:00:00");
	ck_assert_str_eq(getenv("TZ"), "");
}
