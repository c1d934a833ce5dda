/* SPDX-License-Identifier: ISC */

/* Times for people, in the machine's own zone: every program shows them with
 * these. Files and JSON have seconds since 1970, or UTC as in clock.h. Takes
 * times, never reads the clock. */
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

#endif
