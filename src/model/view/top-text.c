/* SPDX-License-Identifier: ISC */

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "json.h"
#include "top-text.h"

#define MINUTE 60
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* What comes from elsewhere may be any number: these are the largest moments
 * and amounts that are shown. */
#define MOMENT_MAX INT64_C(100000000000)
#define DAYS_MAX   (MOMENT_MAX / DAY)
#define MICROS_MAX (INT64_MAX / 2)

/* --- times ----------------------------------------------------------- */

/* What was added is different when `unit` more seconds have passed since
 * `from`. */
static void
changes(struct top_clock *clock, int64_t from, int64_t unit)
{
	int64_t passed = clock->now_ms / 1000 - from;
	int64_t next = (from + (passed / unit + 1) * unit) * 1000;

	if (next < clock->next_ms)
		clock->next_ms = next;
}

static bool
is_moment(int64_t at_unix)
{
	return at_unix > 0 && at_unix < MOMENT_MAX;
}

/* What is in the future is now. */
static int64_t
age_of(struct top_clock *clock, int64_t since_unix)
{
	int64_t age = clock->now_ms / 1000 - since_unix;

	return age > 0 ? age : 0;
}

void
top_add_age(struct top_clock *clock, int64_t since_unix, struct buf *out)
{
	int64_t age, unit = DAY;

	if (!is_moment(since_unix)) {
		buf_addc(out, '-');
		return;
	}
	age = age_of(clock, since_unix);
	if (age < MINUTE)
		unit = 1;
	else if (age < HOUR)
		unit = MINUTE;
	else if (age < 2 * DAY)
		unit = HOUR;
	buf_addf(out, "%" PRId64 "%c", age / unit,
	    unit == 1          ? 's' :
		unit == MINUTE ? 'm' :
		unit == HOUR   ? 'h' :
				 'd');
	changes(clock, since_unix, unit);
}

void
top_add_uptime(struct top_clock *clock, int64_t since_unix, struct buf *out)
{
	int64_t age = is_moment(since_unix) ? age_of(clock, since_unix) : 0;

	if (age < HOUR || age >= 2 * DAY) {
		top_add_age(clock, since_unix, out);
		return;
	}
	top_add_length(age * 1000, out);
	changes(clock, since_unix, MINUTE);
}

/* The number of its day, and the second in it. */
static int64_t
local_day(const struct top_clock *clock, int64_t at_unix, int64_t *ret_second)
{
	int64_t local = at_unix + clock->utc_offset_s;
	int64_t second = (local % DAY + DAY) % DAY;

	*ret_second = second;
	return (local - second) / DAY;
}

void
top_add_day(int64_t days, struct buf *out)
{
	int64_t era, day, year, shifted, month;

	if (days < 0 || days > DAYS_MAX) {
		buf_addc(out, '-');
		return;
	}
	days += 719468; /* since 0000-03-01 */
	era = days / 146097;
	day = days - era * 146097;
	year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= 365 * year + year / 4 - year / 100; /* since March */
	shifted = (5 * day + 2) / 153;
	month = shifted < 10 ? shifted + 3 : shifted - 9;
	buf_addf(out, "%04" PRId64 "-%02" PRId64 "-%02" PRId64,
	    400 * era + year + (month <= 2 ? 1 : 0), month,
	    day - (153 * shifted + 2) / 5 + 1);
}

/* Without the year. */
static void
add_date(int64_t days, struct buf *out)
{
	cleanup_buf struct buf date = BUF_INIT;

	top_add_day(days, &date);
	buf_adds(out, date.len > 5 ? date.data + date.len - 5 : date.data);
}

static void
add_time(int64_t second, struct buf *out)
{
	buf_addf(out, "%02" PRId64 ":%02" PRId64, second / HOUR,
	    second / MINUTE % 60);
}

void
top_add_moment(struct top_clock *clock, int64_t at_unix, struct buf *out)
{
	int64_t second, now_second;
	int64_t now_unix = clock->now_ms / 1000;
	int64_t day, today = local_day(clock, now_unix, &now_second);

	if (!is_moment(at_unix)) {
		buf_addc(out, '-');
		return;
	}
	day = local_day(clock, at_unix, &second);
	if (day == today)
		add_time(second, out);
	else
		add_date(day, out);
	changes(clock, now_unix - now_second, DAY);
}

