/* SPDX-License-Identifier: ISC */

/*
 * Clients that follow the events over the socket (events.follow). One that does
 * not read is dropped, never waited for.
 */
#ifndef EVENT_STREAM_H
#define EVENT_STREAM_H

struct core;
struct event_stream;

/* After event_file_subscribe(): what a client gets must already be in
 * auto.log. */
struct event_stream *event_stream_new(struct core *core);
void event_stream_free(struct event_stream *stream);

#endif
