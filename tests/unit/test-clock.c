/* SPDX-License-Identifier: ISC */

#include <time.h>

#include "unit.h"

#define SCALE     50
#define YEAR_2020 INT64_C(1577836800000)

TEST(the_monotonic_clock_never_goes_back)
{
	int64_t last = clock_mono_us();

	ck_assert_int_gt(last, 0);
	for (int i = 0; i < 10000; i++) {
		int64_t now = clock_mono_us();

		ck_assert_int_ge(now, last);
		last = now;
	}
	ck_assert_int_ge(clock_mono_ms(), last / 1000);
}

TEST(the_clocks_are_those_of_the_machine)
{
	struct timespec before, after;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &before);
	ms = clock_mono_ms();
	clock_gettime(CLOCK_MONOTONIC, &after);
	ck_assert_int_ge(ms, before.tv_sec * 1000 + before.tv_nsec / 1000000);
	ck_assert_int_le(ms, after.tv_sec * 1000 + after.tv_nsec / 1000000);

	ck_assert_int_ge(clock_wall_ms(), YEAR_2020);
	ck_assert_int_lt(
	    llabs(clock_wall_ms() - (int64_t)time(NULL) * 1000), 60000);
}

/* --- clocks that run faster -------------------------------------------- */

static const struct {
	const char *text;
	int scale;
} scales[] = {
	{ "50", SCALE },
	{ "1", 1 },
	{ "", 1 },
	{ "0", 1 },
	{ "-5", 1 },
	{ "1001", 1 },
	{ "fast", 1 },
	{ "5x", 1 },
};

/* The scale is read once per process: check forks for each of these tests. */
static void
set_scale(const char *text)
{
	const char *fork_mode = getenv("CK_FORK");

	if (fork_mode != NULL && strcmp(fork_mode, "no") == 0)
		unit_skip("each of these needs a process of its own");
	setenv("LLMC_TIME_SCALE", text, 1);
}

static int64_t
machine_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

TEST_ROWS(the_scale_is_a_number_of_the_environment, nitems(scales))
{
	int64_t before, us;

	set_scale(scales[_i].text);
	before = machine_us(CLOCK_MONOTONIC);
	us = clock_mono_us();
	ck_assert_int_ge(us, before * scales[_i].scale);
	ck_assert_int_le(us, machine_us(CLOCK_MONOTONIC) * scales[_i].scale);
	ck_assert_int_eq(clock_kernel_us(1), 1);
	ck_assert_int_eq(clock_kernel_ms(100), 100 / scales[_i].scale);
	ck_assert_int_eq(clock_kernel_ms(101),
	    scales[_i].scale == 1 ? 101 : 100 / scales[_i].scale + 1);
	ck_assert_int_eq(clock_of_kernel_ms(100), 100 * scales[_i].scale);
}

static void
stop(void *arg)
{
	loop_stop(arg, 0);
}

TEST(a_timer_waits_less_and_the_clocks_agree)
{
	int64_t began, mono, wall;
	struct loop_timer *timer;
	struct loop *loop;

	set_scale("50");
	loop = loop_new();
	mono = clock_mono_ms();
	wall = clock_wall_ms();
	began = machine_us(CLOCK_MONOTONIC);
	timer = loop_after(loop, (int64_t)200 * SCALE, stop, loop);
	loop_run(loop);
	ck_assert_int_ge(machine_us(CLOCK_MONOTONIC) - began, 199000);
	ck_assert_int_lt(
	    machine_us(CLOCK_MONOTONIC) - began, (int64_t)200 * SCALE * 1000);
	mono = clock_mono_ms() - mono;
	wall = clock_wall_ms() - wall;
	ck_assert_int_ge(mono, (int64_t)200 * SCALE);
	ck_assert_int_lt(llabs(wall - mono), (int64_t)100 * SCALE);
	loop_timer_free(timer);
	loop_free(loop);
}

TEST(the_age_of_a_file_is_in_the_same_time)
{
	const char *path = unit_path("f");
	struct timespec times[2];
	struct stat st;
	int64_t age;

	set_scale("50");
	ck_assert_int_eq(file_replace(path, "x", 1, 0600, NULL), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	age = clock_wall_ms() - clock_file_ms(&st.st_mtim);
	ck_assert_int_lt(llabs(age), (int64_t)5000 * SCALE);
	times[0] = times[1] = st.st_mtim;
	times[0].tv_sec -= 60;
	age = clock_file_ms(&times[1]) - clock_file_ms(&times[0]);
	ck_assert_int_lt(llabs(age - (int64_t)60000 * SCALE), 1000);
}

TEST(virtual_time_stands_still_until_moved)
{
	ck_assert(!clock_is_virtual());
	clock_virtual_begin(5000, YEAR_2020);
	ck_assert(clock_is_virtual());
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(clock_mono_us(), 5000000);
		ck_assert_int_eq(clock_mono_ms(), 5000);
		ck_assert_int_eq(clock_wall_ms(), YEAR_2020);
	}
	clock_virtual_advance(1);
	ck_assert_int_eq(clock_mono_us(), 5001000);
	ck_assert_int_eq(clock_mono_ms(), 5001);
	ck_assert_int_eq(clock_wall_ms(), YEAR_2020 + 1);
	clock_virtual_advance(86400000);
	ck_assert_int_eq(clock_mono_ms(), 86405001);
	ck_assert_int_eq(clock_wall_ms(), YEAR_2020 + 86400001);
	clock_virtual_end();
}

