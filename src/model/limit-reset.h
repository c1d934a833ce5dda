/* SPDX-License-Identifier: ISC */

/* When a usage limit ends, according to its message. */
#ifndef LIMIT_RESET_H
#define LIMIT_RESET_H

#include <stdbool.h>
#include <stdint.h>

/* "resets 7pm (America/Los_Angeles)", "resets Oct 9 at 5:30pm", "resets at
 * 1766502000": the time in the text, not yet resolved with a calendar; false if
 * there is none. */
#define LIMIT_RESET_SIZE 96
#define LIMIT_ZONE_SIZE  64
struct limit_reset {
	int month, day; /* from 1; 0 = not given: the next such time */
	int hour, minute; /* -1 = not a time of day */
	char zone[LIMIT_ZONE_SIZE]; /* "" = local time; letters, digits and
				     * "_+-/", never an absolute path */
	int64_t at_ms; /* an absolute time, 0 = not given */
	char words[LIMIT_RESET_SIZE]; /* as written, for people */
};
bool limit_reset_parse(const char *text, struct limit_reset *ret_reset);

#endif
