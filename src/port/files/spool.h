/* SPDX-License-Identifier: ISC */

/*
 * Events that found nobody home: one file each in a directory, named by a ULID,
 * so that their names sort by time. Anybody may write, one drains.
 *
 * Written whole or not at all, but not forced to the disk: a hook costs a few
 * milliseconds, and after a power cut its session is gone too.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include <stdint.h>

struct err;
struct json_object;

#define SPOOL_COUNT_MAX  10000
#define SPOOL_EVENT_MAX  (1024 * 1024) /* bytes of one */
#define SPOOL_BYTES_MAX  (64 * 1024 * 1024) /* of all */
#define SPOOL_BROKEN_MAX 100 /* kept in dir/broken */

/* Put an event in; it stays the caller's. The directory is made where it is
 * missing, below one that is there. -E2BIG for one too large, -ENOSPC when the
 * spool is full: what came first is kept. */
int spool_write(const char *dir, int64_t wall_ms, struct json_object *event,
    struct err *err);

/* One event; id is its ULID. 0: done with it. SPOOL_KEEP: taken, but its file
 * stays until spool_remove(), and comes again when drained before that.
 * -EINVAL: of no use, goes to dir/broken. Anything else negative ends the
 * draining and keeps the event. After a crash at the wrong moment the same
 * event comes again, by the same id. */
#define SPOOL_KEEP 1
typedef int spool_fn(const char *id, struct json_object *event, void *arg);

/* Hand out at most max events (0 = all), oldest first, and remove each once fn
 * has returned. What cannot be read as JSON is moved to dir/broken without
 * asking fn. Returns how many files were taken, below max when none are left;
 * or what fn returned to end it; or a negative errno. No directory is an empty
 * one. */
int
spool_drain(const char *dir, int max, spool_fn *fn, void *arg, struct err *err);

/* Remove the event of that id; one that is gone is fine. */
int spool_remove(const char *dir, const char *id);

#endif
