/* SPDX-License-Identifier: ISC */

/*
 * The subscriber that tells events to whoever follows them over the socket
 * (events.follow). A follower that does not read is dropped, never waited for.
 */
#ifndef EVENT_STREAM_H
#define EVENT_STREAM_H

struct core;
struct event_stream;

/* Behind event-file: what a follower is told stands in auto.log already. */
struct event_stream *event_stream_new(struct core *core);
void event_stream_free(struct event_stream *stream);

#endif
