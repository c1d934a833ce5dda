/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>
#include <sys/stat.h>

#include "core.h"
#include "emit.h"
#include "event-stream.h"
#include "serve.h"
#include "server.h"
#include "workspace.h"

struct follower {
	TAILQ_ENTRY(follower) entry;
	struct event_stream *stream;
	struct server_call *call;
};

TAILQ_HEAD(followers, follower);

struct event_stream {
	struct core *core;
	struct followers followers;
};

static void
follower_end(struct follower *follower)
{
	TAILQ_REMOVE(&follower->stream->followers, follower, entry);
	server_reply(follower->call, NULL);
	free(follower);
}

static void
on_gone(void *arg)
{
	follower_end(arg);
}

static void
stream_on_event(const struct event *event, void *arg)
{
	struct event_stream *stream = arg;
	struct follower *follower, *next;
	cleanup_json struct json_object *record = NULL;
	char stamp[CLOCK_STAMP_SIZE];
	int r;

	if (TAILQ_EMPTY(&stream->followers))
		return;
	clock_format_stamp(event->at_ms, stamp);
	record = event_record(event, stamp);
	if (record == NULL)
		return;
	for (follower = TAILQ_FIRST(&stream->followers); follower != NULL;
	     follower = next) {
		next = TAILQ_NEXT(follower, entry);
		r = server_notify(
		    follower->call, "event", json_object_get(record));
		if (r < 0 && r != -EMSGSIZE)
			follower_end(follower);
	}
}

/* The size of auto.log: later events are sent over the socket. */
static int64_t
file_size(const struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, "logs/auto.log");
	struct stat st;

	return stat(file, &st) == 0 ? st.st_size : 0;
}

static void
on_follow(void *arg, struct server_call *call, struct json_object *params)
{
	struct event_stream *stream = arg;
	struct follower *follower = xcalloc(1, sizeof *follower);
	struct json_object *from = json_object_new_object();

	(void)params;
	follower->stream = stream;
	follower->call = call;
	TAILQ_INSERT_TAIL(&stream->followers, follower, entry);
	json_set_int(from, "offset", file_size(stream->core));
	if (server_notify(call, "following", from) < 0)
		follower_end(follower);
	else
		server_on_gone(call, on_gone, follower);
}

struct event_stream *
event_stream_new(struct core *core)
{
	struct event_stream *stream = xcalloc(1, sizeof *stream);

	stream->core = core;
	TAILQ_INIT(&stream->followers);
	emit_subscribe(core, stream_on_event, stream);
	serve_handle(core, "events.follow", on_follow, stream);
	return stream;
}

void
event_stream_free(struct event_stream *stream)
{
	struct follower *follower;

	if (stream == NULL)
		return;
	while ((follower = TAILQ_FIRST(&stream->followers)) != NULL)
		follower_end(follower);
	emit_unsubscribe(stream->core, stream_on_event, stream);
	free(stream);
}
