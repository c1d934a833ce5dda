/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <time.h>

#include "moment.h"

#define ZONES "/usr/share/zoneinfo"
#define DAY   86400
#define DAYS  3 /* today, tomorrow, and one without that time */
#define YEARS 9 /* from one February 29 to the next */

bool
moment_parse(const char *stamp, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	const char *end = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ms = 0, unit = 100;

	if (end == NULL)
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ms += (*end - '0') * unit;
	if (strcmp(end, "Z") != 0)
		return false;
	*ret_ms = (int64_t)timegm(&tm) * 1000 + ms;
	return true;
}

bool
moment_parse_compact(const char *name, int64_t *ret_ms)
{
	struct tm tm = { 0 };
	const char *end = strptime(name, "%Y%m%dT%H%M%SZ", &tm);

	if (end == NULL || (*end != '\0' && *end != '-'))
		return false;
	*ret_ms = (int64_t)timegm(&tm) * 1000;
	return true;
}

/* False for a year that no struct tm can hold. */
static bool
to_local(int64_t wall_ms, struct tm *ret_tm)
{
	time_t seconds = (time_t)(wall_ms / 1000);

	return localtime_r(&seconds, ret_tm) != NULL;
}

void
moment_add(struct buf *out, int64_t wall_ms)
{
	struct tm tm;
	char text[64];

	if (to_local(wall_ms, &tm) &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) > 0)
		buf_adds(out, text);
	else
		buf_adds(out, "?");
}

void
moment_add_age(struct buf *out, int64_t ms)
{
	text_add_duration(out, ms > 0 ? ms / 1000 * 1000 : 0);
}

/* Only what tzdata knows: an unknown name would silently mean UTC. */
static bool
zone_known(const char *zone)
{
	cleanup_free char *path = NULL;

	if (zone[0] == '\0' || zone[0] == '/' || strstr(zone, "..") != NULL)
		return false;
	path = file_join(ZONES, zone);
	return file_exists(path) && !file_is_dir(path);
}

/* When that day shows that time, after now; -1: not any more. On a night when
 * clocks go back an hour they may show it twice; when they go forward, not at
 * all, and the time then counts from before the change. */
static time_t
on_day(const struct tm *day, const struct zone_time *when, time_t now)
{
	time_t first = -1, late = -1;
	bool shown = false;

	for (int dst = 0; dst <= 1; dst++) {
		struct tm tm = { .tm_year = day->tm_year,
			.tm_mon = day->tm_mon,
			.tm_mday = day->tm_mday,
			.tm_hour = when->hour,
			.tm_min = when->minute,
			.tm_isdst = dst };
		time_t at = mktime(&tm);

		if (at == -1 || tm.tm_mday != day->tm_mday)
			continue;
		if (tm.tm_hour != when->hour || tm.tm_min != when->minute) {
			late = at > late ? at : late;
			continue;
		}
		shown = true;
		if (at > now && (first == -1 || at < first))
			first = at;
	}
	if (shown)
		return first;
	return late > now ? late : -1;
}

static time_t
next_local(const struct zone_time *when, time_t now)
{
	bool dated = when->month > 0 && when->day > 0;
	struct tm today;
	time_t at;

	localtime_r(&now, &today);
	for (int step = 0; step < (dated ? YEARS : DAYS); step++) {
		/* Every day has a noon, so this names the day. */
		struct tm day = { .tm_year = today.tm_year,
			.tm_mon = today.tm_mon,
			.tm_mday = today.tm_mday + step,
			.tm_hour = 12,
			.tm_isdst = -1 };

		if (dated) {
			day.tm_year = today.tm_year + step;
			day.tm_mon = when->month - 1;
			day.tm_mday = when->day;
		}
		mktime(&day);
		if (dated && day.tm_mday != when->day)
			continue; /* February 29 */
		at = on_day(&day, when, now);
		if (at != -1)
			return at;
	}
	return now + DAY; /* a time that no day has */
}

int64_t
time_zone_next(const struct zone_time *when, int64_t now_ms)
{
	const char *old = getenv("TZ");
	cleanup_free char *saved = old != NULL ? xstrdup(old) : NULL;
	bool other = zone_known(when->zone);
	time_t at;

	if (other) {
		setenv("TZ", when->zone, 1);
		tzset();
	}
	at = next_local(when, (time_t)(now_ms / 1000));
	if (other) {
		if (saved != NULL)
			setenv("TZ", saved, 1);
		else
			unsetenv("TZ");
		tzset();
	}
	return (int64_t)at * 1000;
}

int64_t
time_zone_offset(int64_t unix_s)
{
	time_t at = (time_t)unix_s;
	struct tm local;

	return localtime_r(&at, &local) != NULL ? local.tm_gmtoff : 0;
}
