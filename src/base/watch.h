/* SPDX-License-Identifier: ISC */

/*
 * Files that change: report that a path has changed (watch), and what was added
 * to a growing file (tail).
 *
 * A watch reports when a path changes, using inotify, or polling once a second
 * where inotify is not available. The path need not exist yet, and may be
 * replaced by rename.
 *
 * fn is called once per pass of the loop, however many changes there were.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct loop;
struct tail;
struct watch;

typedef void watch_fn(void *arg);

/* The directory that holds path must exist (-ENOENT). If it disappears later,
 * the watch falls back to polling once a second. Missing inotify is not an
 * error. If path is a directory, its entries are watched. Changes made before
 * this returns are not reported: look at the path afterwards. The caller frees
 * the watch before the loop; freeing it inside fn is allowed. */
int watch_new(struct loop *loop, const char *path, watch_fn *fn, void *arg,
    struct watch **ret_watch, struct err *err);
void watch_free(struct watch *watch);

/* For tests: behave as on a machine whose inotify watches are used up. */
void watch_disable_inotify(bool disable);

/*
 * Follow a growing text file line by line, across rotation, truncation,
 * incomplete lines and times when it does not exist.
 *
 * A line is reported once, when it has its newline. A file that shrank or was
 * replaced is read from its beginning; the rest of the old one is read first,
 * except a last line without a newline. At most TAIL_CHUNK bytes are read per
 * pass of the loop, so a flood cannot block it.
 */

#define TAIL_CHUNK    ((size_t)256 * 1024)
#define TAIL_LINE_MAX ((size_t)1024 * 1024)

/* line has no newline and ends in a NUL; len counts embedded NULs. A line over
 * TAIL_LINE_MAX bytes is reported once, truncated, with cut set; so is a line
 * with a hole of a sparse file in it, which is not read. */
typedef void tail_fn(const char *line, size_t len, bool cut, void *arg);

/* Start at the current end (from_start false) or at the beginning. A line that
 * is still being written at the end will be reported when it is complete
 * (truncated if more than TAIL_CHUNK of it is already there). The directory
 * must exist (-ENOENT). fn is called from the loop only. The caller frees the
 * tail before the loop. */
int tail_new(struct loop *loop, const char *path, bool from_start, tail_fn *fn,
    void *arg, struct tail **ret_tail, struct err *err);
/* The same with another open(2): a descriptor of a regular file for reading, or
 * negative errno. */
int tail_new_with(struct loop *loop, const char *path,
    int (*opener)(const char *path), bool from_start, tail_fn *fn, void *arg,
    struct tail **ret_tail, struct err *err);
void tail_free(struct tail *tail); /* allowed inside fn */

/* Bytes of the current file that have been reported. */
uint64_t tail_offset(const struct tail *tail);

#endif
