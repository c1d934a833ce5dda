/* SPDX-License-Identifier: ISC */

/* Times as people write them: in the machine's own zone, and times of day in a
 * named one. Every program shows times with these. Files and JSON have seconds
 * since 1970, or UTC as in clock.h. Takes times, never reads the clock. */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

/* "2026-01-31T08:15:30.123Z", as logs have it; false for anything else. */
bool moment_parse(const char *stamp, int64_t *ret_ms);

/* "20260131T081530Z", as names of files and refs have it, alone or with "-" and
 * more behind it. */
bool moment_parse_compact(const char *name, int64_t *ret_ms);

/* "2026-01-31 09:15:30", appended. */
void moment_add(struct buf *out, int64_t wall_ms);

/* "3m5s", to the second, never negative; appended. */
void moment_add_age(struct buf *out, int64_t ms);

/* Times of day in named zones, resolved with the system's tzdata. */

struct zone_time {
	int month, day; /* from 1; 0 = any day */
	int hour, minute;
	const char *zone; /* "America/New_York"; "" or unknown: the machine's */
};

/* The next moment after now (wall clock ms) when clocks in that zone show that
 * time; on a night when they go back an hour, and show it twice, the first. A
 * time that is skipped when they go forward counts from before the change
 * (02:30 is then 03:30); a day that no year has is a day from now. */
int64_t time_zone_next(const struct zone_time *when, int64_t now_ms);

/* How far local time is ahead of UTC at that moment, in seconds. */
int64_t time_zone_offset(int64_t unix_s);

#endif