TEST(virtual_time_ends_and_begins_anew)
{
	clock_virtual_begin(1, 2);
	clock_virtual_advance(100);
	clock_virtual_end();
	ck_assert(!clock_is_virtual());
	ck_assert_int_ge(clock_wall_ms(), YEAR_2020);
	clock_virtual_begin(7, -8);
	ck_assert_int_eq(clock_mono_ms(), 7);
	ck_assert_int_eq(clock_wall_ms(), -8);
	/* Beginning again without an end starts over too. */
	clock_virtual_begin(0, 0);
	ck_assert_int_eq(clock_mono_ms(), 0);
	ck_assert_int_eq(clock_wall_ms(), 0);
	clock_virtual_end();
}

static const struct stamp {
	int64_t wall_ms;
	const char *stamp, *compact;
} stamps[] = {
	{ 0, "1970-01-01T00:00:00.000Z", "19700101T000000Z" },
	{ 1, "1970-01-01T00:00:00.001Z", "19700101T000000Z" },
	{ INT64_C(1769847330123), "2026-01-31T08:15:30.123Z",
	    "20260131T081530Z" },
	{ INT64_C(951782400000), "2000-02-29T00:00:00.000Z",
	    "20000229T000000Z" },
	{ INT64_C(1709207999999), "2024-02-29T11:59:59.999Z",
	    "20240229T115959Z" },
	/* No leap day in 2100; beyond 32 bits. */
	{ INT64_C(4107542400000), "2100-03-01T00:00:00.000Z",
	    "21000301T000000Z" },
	{ INT64_C(2147483648000), "2038-01-19T03:14:08.000Z",
	    "20380119T031408Z" },
	/* Before 1970 the milliseconds still count up. */
	{ -1, "1969-12-31T23:59:59.999Z", "19691231T235959Z" },
	{ -1000, "1969-12-31T23:59:59.000Z", "19691231T235959Z" },
	{ -1001, "1969-12-31T23:59:58.999Z", "19691231T235958Z" },
	/* The first and last years with four digits, and beyond. */
	{ INT64_C(-62167219200000), "0000-01-01T00:00:00.000Z",
	    "00000101T000000Z" },
	{ INT64_C(253402300799999), "9999-12-31T23:59:59.999Z",
	    "99991231T235959Z" },
	{ INT64_C(-62167219200001), "1970-01-01T00:00:00.000Z",
	    "19700101T000000Z" },
	{ INT64_C(253402300800000), "1970-01-01T00:00:00.000Z",
	    "19700101T000000Z" },
	{ INT64_MAX, "1970-01-01T00:00:00.000Z", "19700101T000000Z" },
	{ INT64_MIN, "1970-01-01T00:00:00.000Z", "19700101T000000Z" },
};

static void
expect_stamps(void)
{
	char out[CLOCK_STAMP_SIZE];

	for (size_t i = 0; i < nitems(stamps); i++) {
		memset(out, 'x', sizeof out);
		clock_format_stamp(stamps[i].wall_ms, out);
		ck_assert_str_eq(out, stamps[i].stamp);
		memset(out, 'x', sizeof out);
		clock_format_compact(stamps[i].wall_ms, out);
		ck_assert_str_eq(out, stamps[i].compact);
	}
}

TEST(stamps_of_known_dates)
{
	expect_stamps();
}

TEST(stamps_are_utc_in_every_time_zone)
{
	setenv("TZ", "Pacific/Kiritimati", 1);
	tzset();
	expect_stamps();
	setenv("TZ", "XXX+12", 1);
	tzset();
	expect_stamps();
	unsetenv("TZ");
	tzset();
}

TEST(stamps_sort_like_the_times)
{
	char last[CLOCK_STAMP_SIZE] = "", out[CLOCK_STAMP_SIZE];

	for (int64_t ms = -62167219200000; ms <= 253402300799999;
	     ms += INT64_C(123456789012)) {
		clock_format_stamp(ms, out);
		ck_assert_uint_eq(strlen(out), 24);
		ck_assert_int_lt(strcmp(last, out), 0);
		memcpy(last, out, sizeof last);
	}
}
