/* SPDX-License-Identifier: ISC */

/* Where each event goes: to the log, to auto.log, and to clients that follow
 * them over the socket (events.follow), in that order. A client that does not
 * read is dropped, never waited for. */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

struct core;
struct event_stream;

void event_log_subscribe(struct core *core);
void event_file_subscribe(struct core *core);
/* After event_file_subscribe(): what a client gets must already be in
 * auto.log. */
struct event_stream *event_stream_new(struct core *core);
void event_stream_free(struct event_stream *stream);

#endif
