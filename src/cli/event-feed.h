/* SPDX-License-Identifier: ISC */

/*
 * What happens in auto mode, as it happens: from the daemon where one runs,
 * from its file logs/auto.log where none does. Goes over from one to the other
 * as daemons come and go, without an event lost or shown twice.
 *
 * The daemon tells a subscriber how many bytes the file had at that moment:
 * what is below is in the file, what comes after is sent. When the stream ends,
 * the file has all that was sent and may have more; reading goes on there.
 */
#ifndef EVENT_FEED_H
#define EVENT_FEED_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct event_feed;
struct json_object;
struct log_view;
struct loop;

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
