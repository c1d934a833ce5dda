/* SPDX-License-Identifier: ISC */

/* Which events a person wants to see: about these workers, these tasks, this
 * goal, of these kinds. */
#ifndef CMD_EVENTS_H
#define CMD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"

struct err;
struct event_feed;
struct json_object;
struct log_view;
struct loop;

/* All of them, with blanks between them; appended. */
void event_filter_add_kinds(struct buf *out);

/* A record of the file: {timestamp, level, event:{type, ...}}. Valid until this
 * returns; false = pass on no more. */
typedef bool event_feed_fn(struct json_object *record, void *arg);

/* Which records of the file are events: a view that chooses among them begins
 * with this one. */
extern const struct log_view event_feed_view;

/* Passes on the events that the view (borrowed) wants, the last `lines` of them
 * first. The folder of the file must exist
 * (-ENOENT). fn is called from the loop only. The caller owns the feed and
 * frees it before the loop and not from inside fn. */
int event_feed_new(struct loop *loop, const char *socket, const char *file,
    const struct log_view *view, size_t lines, event_feed_fn *fn, void *arg,
    struct event_feed **ret_feed, struct err *err);
void event_feed_free(struct event_feed *feed);

#endif
