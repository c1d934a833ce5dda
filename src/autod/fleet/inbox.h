/* SPDX-License-Identifier: ISC */

/*
 * One spool, read by the daemon: of a worker, or the common one of older
 * versions. An event's file is removed when the changes that it made are saved.
 * Private to hooks.c.
 */
#ifndef INBOX_H
#define INBOX_H

#include <stdbool.h>

struct core;
struct inbox;
struct json_object;

typedef void
inbox_fn(const struct inbox *inbox, struct json_object *event, void *arg);

/* dir is copied; worker: NULL = the common one. fn gets each event once. */
struct inbox *inbox_new(struct core *core, const char *dir, const char *worker,
    inbox_fn *fn, void *arg);
void inbox_free(struct inbox *inbox);

/* Call changed(arg) when something may have arrived. */
void inbox_watch(struct inbox *inbox, void (*changed)(void *arg), void *arg);

/* Hand out a part of what it has. True: there may be more. */
bool inbox_drain(struct inbox *inbox);

const char *inbox_worker(const struct inbox *inbox); /* NULL = the common */

#endif
