/* SPDX-License-Identifier: ISC */

/* The value of --since. */
#ifndef SINCE_H
#define SINCE_H

#include <stdbool.h>
#include <stdint.h>

#define SINCE_EXPECTED                                                          \
	"an age such as 12h or 7d, a day such as 2026-01-31, or a moment such " \
	"as 2026-01-31T08:15:30.000Z"

/* An age, a day (UTC) or a stamp; false for anything else. */
bool since_parse(const char *text, int64_t now_ms, int64_t *ret_ms);

#endif
