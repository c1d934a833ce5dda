/* SPDX-License-Identifier: ISC */

/*
 * Report when a path changes, using inotify, or polling once a second where
 * inotify is not available. The path need not exist yet, and may be replaced by
 * rename.
 *
 * fn is called once per pass of the loop, however many changes there were.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

struct err;
struct loop;
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

#endif
