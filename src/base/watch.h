/* SPDX-License-Identifier: ISC */

/*
 * Tell when a path changes: inotify, or a look once a second where inotify is
 * not to be had. The path need not exist yet, and may be replaced by rename.
 *
 * One call of fn per turn of the loop, however many changes came.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

struct err;
struct loop;
struct watch;

typedef void watch_fn(void *arg);

/* The directory that holds path must exist (-ENOENT otherwise). If it goes
 * away later, the watch falls back to looking once a second. Never fails for
 * want of inotify. A directory as path: its entries are watched. What changed
 * before this returns is not told: look at the path afterwards. The watch is
 * the caller's, who frees it before the loop, also from inside fn. */
int watch_new(struct loop *loop, const char *path, watch_fn *fn, void *arg,
    struct watch **ret_watch, struct err *err);
void watch_free(struct watch *watch);

/* Tests: behave as on a machine whose inotify watches are used up. */
void watch_disable_inotify(bool disable);

#endif
