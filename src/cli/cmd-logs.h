/* SPDX-License-Identifier: ISC */

/* The daemon's log for people: which records are wanted, and how they look. */
#ifndef CMD_LOGS_H
#define CMD_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

struct json_object;

struct log_view {
	const char *worker; /* only records about it, NULL = all */
	const char *object; /* only records with this member, NULL = all */
	enum log_level level; /* and above */
	/* Only records for which this is true, NULL = all. */
	bool (*wants)(struct json_object *record, const void *arg);
	const void *wants_arg;
	bool colour;
};

bool log_view_wants(const struct log_view *view, struct json_object *record);

/* The last `count` wanted records of a log and of its rotated files, oldest
 * first, as an array; the caller owns it. Of the log itself only the first
 * `end` bytes are read. What cannot be read is left out. */
struct json_object *log_view_last(
    const struct log_view *view, const char *path, uint64_t end, size_t count);

#endif