void
top_add_now(struct top_clock *clock, struct buf *out)
{
	int64_t second;

	local_day(clock, clock->now_ms / 1000, &second);
	add_time(second, out);
	changes(clock, clock->now_ms / 1000 - second % MINUTE, MINUTE);
}

void
top_add_length(int64_t ms, struct buf *out)
{
	int64_t s = ms / 1000;

	if (s < MINUTE)
		buf_addf(out, "%" PRId64 "s", s);
	else if (s < HOUR)
		buf_addf(out, "%" PRId64 "m", s / MINUTE);
	else if (s < 2 * DAY)
		buf_addf(out, "%" PRId64 "h%" PRId64 "m", s / HOUR,
		    s % HOUR / MINUTE);
	else
		buf_addf(
		    out, "%" PRId64 "d%" PRId64 "h", s / DAY, s % DAY / HOUR);
}

void
top_add_running(
    struct top_clock *clock, int64_t ms, int64_t from_ms, struct buf *out)
{
	/* A whole second, as all that is shown: they change at once. */
	int64_t since = from_ms > ms ? (from_ms - ms) / 1000 * 1000 : 0;
	int64_t passed = clock->now_ms > since ? clock->now_ms - since : 0;
	int64_t unit = 1000 *
	    (passed < MINUTE * 1000                  ? 1 :
		    passed < 2 * (int64_t)DAY * 1000 ? MINUTE :
						       HOUR);
	int64_t next = since + (passed / unit + 1) * unit;

	top_add_length(passed, out);
	if (next < clock->next_ms)
		clock->next_ms = next;
}

/* --- numbers --------------------------------------------------------- */

void
top_add_count(int64_t count, struct buf *out)
{
	static const char units[] = "kMGT";
	int64_t unit = 1000;
	size_t i = 0;

	if (count < 1000) {
		buf_addf(out, "%" PRId64, count);
		return;
	}
	while (count / unit >= 1000 && units[i + 1] != '\0') {
		unit *= 1000;
		i++;
	}
	if (count / unit < 10)
		buf_addf(out, "%" PRId64 ".%" PRId64 "%c", count / unit,
		    count % unit / (unit / 10), units[i]);
	else
		buf_addf(out, "%" PRId64 "%c", count / unit, units[i]);
}

void
top_add_dollars(int64_t micros, struct buf *out)
{
	int64_t cents;

	if (micros < 0 || micros > MICROS_MAX) {
		buf_addc(out, '?');
		return;
	}
	if (micros > 0 && micros < 9500) { /* not nothing */
		micros = micros < 1000 ? 1000 : micros;
		buf_addf(out, "0.00%" PRId64, (micros + 500) / 1000);
		return;
	}
	cents = (micros + 5000) / 10000;
	buf_addf(out, "%" PRId64 ".%02" PRId64, cents / 100, cents % 100);
}

/* Below 0: it is not known. */
static int64_t
cost_of(struct json_object *row, bool *ret_estimate)
{
	const char *source = json_string_or(row, "cost_source", "unknown");
	int64_t micros = json_int_or(row, "cost_micros", -1);

	*ret_estimate = strcmp(source, "estimate") == 0;
	return strcmp(source, "unknown") == 0 || micros > MICROS_MAX ? -1 :
								       micros;
}

void
top_add_cost(struct json_object *row, struct buf *out)
{
	bool estimate;
	int64_t micros = cost_of(row, &estimate);

	if (micros >= 0 && estimate)
		buf_addc(out, '~');
	if (micros >= INT64_C(100000000)) /* cents do not matter */
		buf_addf(out, "%" PRId64, (micros + 500000) / 1000000);
	else
		top_add_dollars(micros, out);
}

void
top_add_cost_words(struct json_object *row, struct buf *out)
{
	bool estimate;
	int64_t micros = cost_of(row, &estimate);

	if (micros >= 0)
		buf_addc(out, '$');
	top_add_dollars(micros, out);
	if (micros >= 0 && estimate)
		buf_adds(out, " est.");
}
