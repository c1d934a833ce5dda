/* SPDX-License-Identifier: ISC */

/* Times of day in named zones, resolved with the system's tzdata. */
#ifndef TIME_ZONE_H
#define TIME_ZONE_H

struct zone_time {
	int month, day; /* from 1; 0 = any day */
	int hour, minute;
	const char *zone; /* "America/New_York"; "" or unknown: the machine's */
};

/* The next moment after now (wall clock ms) when clocks in that zone show that
 * time; the first of two where they are set back. A time that is skipped when
 * they are set forward counts from before the change (02:30 is then 03:30); a
 * day that no year has is a day from now. */
int64_t time_zone_next(const struct zone_time *when, int64_t now_ms);

/* How far local time is ahead of UTC at that moment, in seconds. */
int64_t time_zone_offset(int64_t unix_s);

#endif
