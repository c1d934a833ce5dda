/* SPDX-License-Identifier: ISC */

/*
 * Hook events that arrived while no daemon was running: one file each in a
 * directory, named by a ULID, so that the names sort by time. Any process may
 * write, one drains.
 *
 * A worker's spool is writable in its sandbox: the reader follows no link
 * there, and reads no more than our own writers leave.
 *
 * Written completely or not at all, but not synced: a hook may take only a few
 * milliseconds, and after a power cut its session is gone too.
 */
#ifndef SPOOL_H
#define SPOOL_H

#include "id.h"

struct err;
struct json_object;

#define SPOOL_COUNT_MAX  10000
#define SPOOL_EVENT_MAX  (1024 * 1024) /* bytes of one */
#define SPOOL_BYTES_MAX  (64 * 1024 * 1024) /* of all */
#define SPOOL_BROKEN_MAX 100 /* kept in dir/broken */
#define SPOOL_LOOK_MAX   (2 * SPOOL_COUNT_MAX) /* entries seen in one look */

/* Add an event, which stays the caller's. Creates the directory if it is
 * missing; its parent must exist. -E2BIG if the event is too large, -ENOSPC if
 * the spool is full: older events are kept. */
int spool_write(const char *dir, int64_t wall_ms, struct json_object *event,
    struct err *err);

/* The same for an event of which only the newest counts: it takes the place of
 * the last one, and comes out before all others. */
int spool_write_newest(const char *dir, int64_t wall_ms,
    struct json_object *event, struct err *err);

/* One event; id is its ULID. 0: handled. SPOOL_KEEP: handled, but its file
 * stays until spool_remove(), and it comes again if the spool is drained before
 * that. -EINVAL: unusable, it is moved to dir/broken. Any other negative value
 * stops the draining and keeps the event. After a crash at the wrong moment the
 * same event comes again, with the same id. */
#define SPOOL_KEEP 1
typedef int spool_fn(const char *id, struct json_object *event, void *arg);

/* Is the event already being handled? Then it is not read. */
typedef bool spool_skip_fn(const char *id, void *arg);

#define SPOOL_NAME_SIZE (ID_ULID_SIZE + sizeof ".json" - 1)
struct spool_rest { /* begins as { 0 } */
	char (*names)[SPOOL_NAME_SIZE];
	size_t count, next;
};

/* Hand out at most max events (0 = all), oldest first, and remove each when fn
 * has returned. Events that skip (may be NULL) knows are passed over. What is
 * not JSON is moved to dir/broken without calling fn. Returns the number of
 * files handled, less than max if none are left; or what fn returned to stop;
 * or a negative errno. A missing directory counts as empty.
 *
 * In portions: the folder is listed for the first one, and again when all of
 * that list is handled, so that many events are not listed as often. What
 * spool_write_newest() writes meanwhile still comes next, and is not counted.
 */
int spool_drain(const char *dir, struct spool_rest *rest, int max,
    spool_skip_fn *skip, spool_fn *fn, void *arg, struct err *err);
void spool_rest_release(struct spool_rest *rest);

/* Remove the event with that id; it is no error if it is gone. */
int spool_remove(const char *dir, const char *id);

#endif
