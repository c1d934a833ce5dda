/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "view-private.h"

#define NOW INT64_C(1768546680) /* 2026-01-16 06:58:00 UTC */

static const struct {
	int64_t age;
	const char *words;
	int64_t lasts; /* seconds */
} ages[] = {
	{ 0, "0s", 1 },
	{ -5, "0s", 1 },
	{ 59, "59s", 1 },
	{ 60, "1m", 60 },
	{ 119, "1m", 1 },
	{ 3599, "59m", 1 },
	{ 3600, "1h", 3600 },
	{ 172799, "47h", 1 },
	{ 172800, "2d", 86400 },
	{ NOW, "-", -1 },
	{ NOW + 1, "-", -1 },
};

static const struct {
	int64_t ms, from_ms; /* from_ms: before now */
	const char *words;
	int64_t lasts_ms;
} running[] = {
	{ 0, 0, "0s", 1000 }, { 500, 300, "1s", 1000 },
	{ 500, 500, "1s", 1000 }, { 58000, 999, "59s", 1000 },
	{ 59000, 1000, "1m", 60000 }, { 3600000, 90000, "1h1m", 30000 },
	{ INT64_C(172800000), 0, "2d0h", 3600000 },
	{ 0, -5000, "0s", 6000 }, /* in the future */
};

TEST_ROWS(what_goes_on_is_added_to_what_has_ended, nitems(running))
{
	struct top_clock clock = { NOW * 1000, 0, INT64_MAX };
	cleanup_buf struct buf out = BUF_INIT;

	top_add_running(
	    &clock, running[_i].ms, NOW * 1000 - running[_i].from_ms, &out);
	ck_assert_str_eq(out.data, running[_i].words);
	ck_assert_int_eq(clock.next_ms, NOW * 1000 + running[_i].lasts_ms);
}

TEST_ROWS(an_age_has_one_unit_and_says_how_long_it_is_true, nitems(ages))
{
	struct top_clock clock = { NOW * 1000 + 500, 0, INT64_MAX };
	cleanup_buf struct buf out = BUF_INIT;

	top_add_age(&clock, NOW - ages[_i].age, &out);
	ck_assert_str_eq(out.data, ages[_i].words);
	ck_assert_int_eq(clock.next_ms,
	    ages[_i].lasts < 0 ? INT64_MAX : (NOW + ages[_i].lasts) * 1000);
}

static const struct {
	int offset;
	int64_t at;
	const char *words;
} moments[] = {
	{ 0, NOW, "06:58" },
	{ 7200, NOW, "08:58" },
	{ -8 * 3600, NOW, "22:58" },
	{ 0, NOW - 86400, "01-15" },
	{ 0, NOW - 7 * 3600, "01-15" },
	{ 0, NOW - 320 * INT64_C(86400), "03-02" },
	{ 0, NOW + 45 * INT64_C(86400), "03-02" },
	{ 0, 0, "-" },
	{ 0, INT64_MAX, "-" },
	{ 0, INT64_MIN, "-" },
};

TEST_ROWS(a_moment_is_a_time_of_today_or_a_date, nitems(moments))
{
	struct top_clock clock = { NOW * 1000, moments[_i].offset, INT64_MAX };
	cleanup_buf struct buf out = BUF_INIT;

	top_add_moment(&clock, moments[_i].at, &out);
	ck_assert_str_eq(out.data, moments[_i].words);
}

TEST(the_time_of_day_is_true_until_the_next_minute)
{
	struct top_clock clock = { NOW * 1000 + 30000, 5400, INT64_MAX };
	cleanup_buf struct buf out = BUF_INIT;

	top_add_now(&clock, &out);
	ck_assert_str_eq(out.data, "08:28");
	ck_assert_int_eq(clock.next_ms, (NOW + 60) * 1000);
}

static const struct {
	int64_t day;
	const char *words;
} days[] = {
	{ 0, "1970-01-01" },
	{ 59, "1970-03-01" },
	{ 11016, "2000-02-29" },
	{ 20469, "2026-01-16" },
	{ 20453, "2025-12-31" },
	{ -1, "-" },
	{ INT64_MAX, "-" },
};

TEST_ROWS(a_day_is_a_date, nitems(days))
{
	cleanup_buf struct buf out = BUF_INIT;

	top_add_day(days[_i].day, &out);
	ck_assert_str_eq(out.data, days[_i].words);
}

static const struct {
	int64_t count;
	const char *words;
} counts[] = {
	{ 0, "0" },
	{ 999, "999" },
	{ 1000, "1.0k" },
	{ 9999, "9.9k" },
	{ 12345, "12k" },
	{ 4100000, "4.1M" },
	{ 999999999, "999M" },
	{ INT64_C(12000000000), "12G" },
	{ INT64_MAX, "9223372T" },
};

TEST_ROWS(a_count_has_at_most_a_digit_after_the_point, nitems(counts))
{
	cleanup_buf struct buf out = BUF_INIT;

	top_add_count(counts[_i].count, &out);
	ck_assert_str_eq(out.data, counts[_i].words);
}

static const struct {
	int64_t micros;
	const char *source, *cell, *words;
} costs[] = {
	{ 410000, "reported", "0.41", "$0.41" },
	{ 410000, "estimate", "~0.41", "$0.41 est." },
	{ 0, "reported", "0.00", "$0.00" },
	{ 1, "reported", "0.001", "$0.001" },
	{ 9499, "estimate", "~0.009", "$0.009 est." },
	{ 9500, "reported", "0.01", "$0.01" },
	{ 99990000, "estimate", "~99.99", "$99.99 est." },
	{ 123450000, "estimate", "~123", "$123.45 est." },
	{ 410000, "unknown", "?", "?" },
	{ -1, "reported", "?", "?" },
	{ INT64_MAX, "reported", "?", "?" },
	{ 410000, NULL, "?", "?" },
};

TEST_ROWS(an_unknown_cost_is_never_nothing, nitems(costs))
{
	cleanup_json struct json_object *row = json_object_new_object();
	cleanup_buf struct buf out = BUF_INIT;

	json_set_int(row, "cost_micros", costs[_i].micros);
	json_set_string(row, "cost_source", costs[_i].source);
	top_add_cost(row, &out);
	ck_assert_str_eq(out.data, costs[_i].cell);
	buf_clear(&out);
	top_add_cost_words(row, &out);
	ck_assert_str_eq(out.data, costs[_i].words);
}
